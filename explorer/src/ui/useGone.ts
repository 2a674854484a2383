import { useEffect, useRef } from 'preact/hooks';

/** Tells what was begun here, when it ends, whether the reader has left meanwhile. */
export function useGone(): { readonly current: boolean } {
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  return isGone;
}
