//! The lines of the tree: what is unfolded, in the order in which it is shown.

import { signal } from '@preact/signals';

import { containers, databases, wantContainers } from './account';
import { href, type Route } from './route';
import { containerViews, usersView, viewsOf } from './views';

export interface TreeNode {
  /** Unlike any other line's. */
  key: string;
  level: number;
  label: string;
  kind: 'database' | 'container' | 'view' | 'note';
  /** Whether it is unfolded; null for what cannot be. */
  isOpen: boolean | null;
  route: Route | null;
  position: number;
  size: number;
}

const KEY = 'armilla.tree';

function kept(): ReadonlySet<string> {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    return new Set(Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : []);
  } catch {
    return new Set();
  }
}

/** The lines that are unfolded. */
export const open = signal<ReadonlySet<string>>(kept());

/** What the lines are reduced to. */
export const filter = signal('');

export const databaseKey = (database: string) => JSON.stringify([database]);
export const containerKey = (database: string, container: string) => JSON.stringify([database, container]);

/** Returns the line of a place. */
export function keyOf(route: Route): string | null {
  switch (route.kind) {
    case 'database':
    case 'new-container':
      return databaseKey(route.database);
    case 'users':
      return JSON.stringify([route.database, null, 'users']);
    case 'container':
      return JSON.stringify([route.database, route.container, route.view]);
    default:
      return null;
  }
}

export function setOpen(key: string, isOpen: boolean): void {
  const next = new Set(open.value);
  if (isOpen) next.add(key);
  else next.delete(key);
  open.value = next;
  sessionStorage.setItem(KEY, JSON.stringify([...next]));
  if (isOpen) loadBelow(key);
}

/** Asks for what is below an unfolded line. */
export function loadBelow(key: string): void {
  const [database, container] = JSON.parse(key) as [string, string | undefined];
  if (container === undefined) void wantContainers(database);
}

/** Unfolds whatever the place lies in. */
export function reveal(route: Route): void {
  if (!('database' in route)) return;
  if (!open.value.has(databaseKey(route.database))) setOpen(databaseKey(route.database), true);
  if (route.kind !== 'container') return;
  const key = containerKey(route.database, route.container);
  if (!open.value.has(key)) setOpen(key, true);
}

/** Returns the lines that are shown. */
export function nodes(): TreeNode[] {
  const wanted = filter.value.trim().toLowerCase();
  const matches = (label: string) => label.toLowerCase().includes(wanted);
  const lines: TreeNode[] = [];
  const shown = (databases.value.value ?? []).filter(({ id }) => {
    return matches(id) || containers.value.get(id)?.value?.some((one) => matches(one.id));
  });
  shown.forEach(({ id: database }, index) => {
    const key = databaseKey(database);
    const below = containers.value.get(database);
    const hits = (below?.value ?? []).filter((one) => matches(one.id));
    // A name that was looked for is shown wherever it lies, folded or not.
    const isOpen = open.value.has(key) || (wanted !== '' && hits.length > 0);
    lines.push({
      key,
      level: 1,
      label: database,
      kind: 'database',
      isOpen,
      route: { kind: 'database', database },
      position: index + 1,
      size: shown.length,
    });
    if (!isOpen) return;
    const list = hits.length > 0 || !matches(database) ? hits : (below?.value ?? []);
    const size = list.length + (usersView ? 1 : 0);
    list.forEach(({ id: container }, at) => pushContainer(lines, database, container, at + 1, size));
    const said = note(below);
    if (said) lines.push(leaf(`${key} note`, 2, said, 'note', null, 1, 1));
    if (usersView && !wanted) {
      const route: Route = { kind: 'users', database, rest: [] };
      lines.push(leaf(keyOf(route) ?? '', 2, 'Users and permissions', 'view', route, size, size));
    }
  });
  return lines;
}

function note(below: ReturnType<typeof containers.value.get>): string | null {
  if (!below || below.isBusy) return below?.value ? null : 'Loading …';
  if (below.error) return 'The containers could not be listed';
  return below.value?.length === 0 ? 'No containers yet' : null;
}

function pushContainer(lines: TreeNode[], database: string, container: string, position: number, size: number): void {
  const key = containerKey(database, container);
  const isOpen = open.value.has(key);
  const first = [...containerViews.keys()][0] ?? 'items';
  lines.push({
    key,
    level: 2,
    label: container,
    kind: 'container',
    isOpen,
    route: { kind: 'container', database, container, view: first, rest: [] },
    position,
    size,
  });
  if (!isOpen) return;
  const views = viewsOf(database, container);
  views.forEach(([view, { title }], at) => {
    const route: Route = { kind: 'container', database, container, view, rest: [] };
    lines.push(leaf(keyOf(route) ?? href(route), 3, title, 'view', route, at + 1, views.length));
  });
}

function leaf(
  key: string,
  level: number,
  label: string,
  kind: TreeNode['kind'],
  route: Route | null,
  position: number,
  size: number,
): TreeNode {
  return { key, level, label, kind, isOpen: null, route, position, size };
}
