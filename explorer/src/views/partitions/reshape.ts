//! Splits and merges that the reader asked for: what becomes of them, told by the figures.

import { useEffect, useRef, useState } from 'preact/hooks';

import { merge, split, type ContainerPartitions } from '../../api/partitions';

export interface Reshape {
  kind: 'split' | 'merge';
  /** The partitions that there were. */
  ranges: string[];
  begun: number;
  state:
    | { is: 'running'; percent: number | null }
    | { is: 'done'; into: string[]; seconds: number }
    | { is: 'failed'; why: string };
}

export interface Reshaping {
  current: Reshape | null;
  split(range: string, at: string | null): Promise<void>;
  merge(ranges: [string, string]): Promise<void>;
  dismiss(): void;
}

export function useReshaping(container: ContainerPartitions | null, refresh: () => void): Reshaping {
  const [current, setCurrent] = useState<Reshape | null>(null);
  // A failure that was there before says nothing about this change.
  const failedBefore = useRef<string | null>(null);

  useEffect(() => {
    if (!container || current?.state.is !== 'running') return;
    const state = stateOf(current, container, failedBefore.current);
    if (JSON.stringify(state) !== JSON.stringify(current.state)) setCurrent({ ...current, state });
  }, [container, current]);

  async function begin(kind: Reshape['kind'], ranges: string[], send: () => Promise<void>) {
    failedBefore.current = container?.failed ?? null;
    const begun = performance.now();
    await send();
    setCurrent({ kind, ranges, begun, state: { is: 'running', percent: null } });
    refresh();
  }

  const { database = '', container: name = '' } = container ?? {};
  return {
    current,
    split: (range, at) => begin('split', [range], () => split(database, name, range, at)),
    merge: (ranges) => begin('merge', ranges, () => merge(database, name, ranges)),
    dismiss: () => setCurrent(null),
  };
}

function stateOf(reshape: Reshape, container: ContainerPartitions, failedBefore: string | null): Reshape['state'] {
  const isThere = (id: string) => container.partitions.some((partition) => partition.id === id);
  const into = container.partitions.filter((partition) => reshape.ranges.every((id) => partition.parents.includes(id)));
  if (!reshape.ranges.some(isThere) && into.length > 0) {
    const seconds = (performance.now() - reshape.begun) / 1000;
    return { is: 'done', into: into.map((partition) => partition.id), seconds };
  }
  if (container.failed !== null && container.failed !== failedBefore) return { is: 'failed', why: container.failed };
  const percents = container.partitions
    .filter((partition) => reshape.ranges.includes(partition.id))
    .map((partition) => partition.progressPercent)
    .filter((percent) => percent !== null);
  return { is: 'running', percent: percents.length > 0 ? Math.min(...percents) : null };
}
