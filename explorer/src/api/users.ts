//! Users of a database, their permissions, and the resource tokens that prove them.

import { ask, segment } from './client';
import { everyPage } from './pages';
import { databasePath, type Resource } from './resources';

export type User = Resource;

export type PermissionMode = 'Read' | 'All';

/** A permission. Its token is left out: it is made anew for who asks for it. */
export interface Permission {
  id: string;
  mode: string;
  /** The link of a container or an item. */
  resource: string;
  partitionKey: unknown[] | null;
}

export interface NewPermission {
  id: string;
  mode: PermissionMode;
  container: string;
  /** Null for the whole container. */
  partitionKey: unknown[] | null;
  /** Null for all items. */
  item: string | null;
}

/** How long a token may be good for, in seconds. */
export const TOKEN_SECONDS = { least: 10, usual: 3_600, most: 86_400 };

const usersPath = (database: string) => `${databasePath(database)}/users`;
const permissionsPath = (database: string, user: string) => `${usersPath(database)}/${segment(user)}/permissions`;

export async function listUsers(database: string, signal?: AbortSignal): Promise<User[]> {
  return everyPage<User>(usersPath(database), 'Users', signal);
}

export async function createUser(database: string, id: string): Promise<void> {
  await ask({ method: 'POST', path: usersPath(database), body: { id } });
}

export async function deleteUser(database: string, id: string): Promise<void> {
  await ask({ method: 'DELETE', path: `${usersPath(database)}/${segment(id)}` });
}

interface Stored {
  id: string;
  permissionMode: string;
  resource: string;
  resourcePartitionKey?: unknown[];
  _token: string;
}

export async function listPermissions(database: string, user: string, signal?: AbortSignal): Promise<Permission[]> {
  const stored = await everyPage<Stored>(permissionsPath(database, user), 'Permissions', signal);
  return stored.map(({ id, permissionMode, resource, resourcePartitionKey }) => ({
    id,
    mode: permissionMode,
    resource,
    partitionKey: resourcePartitionKey ?? null,
  }));
}

export async function createPermission(database: string, user: string, permission: NewPermission): Promise<void> {
  const { id, mode, container, partitionKey, item } = permission;
  // Links have names as they are, not encoded as in paths.
  const resource = `dbs/${database}/colls/${container}${item === null ? '' : `/docs/${item}`}`;
  const body = { id, permissionMode: mode, resource, ...(partitionKey && { resourcePartitionKey: partitionKey }) };
  await ask({ method: 'POST', path: permissionsPath(database, user), body });
}

export async function deletePermission(database: string, user: string, id: string): Promise<void> {
  await ask({ method: 'DELETE', path: `${permissionsPath(database, user)}/${segment(id)}` });
}

/** Makes a token that is good for some seconds from now. */
export async function makeToken(database: string, user: string, id: string, seconds: number): Promise<string> {
  const answer = await ask({
    path: `${permissionsPath(database, user)}/${segment(id)}`,
    headers: { 'x-ms-documentdb-expiry-seconds': String(seconds) },
  });
  return answer.json<Stored>()._token;
}
