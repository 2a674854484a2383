//! The views of a container and of a database, each loaded when it is first looked at.

import type { ComponentType } from 'preact';

import { session } from '../api/session';
import { containers } from './account';
import type { ContainerView } from './route';

export interface ViewProps {
  database: string;
  container: string;
  /** What the address says beyond the view's name. */
  rest: string[];
}

export interface ViewEntry {
  title: string;
  load(): Promise<{ default: ComponentType<ViewProps> }>;
  /** Whether it is offered for a container; left out for what every container has. */
  isFor?(database: string, container: string): boolean;
}

const found = import.meta.glob<{ default: ComponentType<ViewProps> }>([
  '../views/items/index.tsx',
  '../views/query/index.tsx',
  '../views/mongo/index.tsx',
  '../views/gremlin/index.tsx',
  '../views/table/index.tsx',
  '../views/container/settings.tsx',
  '../views/partitions/index.tsx',
  '../views/throughput/index.tsx',
  '../views/scripts/index.tsx',
  '../views/feed/index.tsx',
  '../views/advice/index.tsx',
  '../views/users/index.tsx',
]);

function entry(title: string, path: string, isFor?: ViewEntry['isFor']): ViewEntry | null {
  const load = found[path];
  return load ? { title, load, ...(isFor ? { isFor } : {}) } : null;
}

/** Tells whether the server has an API that the reader may use: resource tokens are for the SQL API alone. */
function has(api: 'mongo' | 'gremlin' | 'table'): boolean {
  const here = session.value;
  return here !== null && here.apis[api] && here.access !== 'token';
}

/** Advice is made from all that was asked of the account: it is for keys of the account. */
export function mayLook(): boolean {
  return session.value !== null && session.value.access !== 'token';
}

/** Returns the partition key of a container; null while it is not known. */
function keyOf(database: string, container: string) {
  return containers.value.get(database)?.value?.find((one) => one.id === container)?.partitionKey ?? null;
}

/** A graph needs a key of one property of its own; until the key is known, it may be one. */
function mayBeGraph(database: string, container: string): boolean {
  const key = keyOf(database, container);
  return key === null || (key.paths.length === 1 && !key.systemKey);
}

/** Tables are the containers of one database that have the key of tables, but for that with their settings. */
function isTable(database: string, container: string): boolean {
  if (database !== 'TablesDB' || container.startsWith('$')) return false;
  const paths = keyOf(database, container)?.paths;
  return paths?.length === 1 && paths[0] === '/PartitionKey';
}

/** The views of a container, in the order in which they are offered. */
export const containerViews = new Map<ContainerView, ViewEntry>(
  (
    [
      ['items', 'Items', '../views/items/index.tsx'],
      ['query', 'Query', '../views/query/index.tsx'],
      ['mongo', 'MongoDB', '../views/mongo/index.tsx', () => has('mongo')],
      ['gremlin', 'Gremlin', '../views/gremlin/index.tsx', (database, container) => has('gremlin') && mayBeGraph(database, container)],
      ['table', 'Table', '../views/table/index.tsx', (database, container) => has('table') && isTable(database, container)],
      ['settings', 'Settings', '../views/container/settings.tsx'],
      ['partitions', 'Partitions', '../views/partitions/index.tsx'],
      ['throughput', 'Throughput', '../views/throughput/index.tsx'],
      ['scripts', 'Scripts', '../views/scripts/index.tsx'],
      ['feed', 'Change feed', '../views/feed/index.tsx'],
      ['advice', 'Advice', '../views/advice/index.tsx', mayLook],
    ] satisfies [ContainerView, string, string, ViewEntry['isFor']?][]
  ).flatMap(([name, title, path, isFor]: [ContainerView, string, string, ViewEntry['isFor']?]) => {
    const one = entry(title, path, isFor);
    return one ? [[name, one] as const] : [];
  }),
);

/** Returns the views that a container is offered with. */
export function viewsOf(database: string, container: string): [ContainerView, ViewEntry][] {
  return [...containerViews].filter(([, one]) => one.isFor?.(database, container) ?? true);
}

/** The view of a database's users. */
export const usersView = entry('Users', '../views/users/index.tsx');

/** Pages of the account and of databases. */
export const frameViews = {
  home: { title: 'Account', load: () => import('../views/home/index') },
  advice: { title: 'Advice', load: () => import('../views/advice/index') },
  newDatabase: { title: 'New database', load: () => import('../views/database/create') },
  database: { title: 'Database', load: () => import('../views/database/index') },
  newContainer: { title: 'New container', load: () => import('../views/container/create') },
} satisfies Record<string, ViewEntry>;
