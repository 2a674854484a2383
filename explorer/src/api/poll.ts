//! Asking again and again, but only while somebody looks.

import { useEffect, useRef, useState } from 'preact/hooks';

/** No view asks more often than this. */
export const SECOND = 1_000;

export interface Polled<T> {
  /** What the last answer said; it stays while a later one fails. */
  value: T | null;
  error: unknown;
  /** Asks at once, and goes on from there. */
  refresh(): void;
}

/**
 * Asks now and then every so often while the view is there and its tab is shown. The next question waits for the answer
 * to the last, so a slow server is not asked twice at a time. What `key` tells apart is asked anew.
 */
export function usePoll<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  every: number = SECOND,
  isOn = true,
): Polled<T> {
  const [state, setState] = useState<{ key: string; value: T | null; error: unknown }>({ key, value: null, error: null });
  const [turn, setTurn] = useState(0);
  const reader = useRef(read);
  reader.current = read;

  useEffect(() => {
    if (!isOn) return;
    const aborter = new AbortController();
    const wait = Math.max(SECOND, every);
    let timer = 0;
    let isAsking = false;

    async function step() {
      window.clearTimeout(timer);
      if (isAsking || document.hidden || aborter.signal.aborted) return;
      isAsking = true;
      try {
        const value = await reader.current(aborter.signal);
        if (!aborter.signal.aborted) setState({ key, value, error: null });
      } catch (error) {
        if (!aborter.signal.aborted) setState((old) => ({ key, value: old.key === key ? old.value : null, error }));
      } finally {
        isAsking = false;
        if (!aborter.signal.aborted) timer = window.setTimeout(step, wait);
      }
    }

    const onShown = () => void step();
    document.addEventListener('visibilitychange', onShown);
    void step();
    return () => {
      aborter.abort();
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', onShown);
    };
  }, [key, every, isOn, turn]);

  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : null,
    error: isCurrent ? state.error : null,
    refresh: () => setTurn((count) => count + 1),
  };
}
