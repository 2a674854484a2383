//! Where the items of a partition key lie: the server hashes the key and names the arc.

import { useEffect, useState } from 'preact/hooks';

import { keyPaths } from '../../api/keys';
import { partitionOf } from '../../api/partitions';
import { readContainer } from '../../api/resources';
import { Button, Problem } from '../../ui';
import { KEY_TYPES, TypedRow } from '../scripts/TypedRow';
import { parseAll, TEXT, type TypedValue } from '../scripts/typed';
import { keyText } from './figures';

interface KeyFinderProps {
  database: string;
  container: string;
  onFound(partition: string): void;
}

export function KeyFinder({ database, container, onFound }: KeyFinderProps) {
  const [paths, setPaths] = useState<string[]>([]);
  const [keys, setKeys] = useState<TypedValue[]>([]);
  const [found, setFound] = useState<{ key: unknown[]; partition: string | null } | null>(null);
  const [error, setError] = useState<unknown>(null);

  useEffect(() => {
    const aborter = new AbortController();
    setPaths([]);
    setFound(null);
    readContainer(database, container, aborter.signal).then(
      (answer) => setPaths(keyPaths(answer.container)),
      (cause: unknown) => aborter.signal.aborted || setError(cause),
    );
    return () => aborter.abort();
  }, [database, container]);

  if (paths.length === 0) return error === null ? null : <Problem error={error} />;
  const rows = paths.map((_, index) => keys[index] ?? TEXT);
  const values = parseAll(rows);

  async function find() {
    if (values === null) return;
    setError(null);
    setFound(null);
    try {
      const partition = await partitionOf(database, container, values);
      setFound({ key: values, partition });
      if (partition !== null) onFound(partition);
    } catch (cause) {
      setError(cause);
    }
  }

  return (
    <form
      class="finder"
      aria-label="Where a partition key lies"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
      }}
    >
      <h3>Where does a partition key lie?</h3>
      {paths.map((path, index) => (
        <TypedRow
          key={path}
          label={path}
          types={KEY_TYPES}
          value={rows[index] ?? TEXT}
          onChange={(value) => setKeys(rows.map((old, at) => (at === index ? value : old)))}
        >
          {index === paths.length - 1 && (
            <Button type="submit" disabled={values === null}>
              Find
            </Button>
          )}
        </TypedRow>
      ))}
      <p class="note" role="status">
        {found &&
          (found.partition === null ? (
            'The server does not say.'
          ) : (
            <>
              <code>{keyText(found.key)}</code> lies in partition {found.partition}, whether it has items or not.
            </>
          ))}
      </p>
      {error !== null && <Problem error={error} />}
    </form>
  );
}
