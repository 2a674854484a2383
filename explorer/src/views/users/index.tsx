//! The users of a database, and what each may do.

import { useEffect, useState } from 'preact/hooks';

import { createUser, deleteUser, listUsers, type User } from '../../api/users';
import { can, navigate, replace, type Route } from '../../shell/state';
import type { ViewProps } from '../../shell/views';
import { Button, confirm, Empty, Field, Input, Problem, Spinner, toast } from '../../ui';
import { Permissions } from './Permissions';
import './users.css';

export default function Users({ database, rest }: ViewProps) {
  const [users, setUsers] = useState<User[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [name, setName] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [turn, setTurn] = useState(0);
  const chosen = rest[0] ?? null;
  const place = (user?: string): Route => ({ kind: 'users', database, rest: user === undefined ? [] : [user] });

  useEffect(() => {
    const aborter = new AbortController();
    listUsers(database, aborter.signal).then(
      (list) => setUsers(list.sort((a, b) => a.id.localeCompare(b.id))),
      (cause: unknown) => aborter.signal.aborted || setError(cause),
    );
    return () => aborter.abort();
  }, [database, turn]);

  async function act(what: () => Promise<void>) {
    setIsBusy(true);
    setError(null);
    try {
      await what();
      setTurn((count) => count + 1);
    } catch (cause) {
      setError(cause);
    } finally {
      setIsBusy(false);
    }
  }

  const create = () =>
    act(async () => {
      await createUser(database, name);
      setName('');
      navigate(place(name));
    });

  async function remove(user: string) {
    const isAgreed = await confirm({
      title: `Delete the user ${user}?`,
      text:
        'The permissions of this user go as well. Resource tokens that they gave out stay good until they end, at most a day: ' +
        'only deleting the container ends them before.',
      action: 'Delete',
      danger: true,
    });
    if (!isAgreed) return;
    await act(async () => {
      await deleteUser(database, user);
      toast(`The user ${user} was deleted.`, 'good');
      replace(place());
    });
  }

  const user = users?.find((one) => one.id === chosen);
  return (
    <div class="users">
      <nav class="users-list" aria-label="Users">
        <p class="users-what">
          Users of a database have permissions, and each permission gives out resource tokens: keys to one container, partition key or
          item, for some time.
        </p>
        {can('manage') && (
          <form
            class="users-new"
            onSubmit={(event) => {
              event.preventDefault();
              if (name !== '') void create();
            }}
          >
            <Field label="New user">
              <Input value={name} placeholder="name" onInput={setName} />
            </Field>
            <Button type="submit" busy={isBusy} disabled={name === ''}>
              Create
            </Button>
          </form>
        )}
        {error !== null && <Problem error={error} />}
        {!users && error === null && <Spinner label="Reading the users" />}
        {users && (
          <ul>
            {users.map((one) => (
              <li key={one.id}>
                <button
                  type="button"
                  class="users-entry"
                  aria-current={one.id === chosen ? 'true' : undefined}
                  onClick={() => navigate(place(one.id))}
                >
                  <span class="ellipsis">{one.id}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
        {users && users.length === 0 && <p class="users-what">There is none yet.</p>}
      </nav>
      <div class="users-main">
        {user ? (
          <>
            <header class="users-head">
              <h2 class="ellipsis">{user.id}</h2>
              {can('manage') && (
                <Button kind="ghost" disabled={isBusy} onClick={() => void remove(user.id)}>
                  Delete the user…
                </Button>
              )}
            </header>
            {can('manage') ? (
              <Permissions key={user._rid} database={database} user={user.id} />
            ) : (
              <p class="notice">Permissions are shown to who has the key for reading and writing alone: they hold tokens.</p>
            )}
          </>
        ) : (
          users && <Empty title={chosen === null ? 'Choose a user' : 'There is no user of this name'}>{chosen}</Empty>
        )}
      </div>
    </div>
  );
}
