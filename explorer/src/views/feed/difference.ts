//! Two states of an item as one text, whose lines say what is in which.

import { isExact } from '../../api/exact';
import type { Item } from '../../api/feed';

export interface Line {
  text: string;
  mark: 'same' | 'added' | 'removed';
}

/** Members that every write changes, and that nobody looks for. */
const SYSTEM = new Set(['_etag', '_ts', '_lsn', '_rid', '_self', '_attachments']);

/** Returns the lines of a state, those of another among them where they differ; without the other all are the same. */
export function difference(before: Item | null, after: Item): Line[] {
  return before === null ? plain(after, '', '', 'same') : both(before, after, '', '', true);
}

/** Returns the lines of a state that is gone. */
export function removed(before: Item): Line[] {
  return plain(before, '', '', 'removed');
}

/** Returns the names of what changed at the top of an item. */
export function changedNames(before: Item, after: Item): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !SYSTEM.has(name) && !isSame(before[name], after[name]));
}

function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value);
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (isExact(one) && isExact(other)) return JSON.stringify(one) === JSON.stringify(other);
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && isSame(one[name], other[name]));
}

/** Returns a value as lines of one mark. `label` stands before its first line, such as `"name": `. */
function plain(value: unknown, label: string, indent: string, mark: Line['mark']): Line[] {
  const text = JSON.stringify(value, null, 2) ?? 'null';
  return text.split('\n').map((line, index) => ({ text: indent + (index === 0 ? label : '') + line, mark }));
}

function both(before: unknown, after: unknown, label: string, indent: string, isTop: boolean): Line[] {
  if (isSame(before, after)) return plain(after, label, indent, 'same');
  if (isObject(before) && isObject(after)) return ofObjects(before, after, label, indent, isTop);
  if (Array.isArray(before) && Array.isArray(after)) return ofArrays(before, after, label, indent);
  return [...plain(before, label, indent, 'removed'), ...plain(after, label, indent, 'added')];
}

function ofObjects(before: Item, after: Item, label: string, indent: string, isTop: boolean): Line[] {
  const inner = `${indent}  `;
  const members = Object.keys(after).map((name): Line[] => {
    const key = `${JSON.stringify(name)}: `;
    if (isTop && SYSTEM.has(name)) return plain(after[name], key, inner, 'same');
    return name in before
      ? both(before[name], after[name], key, inner, false)
      : plain(after[name], key, inner, 'added');
  });
  const gone = Object.keys(before)
    .filter((name) => !(name in after) && !(isTop && SYSTEM.has(name)))
    .map((name) => plain(before[name], `${JSON.stringify(name)}: `, inner, 'removed'));
  return framed(`${label}{`, [...members, ...gone].flat(), '}', indent);
}

function ofArrays(before: unknown[], after: unknown[], label: string, indent: string): Line[] {
  const inner = `${indent}  `;
  const shared = Math.min(before.length, after.length);
  const entries = [
    ...after.slice(0, shared).flatMap((value, index) => both(before[index], value, '', inner, false)),
    ...before.slice(shared).flatMap((value) => plain(value, '', inner, 'removed')),
    ...after.slice(shared).flatMap((value) => plain(value, '', inner, 'added')),
  ];
  return framed(`${label}[`, entries, ']', indent);
}

function framed(open: string, lines: Line[], close: string, indent: string): Line[] {
  return [{ text: indent + open, mark: 'same' }, ...lines, { text: indent + close, mark: 'same' }];
}
