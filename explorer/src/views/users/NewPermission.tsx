//! Gives a user a permission.

import { useEffect, useState } from 'preact/hooks';

import { keyPaths } from '../../api/keys';
import { listContainers, readContainer } from '../../api/resources';
import { createPermission, type PermissionMode } from '../../api/users';
import { Button, Choice, Dialog, Field, Input, Problem, Select } from '../../ui';
import { KEY_TYPES, TypedRow } from '../scripts/TypedRow';
import { parseAll, TEXT, type TypedValue } from '../scripts/typed';

type Extent = 'container' | 'key' | 'item';

const MODES: [PermissionMode, string, string][] = [
  ['Read', 'Read', 'Items, queries and the change feed.'],
  ['All', 'Read and write', 'And run stored procedures.'],
];
const EXTENTS: [Extent, string, string?][] = [
  ['container', 'The whole container'],
  ['key', 'One partition key'],
  ['item', 'One item'],
];

interface NewPermissionProps {
  database: string;
  user: string;
  onCreated(): void;
  onClose(): void;
}

export function NewPermission({ database, user, onCreated, onClose }: NewPermissionProps) {
  const [id, setId] = useState('');
  const [mode, setMode] = useState<PermissionMode>('Read');
  const [containers, setContainers] = useState<string[]>([]);
  const [container, setContainer] = useState('');
  const [extent, setExtent] = useState<Extent>('container');
  const [paths, setPaths] = useState<string[]>([]);
  const [keys, setKeys] = useState<TypedValue[]>([]);
  const [item, setItem] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  useEffect(() => {
    const aborter = new AbortController();
    listContainers(database, aborter.signal).then(
      (list) => {
        const names = list.map((one) => one.id).sort((a, b) => a.localeCompare(b));
        setContainers(names);
        setContainer(names[0] ?? '');
      },
      (cause: unknown) => aborter.signal.aborted || setError(cause),
    );
    return () => aborter.abort();
  }, [database]);

  useEffect(() => {
    if (container === '') return;
    const aborter = new AbortController();
    readContainer(database, container, aborter.signal).then(
      (answer) => setPaths(keyPaths(answer.container)),
      (cause: unknown) => aborter.signal.aborted || setError(cause),
    );
    return () => aborter.abort();
  }, [database, container]);

  const rows = paths.map((_, index) => keys[index] ?? TEXT);
  const values = extent === 'container' ? [] : parseAll(rows);
  const isReady = id !== '' && container !== '' && values !== null && (extent !== 'item' || item !== '');

  async function create() {
    if (!isReady || values === null) return;
    setIsBusy(true);
    setError(null);
    try {
      await createPermission(database, user, {
        id,
        mode,
        container,
        partitionKey: extent === 'container' ? null : values,
        item: extent === 'item' ? item : null,
      });
      onCreated();
    } catch (cause) {
      setError(cause);
      setIsBusy(false);
    }
  }

  return (
    <Dialog
      title={`New permission for ${user}`}
      onClose={onClose}
      onSubmit={() => void create()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={!isReady}>
            Create
          </Button>
        </>
      }
    >
      <div class="stack">
        <Field label="Name">
          <Input value={id} placeholder="name" onInput={setId} autofocus />
        </Field>
        <Field label="Container" error={containers.length === 0 && error === null ? 'The database has no container.' : null}>
          <Select value={container} options={containers.map((name) => [name, name] as const)} onChange={setContainer} />
        </Field>
        <Choice label="May" value={mode} options={MODES} onChange={setMode} />
        <Choice label="In" value={extent} options={EXTENTS} onChange={setExtent} />
        {extent !== 'container' && (
          <fieldset class="choice">
            <legend>Partition key</legend>
            {paths.map((path, index) => (
              <TypedRow
                key={path}
                label={path}
                types={KEY_TYPES}
                value={rows[index] ?? TEXT}
                onChange={(value) => setKeys(rows.map((old, at) => (at === index ? value : old)))}
              />
            ))}
          </fieldset>
        )}
        {extent === 'item' && (
          <Field label="Id of the item">
            <Input value={item} onInput={setItem} />
          </Field>
        )}
        {error !== null && <Problem error={error} />}
      </div>
    </Dialog>
  );
}
