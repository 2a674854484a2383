//! What every part of the page shares: the session, the place, and what would be lost by leaving it.

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { session } from '../api/session';
import { confirm } from '../ui/confirm';
import { href, parse, type Route } from './route';

export { session } from '../api/session';
export { href, type ContainerView, type Route } from './route';

/** Where the reader is. */
export const route = signal<Route>(parse(location.hash));

/** Goes to another place, after a question if something would be lost. */
export function navigate(to: Route | string): void {
  location.hash = typeof to === 'string' ? to : href(to);
}

/** Goes to another place without a trace of this one in the history: after it was deleted, or when only its rest changed. */
export function replace(to: Route): void {
  history.replaceState(null, '', href(to));
  current = location.hash;
  route.value = to;
}

/**
 * Tells whether the reader may change data ("write": items, scripts) or the account ("manage": databases, containers, users,
 * throughput). What a resource token may do is known to the server alone: it may try.
 */
export function can(kind: 'write' | 'manage'): boolean {
  const access = session.value?.access;
  return access === 'full' || (access === 'token' && kind === 'write');
}

const unsaved = new Set<{ what: string }>();

/** Says that leaving would lose something, as long as `isUnsaved` holds: the reader is asked before. */
export function useUnsaved(isUnsaved: boolean, what: string): void {
  const entry = useRef({ what });
  entry.current.what = what;
  useEffect(() => {
    if (!isUnsaved) return;
    const mine = entry.current;
    unsaved.add(mine);
    return () => void unsaved.delete(mine);
  }, [isUnsaved]);
}

/** Asks whether what is unsaved may be lost; true at once if there is nothing. */
export async function mayLeave(): Promise<boolean> {
  if (unsaved.size === 0) return true;
  const list = [...unsaved].map((one) => one.what).join(', ');
  return confirm({
    title: 'Leave without saving?',
    text: `Not saved yet: ${list}. Leaving this page discards it.`,
    action: 'Discard and leave',
    danger: true,
  });
}

let current = location.hash;

addEventListener('hashchange', () => {
  const wanted = location.hash;
  if (wanted === current) return;
  const go = () => {
    current = location.hash;
    route.value = parse(current);
  };
  if (unsaved.size === 0) {
    go();
    return;
  }
  history.replaceState(null, '', current || '#/');
  void mayLeave().then((may) => {
    if (!may) return;
    unsaved.clear();
    history.pushState(null, '', wanted);
    go();
  });
});

addEventListener('beforeunload', (event) => {
  if (unsaved.size > 0) event.preventDefault();
});
