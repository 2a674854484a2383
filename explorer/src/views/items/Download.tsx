//! Items of the container, or those that the filter finds, into a file.

import { useEffect, useRef, useState } from 'preact/hooks';

import { readPage, SYSTEM, type Item } from '../../api/items';
import { members, without } from '../../api/raw-json';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Checkbox, Choice } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { counted, ru } from '../../ui/format';
import { csvField } from './csv';

const PAGE = 1000;

type Format = 'lines' | 'csv';

export interface DownloadProps {
  database: string;
  container: string;
  filter: string;
  onClose(): void;
}

/** Takes items a page at a time, and makes a file of them at the end. */
interface Writer {
  add(items: readonly Item[]): void;
  file(): Blob;
}

export function Download({ database, container, filter, onClose }: DownloadProps) {
  const [format, setFormat] = useState<Format>('lines');
  const [isFiltered, setFiltered] = useState(filter !== '');
  const [withSystem, setWithSystem] = useState(false);
  const [said, setSaid] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const run = async () => {
    const stop = new AbortController();
    abort.current = stop;
    setRunning(true);
    setError(null);
    const writer = format === 'csv' ? csvWriter(withSystem) : lineWriter(withSystem);
    let [items, charge] = [0, 0];
    let continuation: string | null = null;
    try {
      do {
        const page = await readPage({
          database,
          container,
          filter: isFiltered ? filter : '',
          continuation,
          count: PAGE,
          retries: 30,
          signal: stop.signal,
        });
        writer.add(page.items);
        items += page.items.length;
        charge += page.charge;
        continuation = page.continuation;
        setSaid(`${counted(items, 'item')} read, ${ru(charge)} RU`);
      } while (continuation !== null);
      save(writer.file(), `${container}.${format === 'csv' ? 'csv' : 'jsonl'}`);
      setSaid(`${counted(items, 'item')} in the file, ${ru(charge)} RU`);
    } catch (refused) {
      if (stop.signal.aborted) setSaid(`Stopped after ${counted(items, 'item')} and ${ru(charge)} RU: no file was made`);
      else setError(refused);
    } finally {
      setRunning(false);
    }
  };
  return (
    <Dialog
      title="Download items"
      onClose={onClose}
      onSubmit={() => !isRunning && void run()}
      footer={
        isRunning ? (
          <Button kind="danger" onClick={() => abort.current?.abort()}>
            Stop
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Close</Button>
            <Button kind="primary" type="submit">
              Download
            </Button>
          </>
        )
      }
    >
      <Choice
        label="Format"
        value={format}
        disabled={isRunning}
        onChange={setFormat}
        options={[
          ['lines', 'JSON lines', 'An item a line, as it is stored.'],
          ['csv', 'CSV', 'A column for each member; objects and arrays as JSON.'],
        ]}
      />
      {filter !== '' && (
        <Choice
          label="Which items"
          value={isFiltered ? 'filter' : 'all'}
          disabled={isRunning}
          onChange={(which) => setFiltered(which === 'filter')}
          options={[
            ['filter', 'What the filter finds', filter],
            ['all', 'The whole container'],
          ]}
        />
      )}
      <Checkbox
        label="With what the server adds"
        help="_rid, _self, _etag, _attachments and _ts"
        checked={withSystem}
        disabled={isRunning}
        onChange={setWithSystem}
      />
      <p class="help">Reading costs request units: as much as a query for all these items.</p>
      {said && <p role="status">{said}</p>}
      {error != null && <Problem error={error} />}
    </Dialog>
  );
}

function lineWriter(withSystem: boolean): Writer {
  const parts: Blob[] = [];
  return {
    add(items) {
      const lines = items.map((item) => `${withSystem ? item.raw : without(item.raw, SYSTEM)}\n`);
      // The browser may keep such a part on disk.
      parts.push(new Blob([lines.join('')]));
    },
    file: () => new Blob(parts, { type: 'application/x-ndjson' }),
  };
}

function csvWriter(withSystem: boolean): Writer {
  const names: string[] = [];
  const known = new Map<string, number>();
  const rows: { text: string; width: number }[] = [];
  return {
    add(items) {
      for (const item of items) {
        const fields: string[] = [];
        for (const { name, raw } of members(item.raw)) {
          if (!withSystem && SYSTEM.has(name)) continue;
          let at = known.get(name);
          if (at === undefined) {
            at = names.push(name) - 1;
            known.set(name, at);
          }
          fields[at] = csvField(raw.startsWith('"') ? (JSON.parse(raw) as string) : raw);
        }
        rows.push({ text: Array.from(fields, (field) => field ?? '').join(','), width: Math.max(1, fields.length) });
      }
    },
    file() {
      const lines = rows.map(({ text, width }) => `${text}${','.repeat(Math.max(0, names.length - width))}\r\n`);
      return new Blob([`${names.map(csvField).join(',')}\r\n`, ...lines], { type: 'text/csv' });
    },
  };
}

function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has begun by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
