//! Items as they are loaded: a page at a time, as the reader scrolls.

import { useEffect, useRef, useState } from 'preact/hooks';

import { readPage, type Item } from '../../api/items';

/** How many items a page has. */
const PAGE = 100;

/** After so many pages without a match the reader decides whether to go on. */
const EMPTY_PAGES_MAX = 20;

export interface Pages {
  items: readonly Item[];
  error: unknown;
  isBusy: boolean;
  /** Whether there is nothing beyond what was loaded. */
  isComplete: boolean;
  /** Nothing was found for a while, and there is more to look through. */
  isPaused: boolean;
  requests: number;
  charge: number;
  lastCharge: number;
  lastMilliseconds: number;
  lastCount: number;
}

const NOTHING: Pages = {
  items: [],
  error: null,
  isBusy: false,
  isComplete: false,
  isPaused: false,
  requests: 0,
  charge: 0,
  lastCharge: 0,
  lastMilliseconds: 0,
  lastCount: 0,
};

export interface Feed extends Pages {
  /** Loads the next page, if there is one and none is on its way, and nothing speaks against it. */
  more(): void;
  /** Loads the next page though the last one failed or found nothing. */
  goOn(): void;
  stop(): void;
  /** Begins anew. */
  reload(): void;
  /** Shows another state of an item, or takes it away; nothing happens where the list does not have it. */
  put(before: Item, after: Item | null): void;
  /** Shows an item before all others. */
  add(item: Item): void;
}

export function usePages(database: string, container: string, filter: string): Feed {
  const [pages, setPages] = useState<Pages>(NOTHING);
  const [round, setRound] = useState(0);
  const state = useRef({ continuation: null as string | null, abort: new AbortController(), isBusy: true, isComplete: false });

  const load = async () => {
    const mine = state.current;
    if (mine.isBusy || mine.isComplete) return;
    mine.isBusy = true;
    setPages((before) => ({ ...before, isBusy: true, isPaused: false, error: null }));
    try {
      for (let empty = 0; ; empty += 1) {
        const page = await readPage({
          database,
          container,
          filter,
          continuation: mine.continuation,
          count: PAGE,
          signal: mine.abort.signal,
        });
        // Another filter may have taken its place meanwhile.
        if (state.current !== mine) return;
        mine.continuation = page.continuation;
        mine.isComplete = page.continuation === null;
        const goesOn = page.items.length === 0 && !mine.isComplete && empty < EMPTY_PAGES_MAX;
        mine.isBusy = goesOn;
        setPages((before) => ({
          items: page.items.length > 0 ? [...before.items, ...page.items] : before.items,
          error: null,
          isBusy: goesOn,
          isComplete: mine.isComplete,
          isPaused: page.items.length === 0 && !mine.isComplete && !goesOn,
          requests: before.requests + 1,
          charge: before.charge + page.charge,
          lastCharge: page.charge,
          lastMilliseconds: page.milliseconds,
          lastCount: page.items.length,
        }));
        if (!goesOn) return;
      }
    } catch (error) {
      mine.isBusy = false;
      if (state.current !== mine) return;
      // Who stopped it knows that; what was loaded stays.
      const isStopped = mine.abort.signal.aborted;
      if (isStopped) mine.abort = new AbortController();
      setPages((before) => ({ ...before, isBusy: false, isPaused: isStopped, error: isStopped ? null : error }));
    }
  };

  useEffect(() => {
    const mine = { continuation: null, abort: new AbortController(), isBusy: false, isComplete: false };
    state.current = mine;
    setPages(NOTHING);
    void load();
    return () => {
      // Another state takes its place before the request ends, so that its end is not shown.
      state.current = { ...mine, abort: new AbortController() };
      mine.abort.abort();
    };
  }, [database, container, filter, round]);

  return {
    ...pages,
    more: () => {
      if (!pages.error && !pages.isPaused) void load();
    },
    goOn: () => void load(),
    stop: () => state.current.abort.abort(),
    reload: () => setRound((before) => before + 1),
    put: (before, after) =>
      setPages((old) => {
        const at = rowOf(old.items, before);
        if (at === null) return old;
        const items = [...old.items];
        if (after) items[at] = after;
        else items.splice(at, 1);
        return { ...old, items };
      }),
    add: (item) => setPages((before) => ({ ...before, items: [item, ...before.items] })),
  };
}

/** Returns where an item stands in a list, in whatever state; null where it does not. */
export function rowOf(items: readonly Item[], item: Item): number | null {
  const at = items.findIndex((one) => one.value['_rid'] === item.value['_rid']);
  return at < 0 ? null : at;
}
