//! JSON values that are typed in, one in a row, each with its type.

export type ValueType = 'text' | 'number' | 'boolean' | 'null' | 'missing' | 'json';

export interface TypedValue {
  type: ValueType;
  text: string;
}

export const TEXT: TypedValue = { type: 'text', text: '' };

/** A value, or why it is none. */
export type Parsed = { value: unknown } | { wrong: string };

export function parse({ type, text }: TypedValue): Parsed {
  switch (type) {
    case 'text':
      return { value: text };
    case 'number': {
      const number = Number(text);
      return text.trim() === '' || !Number.isFinite(number) ? { wrong: 'Not a number.' } : { value: number };
    }
    case 'boolean':
      return { value: text === 'true' };
    case 'null':
      return { value: null };
    // How partition keys say that an item lacks the property.
    case 'missing':
      return { value: {} };
    case 'json':
      try {
        return { value: JSON.parse(text) as unknown };
      } catch (error) {
        return { wrong: error instanceof Error ? error.message : 'Not JSON.' };
      }
  }
}

/** Returns all values, or null if one of them is none. */
export function parseAll(rows: TypedValue[]): unknown[] | null {
  const values = rows.map(parse);
  return values.every((one) => 'value' in one) ? values.map((one) => ('value' in one ? one.value : null)) : null;
}
