//! Whether rows make a chart, and which: a column of categories or times, and columns of numbers.

export interface ChartModel {
  /** Columns that can be the horizontal axis, the most fitting first. */
  axes: { name: string; kind: 'time' | 'category' | 'number' }[];
  /** Columns of numbers. */
  measures: string[];
}

const ROWS_MIN = 2;
export const ROWS_MAX = 2_000;
const CATEGORIES_MAX = 60;
/** So many of the rows have to have a column, so that it is worth drawing. */
const SHARE_MIN = 0.8;

const TIME = /^\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?$/;

/** Returns what can be drawn of rows; null if nothing. */
export function chartModel(rows: readonly unknown[]): ChartModel | null {
  if (rows.length < ROWS_MIN) return null;
  const objects = rows.slice(0, ROWS_MAX).filter((row): row is Record<string, unknown> =>
    typeof row === 'object' && row !== null && !Array.isArray(row));
  if (objects.length < rows.slice(0, ROWS_MAX).length * SHARE_MIN) return null;
  const names = [...new Set(objects.slice(0, 100).flatMap((row) => Object.keys(row)))].filter((name) => !name.startsWith('_'));
  const axes: ChartModel['axes'] = [];
  const measures: string[] = [];
  for (const name of names) {
    const values = objects.map((row) => row[name]).filter((value) => value !== undefined && value !== null);
    if (values.length < objects.length * SHARE_MIN) continue;
    if (values.every((value) => typeof value === 'number')) {
      measures.push(name);
      // Numbers that only grow, like years, are an axis as well.
      if (isGrowing(values as number[])) axes.push({ name, kind: 'number' });
    } else if (values.every((value) => typeof value === 'string')) {
      const texts = values as string[];
      if (texts.every((text) => TIME.test(text))) axes.push({ name, kind: 'time' });
      else if (new Set(texts).size <= CATEGORIES_MAX) axes.push({ name, kind: 'category' });
    } else if (values.every((value) => typeof value === 'boolean')) {
      axes.push({ name, kind: 'category' });
    }
  }
  const order = { time: 0, category: 1, number: 2 };
  axes.sort((a, b) => order[a.kind] - order[b.kind]);
  const isDrawable = axes.some((axis) => measures.some((measure) => measure !== axis.name));
  return isDrawable ? { axes, measures } : null;
}

function isGrowing(values: readonly number[]): boolean {
  return values.length > 2 && values.every((value, index) => index === 0 || value > (values[index - 1] ?? 0));
}

export interface Point {
  label: string;
  /** The place on an axis of times or numbers. */
  at: number;
  values: (number | null)[];
}

/** Returns the points of a chart; of rows with the same category, the values are added up. */
export function points(rows: readonly unknown[], axis: ChartModel['axes'][number], measures: readonly string[]): Point[] {
  const found = new Map<string, Point>();
  rows.slice(0, ROWS_MAX).forEach((row, index) => {
    if (typeof row !== 'object' || row === null) return;
    const record = row as Record<string, unknown>;
    const raw = record[axis.name];
    if (raw === undefined || raw === null) return;
    const label = String(raw);
    const at = axis.kind === 'time' ? timeOf(label) : axis.kind === 'number' ? Number(raw) : index;
    const values = measures.map((name) => (typeof record[name] === 'number' ? record[name] : null));
    const other = found.get(label);
    if (other) other.values = other.values.map((value, place) => (value === null ? (values[place] ?? null) : value + (values[place] ?? 0)));
    else found.set(label, { label, at, values });
  });
  const list = [...found.values()];
  return axis.kind === 'category' ? list.slice(0, CATEGORIES_MAX) : list.sort((a, b) => a.at - b.at);
}

/** Times of the database have no zone and seven places. */
function timeOf(text: string): number {
  const trimmed = text.replace(' ', 'T').replace(/(\.\d{3})\d+/, '$1');
  return Date.parse(trimmed.length > 10 && !trimmed.endsWith('Z') ? `${trimmed}Z` : trimmed);
}

/** Returns round numbers that divide a range. */
export function ticks(low: number, high: number, wanted: number): number[] {
  if (!(high > low)) return [low];
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const size = ([1, 2, 2.5, 5, 10].find((one) => one * power >= raw) ?? 10) * power;
  const list: number[] = [];
  for (let value = Math.ceil(low / size) * size; value <= high + size * 1e-9; value += size) {
    list.push(Math.abs(value) < size * 1e-9 ? 0 : value);
  }
  return list;
}
