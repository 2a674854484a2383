//! Which lines of two texts differ.

export interface DiffLine {
  text: string;
  isOther: boolean;
}

/** Beyond so many lines apart the middle is shown as different as a whole. */
const LINES_MAX = 1500;

/** Returns the lines of both texts; those that only one of them has are marked. */
export function diff(left: string, right: string): [DiffLine[], DiffLine[]] {
  const [a, b] = [left.split('\n'), right.split('\n')];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [keptA, keptB] = common(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const mark = (lines: string[], kept: ReadonlySet<number>) =>
    lines.map((text, at) => ({ text, isOther: at >= head && at < lines.length - tail && !kept.has(at - head) }));
  return [mark(a, keptA), mark(b, keptB)];
}

/** Returns the places of the longest sequence of lines that both have. */
function common(a: string[], b: string[]): [Set<number>, Set<number>] {
  const kept: [Set<number>, Set<number>] = [new Set(), new Set()];
  if (a.length > LINES_MAX || b.length > LINES_MAX) return kept;
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      kept[0].add(i);
      kept[1].add(j);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return kept;
}
