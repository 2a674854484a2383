//! Figures of all containers, for the pages of the account and of databases.

import { ask } from './client';

/** Figures of a container, or of several together. */
export interface Figures {
  database: string;
  container: string;
  containers: number;
  partitions: number;
  items: number;
  bytes: number;
  usedLastMinute: number;
  /** Partitions that nobody has opened since the server's start: they say nothing of what they hold. */
  unknown: number;
}

interface Told {
  database: string;
  container: string;
  partitions: {
    items: number | null;
    bytes: number | null;
    indexBytes: number | null;
    usedRuLastMinute: number | null;
  }[];
}

/** Returns the figures of every container. */
export async function accountFigures(signal?: AbortSignal): Promise<Figures[]> {
  const answer = await ask({ path: '/_armilla/partitions', signal });
  return answer.json<{ containers: Told[] }>().containers.map(({ database, container, partitions }) => ({
    database,
    container,
    containers: 1,
    partitions: partitions.length,
    items: total(partitions.map((one) => one.items)),
    bytes: total(partitions.flatMap((one) => [one.bytes, one.indexBytes])),
    usedLastMinute: total(partitions.map((one) => one.usedRuLastMinute)),
    unknown: partitions.filter((one) => one.items === null).length,
  }));
}

/** Returns the sum of several containers. */
export function figuresOf(all: readonly Figures[]): Figures {
  const sum = (of: (one: Figures) => number) => total(all.map(of));
  return {
    database: '',
    container: '',
    containers: sum((one) => one.containers),
    partitions: sum((one) => one.partitions),
    items: sum((one) => one.items),
    bytes: sum((one) => one.bytes),
    usedLastMinute: sum((one) => one.usedLastMinute),
    unknown: sum((one) => one.unknown),
  };
}

function total(numbers: readonly (number | null)[]): number {
  return numbers.reduce<number>((so, one) => so + (one ?? 0), 0);
}
