//! What a change of throughput would mean, worked out before it is made by the rules that the server has.

import type { Kind, ThroughputState, Wanted } from '../../api/offers';

/** What a container without a partition key may have at most. */
const FIXED_MAX = 10_000;
const MOST = 1_000_000;
const KB_OF_GB = 1024 * 1024;

export const STEP: Record<Kind, number> = { manual: 100, autoscale: 1_000 };
const LEAST: Record<Kind, number> = { manual: 400, autoscale: 1_000 };

export interface Piece {
  from: number;
  to: number;
  /** Whether a split would make it. */
  isNew: boolean;
}

export interface Preview {
  /** Why the server would refuse it; null if it would not. */
  problem: string | null;
  minimum: number;
  /** The arcs that there would be, in the order of the ring. */
  pieces: Piece[];
  splits: number;
  /** What each partition would have in a second. */
  share: number;
  /** Request units a second, times hours, that one hour is counted as: the least and the most. */
  hourly: [number, number];
}

/** Returns the least that throughput of a kind may be set to. For the kind that it has, the server says so itself. */
export function minimumOf(state: ThroughputState, kind: Kind): number {
  if (kind === state.kind) return state.minimum;
  const [partOfHighest, perGb] = kind === 'manual' ? [100, 1] : [10, 10];
  const byStorage = Math.ceil(state.storedKb / KB_OF_GB) * perGb;
  const least = Math.max(LEAST[kind], state.highestEver / partOfHighest, byStorage);
  return Math.ceil(Math.min(MOST, least) / STEP[kind]) * STEP[kind];
}

export function preview(state: ThroughputState, wanted: Wanted, arcs: Piece[], partitionRu: number): Preview {
  const minimum = minimumOf(state, wanted.kind);
  const needed = state.isFixed ? 1 : Math.ceil(wanted.value / partitionRu);
  const problem = problemOf(state, wanted, minimum);
  const pieces = problem === null ? cut(arcs, needed) : arcs;
  const hourly: [number, number] = [wanted.kind === 'manual' ? wanted.value : wanted.value / 10, wanted.value];
  return {
    problem,
    minimum,
    pieces,
    splits: pieces.length - arcs.length,
    share: Math.min(wanted.value / Math.max(1, pieces.length), partitionRu),
    hourly,
  };
}

function problemOf(state: ThroughputState, { kind, value }: Wanted, minimum: number): string | null {
  const format = (number: number) => number.toLocaleString('en');
  const most = state.isFixed ? FIXED_MAX : MOST;
  if (!Number.isInteger(value) || value % STEP[kind] !== 0) return `It goes in steps of ${format(STEP[kind])} RU/s.`;
  if (value < minimum) return `The least is ${format(minimum)} RU/s here.`;
  if (value > most) return `The most is ${format(most)} RU/s here.`;
  return null;
}

/** Cuts arcs as the server does, the widest first and in the middle, until there are enough. */
function cut(arcs: Piece[], needed: number): Piece[] {
  const pieces = [...arcs];
  while (pieces.length > 0 && pieces.length < needed) {
    const width = (piece: Piece) => piece.to - piece.from;
    // Arcs that differ by rounding alone are of one width, of which the first is cut.
    const widest = Math.max(...pieces.map(width)) * (1 - 1 / 65_536);
    const at = pieces.findIndex((piece) => width(piece) >= widest);
    const piece = pieces[at];
    if (!piece) break;
    const middle = (piece.from + piece.to) / 2;
    pieces.splice(at, 1, { from: piece.from, to: middle, isNew: true }, { from: middle, to: piece.to, isNew: true });
  }
  return pieces;
}
