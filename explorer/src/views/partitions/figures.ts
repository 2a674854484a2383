//! What the views of partitions work out of the figures that the server tells.

import type { ContainerPartitions, Node, Partition } from '../../api/partitions';

/** How near a partition is to what it may use. */
export type Level = 'calm' | 'busy' | 'full';

/** From this part of its share on, a partition is busy. */
const BUSY = 0.7;

/** Returns which part of its share a partition used in the last second; more than 1 is a debt to the next ones. */
export function usedPart(partition: Partition): number {
  const { usedRuLastSecond: used, provisionedRu: share } = partition;
  return used === null || !share ? 0 : used / share;
}

export function level(partition: Partition): Level {
  const part = usedPart(partition);
  if (part >= 1) return 'full';
  return part >= BUSY ? 'busy' : 'calm';
}

/** Returns the bytes of items and index; null where they were not counted yet. */
export function stored(partition: Partition): number | null {
  return partition.bytes === null ? null : partition.bytes + (partition.indexBytes ?? 0);
}

export interface Totals {
  used: number;
  refused: number;
  items: number;
  stored: number;
  largest: number;
}

export function totals(container: ContainerPartitions): Totals {
  const sum = (of: (partition: Partition) => number | null) =>
    container.partitions.reduce((all, partition) => all + (of(partition) ?? 0), 0);
  return {
    used: sum((partition) => partition.usedRuLastSecond),
    refused: sum((partition) => partition.refusedLastMinute),
    items: sum((partition) => partition.items),
    stored: sum(stored),
    largest: Math.max(0, ...container.partitions.map((partition) => stored(partition) ?? 0)),
  };
}

/** Returns what all partitions together may use in a second; null while it is not known. */
export function provisioned(container: ContainerPartitions): number | null {
  if (container.throughput !== null) return container.throughput;
  const shares = container.partitions.map((partition) => partition.provisionedRu).filter((share) => share !== null);
  return shares.length === container.partitions.length ? shares.reduce((all, share) => all + share, 0) : null;
}

export function isOpened(partition: Partition): boolean {
  return partition.items !== null;
}

/** Writes a partition key as its users write it: one component by itself, several in brackets. */
export function keyText(key: unknown[] | null): string {
  if (key === null) return '–';
  return JSON.stringify(key.length === 1 ? key[0] : key);
}

/** Writes a duration that was measured in microseconds. */
export function duration(microseconds: number | null): string {
  if (microseconds === null) return '–';
  if (microseconds < 1_000) return `${microseconds} µs`;
  const milliseconds = microseconds / 1_000;
  return milliseconds < 1_000 ? `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** Returns what people know a node by: its address, while it is among the nodes that are told. */
export function nodeText(nodes: Node[], name: string | null): string {
  if (name === null) return '–';
  const node = nodes.find((one) => one.name === name);
  return node ? `${node.address}${node.self ? ' (asked)' : ''}` : name.slice(0, 8);
}
