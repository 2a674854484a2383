//! JSON whose integers keep all their digits: the server has 64 bits for them, JavaScript's numbers have 53.

interface Source {
  source?: string;
}

/** What newer browsers know; in others, long integers are rounded as everywhere in JavaScript. */
const { rawJSON: raw, isRawJSON } = JSON as {
  rawJSON?: (text: string) => unknown;
  isRawJSON?: (value: unknown) => boolean;
};

/**
 * Reads JSON. An integer that no number can hold becomes an object that is written again with all its digits, by
 * JSON.stringify as well.
 */
export function parseExact(text: string): unknown {
  if (!raw || !/\d{16}/.test(text)) return JSON.parse(text);
  const keep = (_: string, value: unknown, { source }: Source) =>
    typeof value === 'number' && source !== undefined && /^-?\d{16,}$/.test(source) && String(value) !== source
      ? raw(source)
      : value;
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}

/** Whether a value is such an integer, though it looks like an object. */
export function isExact(value: unknown): boolean {
  return isRawJSON?.(value) ?? false;
}
