//! Which values of items stand in the table.

import { valueAt, segmentsOf, SYSTEM, type Item } from '../../api/items';
import { rawAt } from '../../api/raw-json';
import type { PartitionKeyDefinition } from '../../api/resources';

/** A value of an item: the names that lead to it. */
export type Path = readonly string[];

/** How many items are looked at for the paths that there are. */
const LOOKED_AT = 200;

const DEPTH_MAX = 3;
const PATHS_MAX = 80;

/** How many columns there are until the reader chooses. */
const FIRST_COLUMNS = 7;

export const pathKey = (path: Path) => JSON.stringify(path);
export const pathTitle = (path: Path) => path.join('.');

/** Returns the paths of values in items, the most frequent first. */
export function pathsIn(items: readonly Item[]): Path[] {
  const found = new Map<string, { path: Path; times: number }>();
  const visit = (value: object, above: Path) => {
    for (const [name, below] of Object.entries(value)) {
      const path = [...above, name];
      if (typeof below === 'object' && below !== null && !Array.isArray(below) && path.length < DEPTH_MAX) {
        visit(below, path);
        continue;
      }
      const key = pathKey(path);
      const known = found.get(key);
      if (known) known.times += 1;
      else if (found.size < PATHS_MAX) found.set(key, { path, times: 1 });
    }
  };
  for (const item of items.slice(0, LOOKED_AT)) visit(item.value, []);
  return [...found.values()].sort((a, b) => b.times - a.times).map((one) => one.path);
}

/** Returns the columns of a container that nobody chose columns for. */
export function firstColumns(paths: readonly Path[], key: PartitionKeyDefinition | undefined): Path[] {
  const begin: Path[] = [['id'], ...(key && !key.systemKey ? key.paths.map(segmentsOf) : [])];
  const rest = paths.filter((path) => !SYSTEM.has(path[0] ?? ''));
  const chosen = new Map<string, Path>();
  for (const path of [...begin, ...rest]) {
    if (chosen.size < FIRST_COLUMNS) chosen.set(pathKey(path), path);
  }
  return [...chosen.values(), ['_ts']];
}

const storageKey = (database: string, container: string) => `armilla.columns.${JSON.stringify([database, container])}`;

/** Returns the columns that were chosen for a container. */
export function keptColumns(database: string, container: string): Path[] | null {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(storageKey(database, container)) ?? 'null');
    return Array.isArray(list) ? list.filter((one): one is string[] => Array.isArray(one)) : null;
  } catch {
    return null;
  }
}

export function keepColumns(database: string, container: string, columns: readonly Path[] | null): void {
  const key = storageKey(database, container);
  if (columns) localStorage.setItem(key, JSON.stringify(columns));
  else localStorage.removeItem(key);
}

const texts = new WeakMap<Item, Map<string, string>>();

/** Returns what a cell shows. An item may be large, and its row is drawn often: each text is made once. */
export function cellText(item: Item, path: Path): string {
  let known = texts.get(item);
  if (!known) texts.set(item, (known = new Map()));
  const key = pathKey(path);
  let text = known.get(key);
  if (text === undefined) known.set(key, (text = makeText(item, path)));
  return text;
}

function makeText(item: Item, path: Path): string {
  const value = valueAt(item.value, path);
  if (value === undefined) return '';
  if (path.length === 1 && path[0] === '_ts' && typeof value === 'number') return new Date(value * 1000).toLocaleString();
  if (typeof value === 'string') return value.length > 200 ? `${value.slice(0, 200)}…` : value;
  const rounded = JSON.stringify(value);
  // A number of so many digits may have been rounded when the item was read: its text has them all.
  const text = /\d{16}/.test(rounded) ? (rawAt(item.raw, path) ?? rounded) : rounded;
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
