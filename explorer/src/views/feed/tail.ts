//! Following a feed: one reader for each arc, which goes on where its last page ended.

import { ApiError, pause } from '../../api/client';
import { feedPage, type Change, type FeedArc, type FeedMode, type FeedStart, type Item } from '../../api/feed';

/** A change as it is listed. */
export interface Entry extends Change {
  number: number;
  arc: FeedArc;
  /** The state before: of the feed, or as an earlier change here had it; null where neither is known. */
  before: Item | null;
}

export interface ReaderState {
  arc: FeedArc;
  position: string | null;
  /** Whether the reader has everything that there is. */
  isAtEnd: boolean;
  changes: number;
}

export interface TailState {
  entries: Entry[];
  readers: ReaderState[];
  changes: number;
  charge: number;
  /** What the last question met with; null once one was answered. */
  error: unknown;
  /** Whether nothing more is asked, for the error. */
  isOver: boolean;
}

export const ENTRIES_MAX = 300;
/** Items whose newest state is remembered, to tell what the next change changes. */
const KNOWN_MAX = 2_000;
const PAGE_SIZE = 50;
const IDLE_MS = 1_000;
/** Between pages that follow each other: who reads from the beginning leaves something for others. */
const BUSY_MS = 200;

const THROTTLED = 429;
/** After these it is asked again; none at all is what a server that is being started again answers. */
const PASSING = [0, THROTTLED, 503];

export class Tail {
  private readonly aborter = new AbortController();
  private readonly known = new Map<string, Item>();
  private state: TailState;
  private isPaused = false;
  private number = 0;

  constructor(
    private readonly place: { database: string; container: string; mode: FeedMode },
    arcs: FeedArc[],
    start: FeedStart,
    private readonly onState: (state: TailState) => void,
  ) {
    const readers = arcs.map((arc) => ({ arc, position: null, isAtEnd: false, changes: 0 }));
    this.state = { entries: [], readers, changes: 0, charge: 0, error: null, isOver: false };
    onState(this.state);
    for (const index of arcs.keys()) void this.follow(index, start);
  }

  stop(): void {
    this.aborter.abort();
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
  }

  /** Empties the list; the readers stay where they are. */
  clear(): void {
    this.set({ entries: [] });
  }

  private set(change: Partial<TailState>): void {
    this.state = { ...this.state, ...change };
    this.onState(this.state);
  }

  private async follow(index: number, start: FeedStart): Promise<void> {
    const { signal } = this.aborter;
    const { database, container, mode } = this.place;
    try {
      for (;;) {
        const reader = this.state.readers[index];
        if (!reader) return;
        if (this.isPaused || document.hidden) {
          await pause(IDLE_MS, signal);
          continue;
        }
        const request = { mode, arc: reader.arc, from: reader.position ?? start, pageSize: PAGE_SIZE };
        try {
          const page = await feedPage(database, container, request, signal);
          this.take(index, page.changes, page.position, page.isEnd, page.charge);
          await pause(page.isEnd ? IDLE_MS : BUSY_MS, signal);
        } catch (error) {
          // A container that is busy, or a server that is being started again, is asked once more later.
          if (!(error instanceof ApiError) || !PASSING.includes(error.status)) throw error;
          if (error.status !== THROTTLED) this.set({ error });
          await pause(Math.max(IDLE_MS, error.retryAfterMs ?? 0), signal);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      this.stop();
      this.set({ error, isOver: true });
    }
  }

  private take(index: number, changes: Change[], position: string, isAtEnd: boolean, charge: number): void {
    const readers = this.state.readers.map((reader, at) =>
      at === index ? { ...reader, position, isAtEnd, changes: reader.changes + changes.length } : reader,
    );
    const arc = readers[index]?.arc;
    const entries = arc ? changes.map((change) => this.entry(change, arc)).reverse() : [];
    this.set({
      readers,
      error: null,
      charge: this.state.charge + charge,
      changes: this.state.changes + changes.length,
      ...(entries.length > 0 && { entries: newestFirst([...entries, ...this.state.entries]).slice(0, ENTRIES_MAX) }),
    });
  }

  private entry(change: Change, arc: FeedArc): Entry {
    const rid = String(change.current?.['_rid'] ?? change.previous?.['_rid'] ?? '');
    const before = change.previous ?? this.known.get(rid) ?? null;
    this.known.delete(rid);
    if (change.current && rid !== '') this.known.set(rid, change.current);
    if (this.known.size > KNOWN_MAX) {
      // The one that changed the longest time ago.
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
    this.number += 1;
    return { ...change, arc, before, number: this.number };
  }
}

/** Arcs answer at their own times: what they tell is put in the order in which it was written, as far as seconds say. */
function newestFirst(entries: Entry[]): Entry[] {
  return entries.sort((a, b) => b.time - a.time || b.number - a.number);
}
