//! Items of a file into the container.

import { useEffect, useRef, useState } from 'preact/hooks';

import { ApiError } from '../../api/client';
import { createItem, partitionKey, type Keyed } from '../../api/items';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Choice, Select } from '../../ui/Field';
import { bytes, count, counted, duration, ru } from '../../ui/format';
import { entries, kindOf, type Entry, type FileKind } from './file';

/** Requests at a time: as many as browsers have connections to one host. */
const AT_A_TIME = 6;

/** How often one item waits for the container's throughput. */
const RETRIES = 30;

const ERRORS_SHOWN = 200;

interface Progress {
  written: number;
  failed: number;
  charge: number;
  begun: number;
  ended: number | null;
  errors: { line: number; text: string }[];
}

export interface UploadProps {
  database: string;
  container: string;
  definition: Keyed;
  onClose(isChanged: boolean): void;
}

const KINDS: readonly (readonly [FileKind, string])[] = [
  ['lines', 'JSON lines'],
  ['array', 'JSON array'],
  ['csv', 'CSV with a header'],
];

export function Upload({ database, container, definition, onClose }: UploadProps) {
  const [file, setFile] = useState<File | null>(null);
  const [kind, setKind] = useState<FileKind>('lines');
  const [mode, setMode] = useState<'create' | 'upsert'>('create');
  const [progress, setProgress] = useState<Progress | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const isRunning = progress !== null && progress.ended === null;

  const choose = async (chosen: File | undefined) => {
    if (!chosen) return;
    setFile(chosen);
    setProgress(null);
    setKind(kindOf(chosen.name, await chosen.slice(0, 256).text()));
  };

  const run = async (from: File) => {
    const stop = new AbortController();
    abort.current = stop;
    const state: Progress = { written: 0, failed: 0, charge: 0, begun: Date.now(), ended: null, errors: [] };
    const show = () => setProgress({ ...state, errors: [...state.errors] });
    show();
    const timer = setInterval(show, 200);
    const fail = (line: number, text: string) => {
      state.failed += 1;
      if (state.errors.length < ERRORS_SHOWN) state.errors.push({ line, text });
    };
    const write = async (entry: Entry) => {
      if ('wrong' in entry) {
        fail(entry.line, entry.wrong);
        return;
      }
      try {
        const key = partitionKey(JSON.parse(entry.raw), definition);
        const isUpsert = mode === 'upsert';
        const made = await createItem({ database, container, raw: entry.raw, key, isUpsert, retries: RETRIES, signal: stop.signal });
        state.written += 1;
        state.charge += made.charge;
      } catch (error) {
        if (stop.signal.aborted) return;
        state.charge += error instanceof ApiError ? (error.charge ?? 0) : 0;
        fail(entry.line, error instanceof Error ? error.message : String(error));
      }
    };
    const source = entries(from, kind);
    // Each takes the next item as soon as it has written one: the file is read no faster than it is written.
    const worker = async () => {
      while (!stop.signal.aborted) {
        const { done, value } = await source.next();
        if (done) return;
        await write(value);
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    } catch (error) {
      fail(0, error instanceof Error ? error.message : String(error));
    } finally {
      clearInterval(timer);
      state.ended = Date.now();
      show();
    }
  };

  const close = () => {
    abort.current?.abort();
    onClose((progress?.written ?? 0) > 0);
  };
  return (
    <Dialog
      title="Upload items"
      wide
      onClose={close}
      onSubmit={() => file && !isRunning && void run(file)}
      footer={
        isRunning ? (
          <Button kind="danger" onClick={() => abort.current?.abort()}>
            Stop
          </Button>
        ) : (
          <>
            <Button onClick={close}>Close</Button>
            <Button kind="primary" type="submit" disabled={!file}>
              Upload
            </Button>
          </>
        )
      }
    >
      <div class="row wrap">
        <label class="button file">
          Choose a file
          <input
            type="file"
            aria-label="File with items"
            accept=".json,.jsonl,.ndjson,.csv,application/json,text/csv"
            disabled={isRunning}
            onChange={(event) => void choose(event.currentTarget.files?.[0])}
          />
        </label>
        <span class="ellipsis">{file ? `${file.name}, ${bytes(file.size)}` : 'No file is chosen'}</span>
        {file && (
          <div class="kind">
            <Select aria-label="What the file is" value={kind} options={KINDS} onChange={setKind} disabled={isRunning} />
          </div>
        )}
      </div>
      <Choice
        label="Items whose id is there already"
        value={mode}
        disabled={isRunning}
        onChange={setMode}
        options={[
          ['create', 'are reported and left as they are'],
          ['upsert', 'are replaced'],
        ]}
      />
      <p class="help">
        Items without an id get one. Fields of CSV become numbers, truth values, objects or arrays where they read as such; empty
        ones are left out. Requests that come too fast for the container's throughput wait and are repeated.
      </p>
      {progress && <Told progress={progress} />}
    </Dialog>
  );
}

function Told({ progress }: { progress: Progress }) {
  const milliseconds = (progress.ended ?? Date.now()) - progress.begun;
  const rate = milliseconds > 0 ? Math.round((progress.written * 1000) / milliseconds) : 0;
  return (
    <section class="stack" aria-label="Progress">
      <p role="status">
        {progress.ended === null ? 'Writing: ' : 'Done: '}
        {counted(progress.written, 'item')} written, {count(progress.failed)} refused, {ru(progress.charge)} RU, {duration(milliseconds)}
        {rate > 0 && `, ${count(rate)} a second`}
      </p>
      {progress.errors.length > 0 && (
        <div class="line-errors" tabIndex={0} role="group" aria-label="Lines that were refused">
          {progress.errors.map((one) => (
            <p key={`${one.line} ${one.text}`}>
              {one.line > 0 && <strong>Line {one.line}: </strong>}
              {one.text}
            </p>
          ))}
          {progress.failed > progress.errors.length && <p class="dim">and {count(progress.failed - progress.errors.length)} more</p>}
        </div>
      )}
    </section>
  );
}
