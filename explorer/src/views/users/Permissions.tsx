//! The permissions of a user.

import { useEffect, useState } from 'preact/hooks';

import { deletePermission, listPermissions, type Permission } from '../../api/users';
import { Button, confirm, Problem, Spinner } from '../../ui';
import { NewPermission } from './NewPermission';
import { TokenDialog } from './TokenDialog';

export function Permissions({ database, user }: { database: string; user: string }) {
  const [permissions, setPermissions] = useState<Permission[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [turn, setTurn] = useState(0);
  const [isCreating, setIsCreating] = useState(false);
  const [token, setToken] = useState<Permission | null>(null);

  useEffect(() => {
    const aborter = new AbortController();
    listPermissions(database, user, aborter.signal).then(
      (list) => setPermissions(list.sort((a, b) => a.id.localeCompare(b.id))),
      (cause: unknown) => aborter.signal.aborted || setError(cause),
    );
    return () => aborter.abort();
  }, [database, user, turn]);

  async function remove(permission: Permission) {
    const isAgreed = await confirm({
      title: `Delete the permission ${permission.id}?`,
      text: 'Resource tokens that it gave out stay good until they end, at most a day: only deleting the container ends them before.',
      action: 'Delete',
      danger: true,
    });
    if (!isAgreed) return;
    try {
      setError(null);
      await deletePermission(database, user, permission.id);
      setTurn((count) => count + 1);
    } catch (cause) {
      setError(cause);
    }
  }

  return (
    <>
      {error !== null && <Problem error={error} />}
      {!permissions && error === null && <Spinner label="Reading the permissions" />}
      {permissions && (
        <div class="users-permissions" role="region" aria-label="Permissions" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Permission</th>
                <th scope="col">May</th>
                <th scope="col">In</th>
                <th scope="col">Partition key</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {permissions.map((permission) => (
                <tr key={permission.id}>
                  <th scope="row">{permission.id}</th>
                  <td>{permission.mode.toLowerCase() === 'all' ? 'read and write' : 'read'}</td>
                  <td class="mono">{permission.resource}</td>
                  <td class="mono">{permission.partitionKey ? JSON.stringify(permission.partitionKey) : 'all'}</td>
                  <td class="users-actions">
                    <Button small aria-label={`Token of ${permission.id}`} onClick={() => setToken(permission)}>
                      Token…
                    </Button>
                    <Button kind="ghost" small aria-label={`Delete ${permission.id}`} onClick={() => void remove(permission)}>
                      Delete…
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {permissions.length === 0 && <p class="users-what">This user may do nothing yet.</p>}
        </div>
      )}
      <div>
        <Button onClick={() => setIsCreating(true)}>New permission…</Button>
      </div>
      {isCreating && (
        <NewPermission
          database={database}
          user={user}
          onCreated={() => {
            setIsCreating(false);
            setTurn((count) => count + 1);
          }}
          onClose={() => setIsCreating(false)}
        />
      )}
      {token && <TokenDialog database={database} user={user} permission={token} onClose={() => setToken(null)} />}
    </>
  );
}
