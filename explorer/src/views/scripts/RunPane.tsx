//! Running a stored procedure, and what came of it.

import { useEffect, useRef, useState } from 'preact/hooks';

import { runProcedure, type Run } from '../../api/scripts';
import { can } from '../../shell/state';
import { Button, Checkbox, CopyButton, duration, Problem, ru } from '../../ui';
import { FootprintList } from './FootprintList';
import { ARGUMENT_TYPES, KEY_TYPES, TypedRow } from './TypedRow';
import { parseAll, TEXT, type TypedValue } from './typed';

interface RunPaneProps {
  database: string;
  container: string;
  id: string;
  /** Whether the text in the editor is another than the stored one, which is what runs. */
  isChanged: boolean;
  /** Of the container's partition key. */
  paths: string[];
}

export function RunPane({ database, container, id, isChanged, paths }: RunPaneProps) {
  const [keys, setKeys] = useState<TypedValue[]>([]);
  const [args, setArgs] = useState<TypedValue[]>([]);
  const [rehearses, setRehearses] = useState(false);
  const [run, setRun] = useState<Run | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const aborter = useRef<AbortController | null>(null);
  useEffect(() => () => aborter.current?.abort(), []);
  if (!can('write')) return null;

  const keyRows = paths.map((_, index) => keys[index] ?? TEXT);
  const keyValues = parseAll(keyRows);
  const argValues = parseAll(args);

  async function execute() {
    if (keyValues === null || argValues === null) return;
    aborter.current = new AbortController();
    setIsBusy(true);
    setError(null);
    setRun(null);
    try {
      const key = paths.length === 0 ? null : keyValues;
      setRun(await runProcedure(database, container, id, key, argValues, rehearses, aborter.current.signal));
    } catch (cause) {
      if (!aborter.current.signal.aborted) setError(cause);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <section class="run" aria-label={`Run ${id}`}>
      <div class="run-inputs">
        {paths.length > 0 && (
          <fieldset>
            <legend>Partition key</legend>
            {paths.map((path, index) => (
              <TypedRow
                key={path}
                label={path}
                types={KEY_TYPES}
                value={keyRows[index] ?? TEXT}
                onChange={(value) => setKeys(keyRows.map((old, at) => (at === index ? value : old)))}
              />
            ))}
          </fieldset>
        )}
        <fieldset>
          <legend>Arguments</legend>
          {args.map((value, index) => (
            <TypedRow
              key={index}
              label={`argument ${index + 1}`}
              types={ARGUMENT_TYPES}
              value={value}
              onChange={(next) => setArgs(args.map((old, at) => (at === index ? next : old)))}
            >
              <Button
                kind="ghost"
                small
                aria-label={`Remove argument ${index + 1}`}
                onClick={() => setArgs(args.filter((_, at) => at !== index))}
              >
                ✕
              </Button>
            </TypedRow>
          ))}
          <Button small onClick={() => setArgs([...args, TEXT])}>
            Add an argument
          </Button>
        </fieldset>
        <Checkbox
          label="Rehearse: forget what it writes"
          help="It runs and costs the same. What only a commit would refuse, it does not find out."
          checked={rehearses}
          onChange={setRehearses}
        />
        <div class="row wrap">
          <Button
            kind="primary"
            busy={isBusy}
            disabled={keyValues === null || argValues === null}
            onClick={() => void execute()}
          >
            {rehearses ? 'Rehearse' : 'Run'}
          </Button>
          {isChanged && <span class="dim small">The stored text runs, without the changes above.</span>}
        </div>
      </div>
      <div class="run-outcome" aria-live="polite">
        {error !== null && <Problem error={error} />}
        {run && <Outcome run={run} />}
        {!run && error === null && <p class="dim">The result, the console and the charge appear here. What a run writes, it commits.</p>}
      </div>
    </section>
  );
}

function Outcome({ run }: { run: Run }) {
  const result = pretty(run.body);
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Charge</dt>
          <dd>{run.charge === null ? '–' : `${ru(run.charge)} RU`}</dd>
        </div>
        <div>
          <dt>Time</dt>
          <dd>{duration(run.milliseconds)}</dd>
        </div>
        {run.isRehearsal && (
          <div>
            <dt>Commit</dt>
            <dd>none: a rehearsal</dd>
          </div>
        )}
        {run.lsn !== null && (
          <div>
            <dt>Commit</dt>
            <dd>{run.lsn}</dd>
          </div>
        )}
      </dl>
      {run.error !== null ? (
        <Problem error={run.error} />
      ) : (
        <section>
          <div class="run-title">
            <h3>Result</h3>
            {result !== null && <CopyButton text={result} label="Copy the result" />}
          </div>
          {result === null ? (
            <p class="dim">The procedure set no body.</p>
          ) : (
            <pre class="run-text" tabIndex={0} aria-label="Result of the procedure">
              {result}
            </pre>
          )}
        </section>
      )}
      {run.footprint && <FootprintList footprint={run.footprint} isForgotten={run.isRehearsal} />}
      <section>
        <h3>Console</h3>
        {run.log === '' ? (
          <p class="dim">Nothing was written to the console.</p>
        ) : (
          <pre class="run-text" tabIndex={0} aria-label="Console of the procedure">
            {run.log}
          </pre>
        )}
      </section>
    </>
  );
}

function pretty(body: string | null): string | null {
  if (body === null) return null;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
