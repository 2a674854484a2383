//! Items: pages of them, and one at a time.

import { ask, segment, type Answer } from './client';
import { keyPaths } from './keys';
import { elementsOf, without } from './raw-json';
import { containerPath, type Container } from './resources';

/** An item as it is stored. `raw` is its text, in which numbers keep every digit. */
export interface Item {
  raw: string;
  value: Record<string, unknown>;
}

/** What the server adds to every item. */
export const SYSTEM: ReadonlySet<string> = new Set(['_rid', '_self', '_etag', '_attachments', '_ts']);

export interface Page {
  items: Item[];
  continuation: string | null;
  charge: number;
  milliseconds: number;
}

export function itemOf(raw: string): Item {
  return { raw, value: JSON.parse(raw) as Record<string, unknown> };
}

/** Returns an item's text without what the server added. */
export function ownText(item: Item): string {
  return without(item.raw, SYSTEM);
}

/** Returns the query of a filter line: what stands behind WHERE, or an ORDER BY alone. */
export function filterQuery(filter: string): string {
  const plain = filter.trim();
  if (plain === '') return 'SELECT * FROM c';
  if (/^(where|order\s+by|offset)\b/i.test(plain)) return `SELECT * FROM c ${plain}`;
  return `SELECT * FROM c WHERE ${plain}`;
}

export interface PageAsked {
  database: string;
  container: string;
  filter: string;
  continuation: string | null;
  count: number;
  signal?: AbortSignal;
  retries?: number;
}

/** Reads one page, of all items or of those that a filter finds: always by a query, which costs less than the feed of items. */
export async function readPage({ database, container, filter, continuation, count, signal, retries = 2 }: PageAsked): Promise<Page> {
  const headers: Record<string, string> = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
    'x-ms-documentdb-query-enablecrosspartition': 'true',
    'x-ms-max-item-count': String(count),
  };
  if (continuation) headers['x-ms-continuation'] = continuation;
  const path = `${containerPath(database, container)}/docs`;
  const body = { query: filterQuery(filter), parameters: [] };
  const answer = await ask({ method: 'POST', path, headers, body, signal, retries });
  return {
    items: elementsOf(answer.text, 'Documents').map(itemOf),
    continuation: answer.continuation,
    charge: answer.charge ?? 0,
    milliseconds: answer.milliseconds,
  };
}

/** Returns the segments of a path of a partition key: "/a/b", or with quotes where a name has other characters. */
export function segmentsOf(path: string): string[] {
  const found = path.match(/"(?:[^"\\]|\\.)*"|[^/]+/g) ?? [];
  return found.map((one) => (one.startsWith('"') ? (JSON.parse(one) as string) : one));
}

/** Returns what an item has at a path; undefined where there is nothing. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/** Object ids and dates just as the server writes them: spelled otherwise, they are objects to it as well. */
const TYPED_KEYS = [/^\{"\$oid":"[\da-f]{24}"\}$/, /^\{"\$date":\{"\$numberLong":"(?:0|-?[1-9]\d{0,18})"\}\}$/];

/** What says where the partition key of an item stands, and what counts as a value of it. */
export type Keyed = Pick<Container, 'partitionKey' | 'extendedTypes'>;

/**
 * Returns the partition key of an item, a component for each path: `{}` stands for a path at which it has nothing, or no plain
 * value. Object ids and dates are values where the container has types that JSON lacks. Containers without a key have none.
 */
export function partitionKey(value: unknown, container: Keyed | undefined): unknown[] {
  return (container ? keyPaths(container) : []).map((path) => {
    const component = valueAt(value, segmentsOf(path));
    if (component === undefined) return {};
    if (typeof component !== 'object' || component === null) return component;
    const isTyped = container?.extendedTypes === true && TYPED_KEYS.some((one) => one.test(JSON.stringify(component)));
    return isTyped ? component : {};
  });
}

/** Returns a partition key as a header has it, in ASCII alone. */
export function keyHeader(key: readonly unknown[]): Record<string, string> {
  if (key.length === 0) return {};
  const text = JSON.stringify(key).replace(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return { 'x-ms-documentdb-partitionkey': text };
}

/** Tells whether a component of a key is `{}`. */
function isNothing(component: unknown): boolean {
  return typeof component === 'object' && component !== null && Object.keys(component).length === 0;
}

/** Shows a partition key to a reader. */
export function keyText(key: readonly unknown[]): string {
  return key.map((one) => (isNothing(one) ? 'undefined' : JSON.stringify(one))).join(' / ');
}

function itemPath(database: string, container: string, id: string, self?: unknown): string {
  // A browser takes these for steps of a path, encoded or not: such an item is named by its link.
  if ((id === '.' || id === '..') && typeof self === 'string') return `/${self}`;
  return `${containerPath(database, container)}/docs/${segment(id)}`;
}

export interface Written {
  item: Item;
  charge: number;
  milliseconds: number;
}

function written(answer: Answer): Written {
  return { item: itemOf(answer.text), charge: answer.charge ?? 0, milliseconds: answer.milliseconds };
}

export async function readItem(database: string, container: string, id: string, key: readonly unknown[], signal?: AbortSignal): Promise<Written> {
  return written(await ask({ path: itemPath(database, container, id), headers: keyHeader(key), signal }));
}

export interface CreateAsked {
  database: string;
  container: string;
  raw: string;
  key: readonly unknown[];
  /** Whether an item with the same id is replaced. */
  isUpsert?: boolean;
  retries?: number;
  signal?: AbortSignal;
}

export async function createItem({ database, container, raw, key, isUpsert, retries, signal }: CreateAsked): Promise<Written> {
  const headers = keyHeader(key);
  if (isUpsert) headers['x-ms-documentdb-is-upsert'] = 'true';
  const path = `${containerPath(database, container)}/docs`;
  return written(await ask({ method: 'POST', path, body: raw, headers, signal, retries }));
}

/** Replaces an item if it is still the one that was read. */
export async function replaceItem(database: string, container: string, before: Item, key: readonly unknown[], raw: string): Promise<Written> {
  const headers = keyHeader(key);
  if (typeof before.value['_etag'] === 'string') headers['if-match'] = before.value['_etag'];
  const path = itemPath(database, container, String(before.value['id']), before.value['_self']);
  return written(await ask({ method: 'PUT', path, body: raw, headers }));
}

/** Deletes an item if it is still the one that was read. Returns the charge. */
export async function deleteItem(database: string, container: string, item: Item, key: readonly unknown[]): Promise<number> {
  const headers = keyHeader(key);
  if (typeof item.value['_etag'] === 'string') headers['if-match'] = item.value['_etag'];
  const path = itemPath(database, container, String(item.value['id']), item.value['_self']);
  const answer = await ask({ method: 'DELETE', path, headers });
  return answer.charge ?? 0;
}

/** Returns an id that no other item has. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((one) => one.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
