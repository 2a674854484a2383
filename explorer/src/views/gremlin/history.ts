//! Scripts that were run, in the browser's own storage, for each graph by itself; the first is what the editor begins with.

export interface Run {
  text: string;
  at: number;
  charge: number | null;
  results: number | null;
}

const RUNS_MAX = 25;
/** A script longer than this is not kept. */
const TEXT_MAX = 20_000;

const place = (database: string, container: string) => `armilla.gremlin.history:${JSON.stringify([database, container])}`;

export function history(database: string, container: string): Run[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(place(database, container)) ?? '[]');
    return Array.isArray(list) ? list.filter(isRun) : [];
  } catch {
    return [];
  }
}

/** Puts a run before the others; the same script is listed once. */
export function remember(database: string, container: string, run: Run): Run[] {
  const before = history(database, container);
  if (run.text.trim() === '' || run.text.length > TEXT_MAX) return before;
  const list = [run, ...before.filter((one) => one.text.trim() !== run.text.trim())].slice(0, RUNS_MAX);
  try {
    localStorage.setItem(place(database, container), JSON.stringify(list));
  } catch {
    // Storage is full or forbidden: the page works without.
  }
  return list;
}

function isRun(value: unknown): value is Run {
  const one = value as Partial<Run> | null;
  return typeof one === 'object' && one !== null && typeof one.text === 'string' && typeof one.at === 'number';
}
