//! What stands in the editors of the view, kept for each collection by itself.

export type Mode = 'find' | 'aggregate';

export interface Draft {
  mode: Mode;
  filter: string;
  projection: string;
  sort: string;
  limit: string;
  skip: string;
  pipeline: string;
}

export const FIRST: Draft = {
  mode: 'find',
  filter: '{}',
  projection: '',
  sort: '',
  limit: '',
  skip: '',
  pipeline: '[\n  { "$match": {} },\n  { "$limit": 20 }\n]',
};

/** A text longer than this is not kept. */
const TEXT_MAX = 40_000;

const place = (database: string, container: string) => `armilla.mongo.draft:${JSON.stringify([database, container])}`;

export function draftOf(database: string, container: string): Draft {
  try {
    const kept = JSON.parse(localStorage.getItem(place(database, container)) ?? '{}') as Partial<Record<keyof Draft, unknown>>;
    const text = (name: keyof Draft) => (typeof kept[name] === 'string' ? kept[name] : FIRST[name]);
    return {
      mode: kept.mode === 'aggregate' ? 'aggregate' : 'find',
      filter: text('filter'),
      projection: text('projection'),
      sort: text('sort'),
      limit: text('limit'),
      skip: text('skip'),
      pipeline: text('pipeline'),
    };
  } catch {
    return FIRST;
  }
}

export function keepDraft(database: string, container: string, draft: Draft): void {
  const text = JSON.stringify(draft);
  if (text.length > TEXT_MAX) return;
  try {
    localStorage.setItem(place(database, container), text);
  } catch {
    // Storage is full or forbidden: the page works without.
  }
}
