//! Following what changes in a container.

import { useEffect, useRef, useState } from 'preact/hooks';

import { feedArcs, type FeedMode, type FeedStart } from '../../api/feed';
import { keyPaths } from '../../api/keys';
import { readContainer, type Container } from '../../api/resources';
import type { ViewProps } from '../../shell/views';
import { Button, count, counted, duration, Empty, Field, Input, Problem, ru, Select, Spinner } from '../../ui';
import { shortBound } from '../partitions/arcs';
import { EntryRow } from './EntryRow';
import { ENTRIES_MAX, Tail, type TailState } from './tail';
import './feed.css';

type StartKind = FeedStart['at'];

const STARTS: [StartKind, string][] = [
  ['now', 'Now'],
  ['beginning', 'The beginning'],
  ['time', 'A time'],
];
const MODES: [FeedMode, string][] = [
  ['latest', 'Latest version of each item'],
  ['all-versions', 'All versions and deletes'],
];

export default function Feed({ database, container }: ViewProps) {
  const [description, setDescription] = useState<Container | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [mode, setMode] = useState<FeedMode>('latest');
  const [start, setStart] = useState<StartKind>('now');
  const [time, setTime] = useState(() => localTime(new Date(Date.now() - 600_000)));
  const [state, setState] = useState<TailState | null>(null);
  const [isRunning, setIsRunning] = useState(false);
  const [isPaused, setIsPaused] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const tail = useRef<Tail | null>(null);
  /** Ends what was begun last, also before its first answer. */
  const begun = useRef<AbortController | null>(null);

  useEffect(() => {
    const aborter = new AbortController();
    readContainer(database, container, aborter.signal).then(
      (answer) => setDescription(answer.container),
      (cause: unknown) => aborter.signal.aborted || setError(cause),
    );
    return () => {
      aborter.abort();
      begun.current?.abort();
      tail.current?.stop();
      tail.current = null;
    };
  }, [database, container]);

  const retention = description?.changeFeedPolicy?.retentionDuration ?? 0;
  const moment = new Date(time);
  const isTimeWrong = start === 'time' && Number.isNaN(moment.getTime());
  const begin: FeedStart = start === 'time' ? { at: 'time', time: moment } : { at: start };

  async function follow() {
    setError(null);
    setOpen(new Set());
    setIsPaused(false);
    setIsRunning(true);
    const aborter = new AbortController();
    begun.current = aborter;
    try {
      const arcs = await feedArcs(database, container, aborter.signal);
      if (aborter.signal.aborted) return;
      const from: FeedStart = mode === 'all-versions' ? { at: 'now' } : begin;
      tail.current?.stop();
      tail.current = new Tail({ database, container, mode }, arcs, from, (next) => {
        setState(next);
        if (next.isOver) setIsRunning(false);
      });
    } catch (cause) {
      if (aborter.signal.aborted) return;
      setError(cause);
      setIsRunning(false);
    }
  }

  function stop() {
    begun.current?.abort();
    tail.current?.stop();
    setIsRunning(false);
  }

  function pause() {
    tail.current?.pause(!isPaused);
    setIsPaused(!isPaused);
  }

  const toggle = (number: number) =>
    setOpen((old) => new Set(old.has(number) ? [...old].filter((one) => one !== number) : [...old, number]));

  const paths = description ? keyPaths(description) : [];
  return (
    <div class="feed">
      <div class="feed-controls">
        {retention > 0 && (
          <Field label="What comes">
            <Select value={mode} options={MODES} disabled={isRunning} onChange={setMode} />
          </Field>
        )}
        {mode === 'latest' && (
          <Field label="From">
            <Select value={start} options={STARTS} disabled={isRunning} onChange={setStart} />
          </Field>
        )}
        {mode === 'latest' && start === 'time' && (
          <Field label="Time" error={isTimeWrong ? 'A date and a time.' : null}>
            <Input type="datetime-local" step="1" value={time} disabled={isRunning} onInput={setTime} />
          </Field>
        )}
        <div class="feed-buttons">
          {isRunning ? (
            <>
              <Button onClick={pause} aria-pressed={isPaused}>
                {isPaused ? 'Go on' : 'Pause'}
              </Button>
              <Button onClick={stop}>Stop</Button>
            </>
          ) : (
            <Button kind="primary" disabled={!description || isTimeWrong} onClick={() => void follow()}>
              Follow
            </Button>
          )}
          <Button kind="ghost" disabled={!state || state.entries.length === 0} onClick={() => tail.current?.clear()}>
            Clear
          </Button>
        </div>
      </div>
      {description && <About mode={mode} retention={retention} />}
      {error !== null && <Problem error={error} />}
      {state !== null && state.error !== null && <Problem error={state.error} />}
      {!description && error === null && <Spinner label="Reading the container" />}
      {state && <Status state={state} isRunning={isRunning} isPaused={isPaused} />}
      {state && state.entries.length > 0 ? (
        <ol class="feed-list" aria-label="Changes, the newest first">
          {state.entries.map((entry) => (
            <EntryRow
              key={entry.number}
              entry={entry}
              keyPaths={paths}
              hasArcs={state.readers.length > 1}
              isOpen={open.has(entry.number)}
              onToggle={() => toggle(entry.number)}
            />
          ))}
        </ol>
      ) : (
        description && (
          <Empty title={isRunning ? 'Nothing has changed yet' : 'Nothing is being followed'}>
            {isRunning ? 'A change appears here within a second.' : 'Follow the container to see its changes as they are made.'}
          </Empty>
        )
      )}
    </div>
  );
}

