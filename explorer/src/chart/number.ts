//! Numbers at axes and in legends, where there is little room.

const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** Writes a number with at most two decimals, and none that would say nothing. */
export function compact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1_000_000) return `${fine.format(value / 1_000_000)} M`;
  return (size >= 100 ? plain : fine).format(value);
}
