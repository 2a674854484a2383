//! The ring of hashed keys in numbers: where an arc begins and ends, as parts of the whole ring.
//!
//! Hashes of version 2 are 126 bits in 32 hexadecimal digits, so the first digit is at most 3 and the end of the ring,
//! written `FF`, lies at 40.... Hierarchical keys have further levels behind those digits, which no picture would show.
//! Hashes of version 1 are 32-bit numbers, written as `05` and a floating-point number in groups of seven bits.

/** An arc, from the beginning of the ring (0) to its end (1). */
export interface Arc {
  from: number;
  to: number;
}

const DIGITS = 12;
const HASHES_V2 = 2 ** (4 * DIGITS - 2);
const HASHES_V1 = 2 ** 32;
const MARK_V1 = '05';

/** Tells whether bounds are those of a container with hashes of version 1: no hash of version 2 has so few digits. */
function isVersion1(bound: string): boolean {
  return bound.startsWith(MARK_V1) && bound.length < 32 && bound.length > 2;
}

/** Returns where a bound lies on the ring. */
export function place(bound: string): number {
  if (bound === '') return 0;
  if (bound.toUpperCase() === 'FF') return 1;
  if (isVersion1(bound)) return hashOfVersion1(bound) / HASHES_V1;
  const digits = bound.slice(0, DIGITS).padEnd(DIGITS, '0');
  return Math.min(1, Number.parseInt(digits, 16) / HASHES_V2);
}

export function arc(range: { minInclusive: string; maxExclusive: string }): Arc {
  return { from: place(range.minInclusive), to: place(range.maxExclusive) };
}

/** Returns a bound as short as it stays readable. */
export function shortBound(bound: string): string {
  if (bound === '') return '00';
  const digits = bound.replace(/(?:00)+$/, '') || '00';
  // The first digits of version 1 are the same in all of them.
  const length = isVersion1(bound) ? 8 : 4;
  return digits.length <= length ? digits : `${digits.slice(0, length)}…`;
}

/** Returns the hash in the middle of two bounds, in the digits that a split is told; nothing for old containers. */
export function middle(range: { minInclusive: string; maxExclusive: string }): string | null {
  if (isVersion1(range.minInclusive) || isVersion1(range.maxExclusive)) return null;
  const whole = (bound: string) => BigInt(`0x${bound === 'FF' ? '4'.padEnd(32, '0') : bound.slice(0, 32).padEnd(32, '0')}`);
  const sum = (whole(range.minInclusive) + whole(range.maxExclusive)) / 2n;
  return sum.toString(16).toUpperCase().padStart(32, '0');
}

function hashOfVersion1(bound: string): number {
  let bits = BigInt(Number.parseInt(bound.slice(2, 4), 16));
  let length = 8;
  for (let at = 4; at + 2 <= bound.length && length < 64; at += 2) {
    const group = BigInt(Number.parseInt(bound.slice(at, at + 2), 16) >> 1);
    const width = Math.min(7, 64 - length);
    bits = (bits << BigInt(width)) | (group >> BigInt(7 - width));
    length += width;
  }
  bits <<= BigInt(64 - length);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits ^ (1n << 63n));
  return view.getFloat64(0);
}
