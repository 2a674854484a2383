//! A query on its way: its pages, what they cost together, and when to stop.

import { type Signal, signal } from '@preact/signals';

import {
  type Explained, type IndexUse, type Metrics, type Page, type QueryAsk, queryPage, queryPlan,
} from '../../api/query';
import { session } from '../../shell/state';

/** What is asked, without the place in the pages. */
export type Asked = Omit<QueryAsk, 'continuation' | 'signal'>;

/** A page without its rows. */
export interface PageFacts {
  rows: number;
  charge: number;
  milliseconds: number;
  bytes: number;
  metrics: Metrics | null;
}

type Phase = 'idle' | 'running' | 'done' | 'cancelled' | 'failed';

export interface RunState {
  phase: Phase;
  asked: Asked | null;
  rows: unknown[];
  pages: PageFacts[];
  explained: Explained[];
  indexes: IndexUse | null;
  continuation: string | null;
  /** Why no further page is read, though there may be more. */
  full: string | null;
  error: unknown;
}

/** More rows than this make a page slow, and nobody reads them. */
const ROWS_MAX = 10_000;
const BYTES_MAX = 48 * 1024 * 1024;
const PAGES_MAX = 2_000;

const NOTHING: RunState = {
  phase: 'idle', asked: null, rows: [], pages: [], explained: [], indexes: null, continuation: null, full: null, error: null,
};

class Runner {
  readonly state: Signal<RunState> = signal(NOTHING);
  /** How the query would be answered, where it was asked for without running it. */
  readonly plan: Signal<{ asked: Asked; explained: Explained } | null> = signal(null);
  private abort: AbortController | null = null;

  /** Runs a query from its beginning. */
  async run(asked: Asked, allPages: boolean): Promise<void> {
    this.cancel();
    this.plan.value = null;
    this.state.value = { ...NOTHING, asked, phase: 'running' };
    await this.read(allPages);
  }

  /** Reads the next page of what was run last, or all that are left. */
  async goOn(allPages: boolean): Promise<void> {
    if (this.state.value.phase === 'running' || this.state.value.continuation === null) return;
    this.state.value = { ...this.state.value, phase: 'running', error: null };
    await this.read(allPages);
  }

  /** Asks how a query would be answered. */
  async explain(asked: Asked): Promise<void> {
    this.cancel();
    const abort = new AbortController();
    this.abort = abort;
    this.plan.value = null;
    this.state.value = { ...NOTHING, asked, phase: 'running' };
    try {
      const explained = await queryPlan({ ...asked, signal: abort.signal });
      if (this.abort !== abort) return;
      this.plan.value = { asked, explained };
      this.state.value = NOTHING;
    } catch (error) {
      this.fail(abort, error);
    }
  }

  /** Stops; what has come stays. */
  cancel(): void {
    const { abort } = this;
    this.abort = null;
    abort?.abort();
    if (this.state.value.phase === 'running') this.state.value = { ...this.state.value, phase: 'cancelled' };
  }

  private async read(allPages: boolean): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    try {
      for (;;) {
        const before = this.state.value;
        if (!before.asked) return;
        const page = await queryPage({ ...before.asked, continuation: before.continuation, signal: abort.signal });
        if (this.abort !== abort) return;
        const after = add(this.state.value, page);
        const goesOn = allPages && after.continuation !== null && after.full === null;
        this.state.value = goesOn ? after : { ...after, phase: 'done' };
        if (!goesOn) return;
      }
    } catch (error) {
      this.fail(abort, error);
    }
  }

  private fail(abort: AbortController, error: unknown): void {
    // Who cancelled has said so already.
    if (this.abort !== abort) return;
    this.state.value = { ...this.state.value, phase: 'failed', error };
  }
}

export type { Runner };

let last: { of: string; runner: Runner } | null = null;

/** Returns the runner of a container: the one before, with its rows, if no other container was asked since. */
export function runnerOf(database: string, container: string): Runner {
  // Rows that one session has read are not shown to the next.
  const of = JSON.stringify([session.value?.csrf, database, container]);
  if (last?.of !== of) last = { of, runner: new Runner() };
  return last.runner;
}

function add(state: RunState, page: Page): RunState {
  const rows = [...state.rows, ...page.rows];
  const pages = [...state.pages, {
    rows: page.rows.length,
    charge: page.charge,
    milliseconds: page.milliseconds,
    bytes: page.bytes,
    metrics: page.metrics,
  }];
  return {
    ...state,
    rows,
    pages,
    explained: page.explained ? [...state.explained, slim(state.explained, page.explained)] : state.explained,
    indexes: union(state.indexes, page.indexes),
    continuation: page.continuation,
    full: page.continuation === null ? null : whyFull(rows.length, pages),
  };
}

/** Leaves out how a page found its items if an earlier one told of as many partitions: it is the same, and long. */
function slim(earlier: readonly Explained[], explained: Explained): Explained {
  const isKnown = earlier.some((one) => one.partitions.length >= explained.partitions.length);
  return isKnown ? { ...explained, partitions: [] } : explained;
}

function whyFull(rows: number, pages: readonly PageFacts[]): string | null {
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0);
  if (rows >= ROWS_MAX) return `Stopped at ${rows.toLocaleString('en')} rows: this page keeps no more. The query has more rows.`;
  if (bytes >= BYTES_MAX) return 'Stopped at 48 MB of rows: this page keeps no more. The query has more rows.';
  if (pages.length >= PAGES_MAX) return `Stopped after ${PAGES_MAX.toLocaleString('en')} pages. The query has more of them.`;
  return null;
}

function union(a: IndexUse | null, b: IndexUse | null): IndexUse | null {
  if (!a || !b) return a ?? b;
  const singles = (x: string[], y: string[]) => [...new Set([...x, ...y])];
  const composites = (x: string[][], y: string[][]) => [
    ...new Map([...x, ...y].map((one) => [one.join('\n'), one])).values(),
  ];
  return {
    usedSingle: singles(a.usedSingle, b.usedSingle),
    usedComposite: composites(a.usedComposite, b.usedComposite),
    missingSingle: singles(a.missingSingle, b.missingSingle),
    missingComposite: composites(a.missingComposite, b.missingComposite),
  };
}

/** What all pages cost. */
export function totalCharge(state: RunState): number {
  return state.pages.reduce((sum, page) => sum + page.charge, 0);
}
