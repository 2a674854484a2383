//! How figures are written.

const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const units = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Request units: two places, none for thousands of them. */
export function ru(n: number): string {
  return Math.abs(n) >= 10_000 ? plain.format(n) : units.format(n);
}

const SIZES = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** A size, in steps of 1,024. */
export function bytes(n: number): string {
  let step = 0;
  let left = n;
  while (Math.abs(left) >= 1024 && step < SIZES.length - 1) {
    left /= 1024;
    step += 1;
  }
  const places = step === 0 || left >= 100 ? 0 : left >= 10 ? 1 : 2;
  return `${left.toFixed(places)} ${step === 0 && n === 1 ? 'byte' : SIZES[step]}`;
}

/** A number of things. */
export function count(n: number): string {
  return plain.format(n);
}

/** A number of things with their name: "1 item", "1,200 items". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${plain.format(n)} ${n === 1 ? one : many}`;
}

/** A duration. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

const STEPS: [number, string][] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** How long ago something was; a number is in milliseconds since 1970. */
export function ago(date: Date | number): string {
  const seconds = Math.max(0, (Date.now() - Number(date)) / 1000);
  if (seconds < 5) return 'just now';
  if (seconds >= 30 * 86_400) return new Date(date).toLocaleDateString();
  for (const [length, name] of STEPS) {
    if (seconds >= length) return `${counted(Math.floor(seconds / length), name)} ago`;
  }
  return `${Math.floor(seconds)} s ago`;
}