function About({ mode, retention }: { mode: FeedMode; retention: number }) {
  const kept = duration(retention * 60_000).replace(/ 0 (?:s|min)$/, '');
  return (
    <p class="feed-about">
      {mode === 'all-versions'
        ? `Every create, replace, delete and expiry from now on, in the order of commits. Versions are kept for ${kept}.`
        : 'Each item as it was last written; items that were deleted do not come.'}
      {retention === 0 && ' Deletes and older versions are kept where the container’s changeFeedPolicy has a retentionDuration, which this one has not.'}
    </p>
  );
}

function Status({ state, isRunning, isPaused }: { state: TailState; isRunning: boolean; isPaused: boolean }) {
  const isBehind = state.readers.some((reader) => !reader.isAtEnd);
  const doing = !isRunning ? 'Stopped' : isPaused ? 'Paused' : isBehind ? 'Reading' : 'Following';
  return (
    <div class="feed-status">
      <p role="status">
        <span class={isRunning && !isPaused ? 'feed-light on' : 'feed-light'} aria-hidden="true" />
        {doing}: {counted(state.changes, 'change')} in {counted(state.readers.length, 'arc')}, {ru(state.charge)} RU for looking
        {state.changes > ENTRIES_MAX && `; the newest ${count(ENTRIES_MAX)} are listed`}
      </p>
      <details>
        <summary>Positions</summary>
        <div class="feed-positions" tabIndex={0} role="region" aria-label="Positions">
          <table>
            <thead>
              <tr>
                <th scope="col">Arc</th>
                <th scope="col">Partition</th>
                <th scope="col">Position</th>
                <th scope="col" class="number">
                  Changes
                </th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {state.readers.map((reader) => (
                <tr key={reader.arc.min}>
                  <th scope="row" class="mono">
                    {shortBound(reader.arc.min)} – {shortBound(reader.arc.max)}
                  </th>
                  <td>{reader.arc.partitions.join(', ')}</td>
                  <td class="mono">{reader.position ?? '–'}</td>
                  <td class="number">{count(reader.changes)}</td>
                  <td>{reader.position === null ? 'not begun' : reader.isAtEnd ? 'has everything' : 'reading'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}

/** Returns a time as the field for it has it. */
function localTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
