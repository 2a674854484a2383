//! Queries that were run and queries that were kept, in the browser's own storage, for each container by itself.

import type { Typed } from './parameters';

/** A query as it is kept. */
export interface Kept {
  text: string;
  typed: Typed;
  /** The partition key that was typed; null for all partitions. */
  key: string | null;
}

export interface Run extends Kept {
  at: number;
  charge: number | null;
  rows: number | null;
}

export interface Saved extends Kept {
  name: string;
}

const HISTORY_MAX = 50;
const SAVED_MAX = 200;
/** A query longer than this is not kept: storage is small, and shared with every container. */
const TEXT_MAX = 20_000;

function place(kind: 'history' | 'saved' | 'draft', database: string, container: string): string {
  return `armilla.query.${kind}:${JSON.stringify([database, container])}`;
}

function read<T>(name: string, isOne: (value: unknown) => value is T): T[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    return Array.isArray(list) ? list.filter(isOne) : [];
  } catch {
    return [];
  }
}

function write(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    // Storage is full or forbidden: the page works without.
    return false;
  }
}

function isKept(value: unknown): value is Kept {
  const one = value as Partial<Kept> | null;
  return typeof one === 'object' && one !== null && typeof one.text === 'string' && typeof one.typed === 'object' &&
    one.typed !== null && (one.key === null || typeof one.key === 'string');
}

function isRun(value: unknown): value is Run {
  return isKept(value) && typeof (value as Partial<Run>).at === 'number';
}

function isSaved(value: unknown): value is Saved {
  return isKept(value) && typeof (value as Partial<Saved>).name === 'string';
}

export function history(database: string, container: string): Run[] {
  return read(place('history', database, container), isRun);
}

/** Puts a run before the others; the same query is listed once. */
export function remember(database: string, container: string, run: Run): Run[] {
  if (run.text.length > TEXT_MAX) return history(database, container);
  const others = history(database, container).filter((one) => !isSame(one, run));
  const list = [run, ...others].slice(0, HISTORY_MAX);
  write(place('history', database, container), list);
  return list;
}

export function clearHistory(database: string, container: string): void {
  write(place('history', database, container), []);
}

export function saved(database: string, container: string): Saved[] {
  return read(place('saved', database, container), isSaved);
}

/** Keeps a query by a name, in place of another of that name. Returns null where there is no room. */
export function save(database: string, container: string, one: Saved): Saved[] | null {
  const others = saved(database, container).filter((other) => other.name !== one.name);
  const list = [...others, one].sort((a, b) => a.name.localeCompare(b.name));
  if (list.length > SAVED_MAX || one.text.length > TEXT_MAX) return null;
  return write(place('saved', database, container), list) ? list : null;
}

export function forget(database: string, container: string, name: string): Saved[] {
  const list = saved(database, container).filter((one) => one.name !== name);
  write(place('saved', database, container), list);
  return list;
}

/** What stands in the editor, so that it is there again when the reader comes back. */
export function draft(database: string, container: string): Kept | null {
  return read(place('draft', database, container), isKept)[0] ?? null;
}

export function keepDraft(database: string, container: string, kept: Kept): void {
  if (kept.text.length <= TEXT_MAX) write(place('draft', database, container), [kept]);
}

function isSame(a: Kept, b: Kept): boolean {
  return a.text.trim() === b.text.trim() && a.key === b.key && JSON.stringify(a.typed) === JSON.stringify(b.typed);
}
