import { useEffect, useRef, useState } from 'preact/hooks';

export interface Task<T> {
  /** What came of the last time that it went well. */
  value: T | null;
  error: unknown;
  isBusy: boolean;
  wasCancelled: boolean;
  /** Begins, in place of what is under way. */
  run(work: (signal: AbortSignal) => Promise<T>): void;
  cancel(): void;
}

/** Something that takes its time: begun by a button, cancelled by another, and by leaving the page. */
export function useTask<T>(before: T | null = null): Task<T> {
  const [state, setState] = useState({ value: before, error: null as unknown, isBusy: false, wasCancelled: false });
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const run = (work: (signal: AbortSignal) => Promise<T>) => {
    current.current?.abort();
    const mine = new AbortController();
    current.current = mine;
    setState(({ value }) => ({ value, error: null, isBusy: true, wasCancelled: false }));
    work(mine.signal).then(
      (value) => !mine.signal.aborted && setState({ value, error: null, isBusy: false, wasCancelled: false }),
      (error: unknown) => !mine.signal.aborted && setState(({ value }) => ({ value, error, isBusy: false, wasCancelled: false })),
    );
  };
  const cancel = () => {
    current.current?.abort();
    setState(({ value }) => ({ value, error: null, isBusy: false, wasCancelled: true }));
  };
  return { ...state, run, cancel };
}
