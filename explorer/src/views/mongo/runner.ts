//! One question at a time: its parts as they come, what they cost, and where the rest is.

import { signal, type Signal } from '@preact/signals';
import type { Document, Long } from 'bson';

import { beginSession, dropCursor, endSession, explain, first, more, type Batch, type MongoSession, type Question } from '../../api/mongo';
import { relaxed } from './extended';

export interface RunState {
  isRunning: boolean;
  /** Documents in relaxed Extended JSON. */
  rows: unknown[];
  batches: number;
  charge: number | null;
  milliseconds: number;
  cursor: Long | null;
  /** How the question would be answered; null if its documents were asked for. */
  plan: Document | null;
  error: unknown;
  isDone: boolean;
}

const NOTHING: RunState = {
  isRunning: false, rows: [], batches: 0, charge: null, milliseconds: 0, cursor: null, plan: null, error: null, isDone: false,
};

/** More than this is not kept in the page. */
export const ROWS_MAX = 20_000;

export interface Runner {
  state: Signal<RunState>;
  /** `read` may throw for what cannot be read. */
  run(read: () => Promise<Question>, batchSize: number): Promise<void>;
  next(batchSize: number): Promise<void>;
  explain(read: () => Promise<Question>): Promise<void>;
  cancel(): void;
  /** Gives up what the server keeps for the page. */
  end(): void;
}

export function runnerOf(database: string, collection: string): Runner {
  const state = signal<RunState>(NOTHING);
  let session: Promise<MongoSession> | null = null;
  const begun = () => {
    session ??= beginSession(database).catch((error: unknown) => {
      // The next question tries it anew.
      session = null;
      throw error;
    });
    return session;
  };
  let abort = new AbortController();

  /** Does one thing in the place of what is under way. */
  const during = async (work: (session: MongoSession, signal: AbortSignal) => Promise<Partial<RunState>>) => {
    abort.abort();
    abort = new AbortController();
    const mine = abort;
    state.value = { ...state.value, isRunning: true, error: null };
    try {
      const found = await work(await begun(), mine.signal);
      if (!mine.signal.aborted) state.value = { ...state.value, ...found, isRunning: false };
    } catch (error) {
      if (!mine.signal.aborted) state.value = { ...state.value, error, isRunning: false };
    }
  };

  const leave = () => {
    const { cursor } = state.value;
    if (cursor) void session?.then((one) => dropCursor(one, collection, cursor)).catch(() => undefined);
  };

  const add = async (batch: Batch): Promise<Partial<RunState>> => {
    const before = state.value;
    const charge = batch.charge === null ? before.charge : (before.charge ?? 0) + batch.charge;
    return {
      rows: [...before.rows, ...(await relaxed(batch.documents))],
      batches: before.batches + 1,
      charge,
      milliseconds: before.milliseconds + batch.milliseconds,
      cursor: batch.cursor,
      isDone: true,
    };
  };

  return {
    state,
    async run(read, batchSize) {
      leave();
      state.value = NOTHING;
      await during(async (one, signal) => add(await first(one, collection, await read(), batchSize, signal)));
    },
    async next(batchSize) {
      const { cursor } = state.value;
      if (cursor) await during(async (one, signal) => add(await more(one, collection, cursor, batchSize, signal)));
    },
    async explain(read) {
      leave();
      state.value = NOTHING;
      await during(async (one, signal) => ({ plan: await explain(one, collection, await read(), signal) }));
    },
    cancel() {
      abort.abort();
      state.value = { ...state.value, isRunning: false };
    },
    end() {
      abort.abort();
      // A session that ends takes its cursors along.
      void session?.then(endSession).catch(() => undefined);
    },
  };
}
