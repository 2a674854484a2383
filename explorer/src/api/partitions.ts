//! Physical partitions: their figures, what they served lately, splitting and merging them.

import { asciiJson } from './ascii';
import { ask, segment } from './client';
import { containerPath } from './resources';

export interface Latency {
  count: number;
  p50Us: number | null;
  p99Us: number | null;
  /** How many took up to how many microseconds, the former adding up; null stands for any time. */
  upTo: [number | null, number][];
}

export type OperationKind = 'read' | 'write' | 'query' | 'script';

export interface HotKey {
  /** As JSON has it: the components of one partition key. */
  partitionKey: unknown[] | null;
  ru: number;
}

/** A physical partition. The figures are null until it was opened for the first time since the start. */
export interface Partition {
  id: string;
  minInclusive: string;
  maxExclusive: string;
  parents: string[];
  status: 'online' | 'splitting';
  node: string | null;
  progressPercent: number | null;
  items: number | null;
  bytes: number | null;
  indexBytes: number | null;
  lsn: number | null;
  provisionedRu: number | null;
  usedRuLastSecond: number | null;
  usedRuLastMinute: number | null;
  refusedLastMinute: number | null;
  requestsLastMinute: number | null;
  normalizedPercent: number | null;
  totalRu: number | null;
  totalRequests: number | null;
  totalRefused: number | null;
  hottest: HotKey[] | null;
  latencies: Record<OperationKind, Latency> | null;
}

export interface ContainerPartitions {
  database: string;
  container: string;
  rid: string;
  /** Of its own, of autoscale the most; null where it shares its database's. */
  throughput: number | null;
  shared: boolean;
  autoscaleNow: number | null;
  pending: boolean;
  mapVersion: number;
  failed: string | null;
  partitions: Partition[];
  limits: Limits;
}

/** What bounds a physical partition; servers may be started with other limits than the service has. */
export interface Limits {
  physicalPartitionRu: number;
}

/** Returns the partitions of one container, in the order of the ring. */
export async function containerPartitions(
  database: string,
  container: string,
  signal?: AbortSignal,
): Promise<ContainerPartitions> {
  const path = `/_armilla/dbs/${segment(database)}/colls/${segment(container)}/partitions`;
  const found = (await ask({ path, signal })).json<ContainerPartitions>();
  const partitions = [...found.partitions].sort((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
  return { ...found, partitions };
}

/** Returns the partition in which the items of a partition key lie. The server says so without reading any: it is free. */
export async function partitionOf(
  database: string,
  container: string,
  partitionKey: unknown[],
  signal?: AbortSignal,
): Promise<string | null> {
  const answer = await ask({
    method: 'POST',
    path: `${containerPath(database, container)}/docs`,
    body: { query: 'SELECT * FROM c', parameters: [] },
    headers: {
      'content-type': 'application/query+json',
      'x-ms-documentdb-isquery': 'true',
      'x-ms-documentdb-partitionkey': asciiJson(partitionKey),
      'x-armilla-explain': 'plan',
    },
    signal,
  });
  return answer.json<{ partitions?: { id: string }[] }>().partitions?.[0]?.id ?? null;
}

/** What partitions served, in steps of one length; the last of them ended at `end`, in seconds since 1970. */
export interface Steps {
  step: number;
  end: number;
  partitions: { id: string; used: number[]; refused: number[]; operations: number[] }[];
}

export interface History {
  seconds: Steps;
  minutes: Steps;
}

export async function history(database: string, container: string, signal?: AbortSignal): Promise<History> {
  return (await ask({ path: `${administration(database, container)}/history`, signal })).json<History>();
}

/** Begins to cut a partition in two, in the middle of its arc unless it is said where. */
export async function split(database: string, container: string, range: string, at: string | null): Promise<void> {
  const body = at === null ? { range } : { range, at };
  await ask({ method: 'POST', path: `${administration(database, container)}/split`, body });
}

/** Begins to make one partition of two neighbours. */
export async function merge(database: string, container: string, ranges: [string, string]): Promise<void> {
  await ask({ method: 'POST', path: `${administration(database, container)}/merge`, body: { ranges } });
}

export interface Node {
  name: string;
  address: string;
  version: string;
  partitions: number;
  self: boolean;
}

/** Returns the nodes that serve the account: none where one server does it alone. */
export async function nodes(signal?: AbortSignal): Promise<Node[]> {
  return (await ask({ path: '/_armilla/nodes', signal })).json<{ nodes: Node[] }>().nodes;
}

function administration(database: string, container: string): string {
  return `/_armilla/dbs/${segment(database)}/colls/${segment(container)}`;
}
