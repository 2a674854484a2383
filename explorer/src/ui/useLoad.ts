import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  value: T | null;
  error: unknown;
  isBusy: boolean;
  reload(): void;
}

/** Loads something, and again when one of `inputs` changes; an answer that comes too late is dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; error: unknown; isBusy: boolean }>({ value: null, error: null, isBusy: true });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, isBusy: true }));
    latest.current(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ value, error: null, isBusy: false }),
      (error: unknown) => !abort.signal.aborted && setState((before) => ({ value: before.value, error, isBusy: false })),
    );
    return () => abort.abort();
  }, [...inputs, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, reload };
}

/** Calls something every few seconds while the page is seen. */
export function useEvery(milliseconds: number, call: () => void): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && latest.current(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}
