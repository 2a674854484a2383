//! Where a query looks, from what was typed as its partition key.

import { isExact } from '../../api/exact';
import type { Scope } from '../../api/query';
import { readValue } from './parameters';

/** Returns the scope; an error in words where what was typed is no partition key. */
export function scopeOf(key: string | null, paths: readonly string[]): Scope | { wrong: string } {
  if (key === null) return { kind: 'all' };
  const reading = readValue(key);
  if (reading.kind === 'missing') return { wrong: 'Type the value of the partition key, or choose all partitions.' };
  if (reading.kind === 'wrong') return { wrong: `This begins like JSON and is none: ${reading.why}` };
  const { value } = reading;
  if (Array.isArray(value)) {
    return paths.length > 0 && value.length > paths.length
      ? { wrong: `The key has ${paths.length === 1 ? 'one value' : `${paths.length} values`}, not ${value.length}.` }
      : { kind: 'key', values: value };
  }
  if (typeof value === 'object' && value !== null && !isExact(value)) return { wrong: 'A partition key is a text, a number, a boolean or null.' };
  return { kind: 'key', values: [value] };
}
