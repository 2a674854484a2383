//! Databases, containers and offers: typed calls.

import { ask, segment, type Answer } from './client';

export interface Resource {
  id: string;
  _rid: string;
  _self: string;
  _etag: string;
  /** Seconds since 1970. */
  _ts: number;
}

export type Database = Resource;

export interface PartitionKeyDefinition {
  paths: string[];
  kind?: 'Hash' | 'MultiHash' | 'Range';
  version?: number;
  systemKey?: boolean;
}

export interface CompositePath {
  path: string;
  order?: 'ascending' | 'descending';
}

export interface IndexingPolicy {
  indexingMode?: string;
  automatic?: boolean;
  includedPaths?: { path: string }[];
  excludedPaths?: { path: string }[];
  compositeIndexes?: CompositePath[][];
  spatialIndexes?: { path: string; types?: string[] }[];
  [member: string]: unknown;
}

/** A container as the server describes it. Members that are not named here are kept when it is replaced. */
export interface Container extends Resource {
  partitionKey?: PartitionKeyDefinition;
  indexingPolicy: IndexingPolicy;
  uniqueKeyPolicy?: { uniqueKeys: { paths: string[] }[] };
  conflictResolutionPolicy?: { mode?: string; conflictResolutionPath?: string };
  changeFeedPolicy?: { retentionDuration?: number };
  computedProperties?: { name: string; query: string }[];
  defaultTtl?: number;
  /** Whether objects of extended JSON stand for types that JSON lacks, as in collections of the MongoDB API. */
  extendedTypes?: boolean;
  [member: string]: unknown;
}

export interface Offer extends Resource {
  offerResourceId: string;
  resource: string;
  content: {
    offerThroughput: number;
    offerAutopilotSettings?: { maxThroughput: number } | null;
    offerMinimumThroughputParameters?: { maxThroughputEverProvisioned?: number };
  };
}

/** Throughput given at creation; null where it is shared, or the server's default. */
export type Throughput = { manual: number } | { autoscaleMax: number } | null;

export const databasePath = (database: string) => `/dbs/${segment(database)}`;
export const containerPath = (database: string, container: string) =>
  `${databasePath(database)}/colls/${segment(container)}`;

/** How many a page of a list has. */
const PAGE = 200;

/** Reads a feed to its end, a page at a time. */
async function all<R>(path: string, member: string, signal?: AbortSignal): Promise<R[]> {
  const rows: R[] = [];
  let continuation: string | null = null;
  do {
    const headers: Record<string, string> = { 'x-ms-max-item-count': String(PAGE) };
    if (continuation) headers['x-ms-continuation'] = continuation;
    const answer: Answer = await ask({ path, headers, retries: 5, signal });
    rows.push(...(answer.json<Record<string, R[]>>()[member] ?? []));
    continuation = answer.continuation;
  } while (continuation);
  return rows;
}

export function listDatabases(signal?: AbortSignal): Promise<Database[]> {
  return all('/dbs', 'Databases', signal);
}

export function listContainers(database: string, signal?: AbortSignal): Promise<Container[]> {
  return all(`${databasePath(database)}/colls`, 'DocumentCollections', signal);
}

export async function listOffers(signal?: AbortSignal): Promise<Offer[]> {
  return all('/offers', 'Offers', signal);
}

export interface ContainerAnswer {
  container: Container;
  /** In hundredths, of how far a changed indexing policy has been carried out; null if the server does not say. */
  indexProgress: number | null;
  /** Figures that the server has, by name: documentsCount, documentsSize and so on. */
  usage: Map<string, number>;
}

export async function readContainer(database: string, container: string, signal?: AbortSignal): Promise<ContainerAnswer> {
  const answer = await ask({
    path: containerPath(database, container),
    headers: { 'x-ms-documentdb-populatequotainfo': 'true' },
    signal,
  });
  return containerAnswer(answer);
}

function containerAnswer(answer: Answer): ContainerAnswer {
  const progress = answer.headers.get('x-ms-documentdb-collection-index-transformation-progress');
  const usage = new Map<string, number>();
  for (const pair of (answer.headers.get('x-ms-resource-usage') ?? '').split(';')) {
    const [name, value] = pair.split('=');
    if (name && value !== undefined && value !== '') usage.set(name, Number(value));
  }
  return {
    container: answer.json<Container>(),
    indexProgress: progress === null ? null : Number(progress),
    usage,
  };
}

function throughputHeaders(throughput: Throughput): Record<string, string> {
  if (throughput === null) return {};
  if ('manual' in throughput) return { 'x-ms-offer-throughput': String(throughput.manual) };
  return { 'x-ms-cosmos-offer-autopilot-settings': JSON.stringify({ maxThroughput: throughput.autoscaleMax }) };
}

export async function createDatabase(id: string, throughput: Throughput): Promise<Database> {
  const answer = await ask({ method: 'POST', path: '/dbs', body: { id }, headers: throughputHeaders(throughput) });
  return answer.json<Database>();
}

export async function deleteDatabase(id: string): Promise<void> {
  await ask({ method: 'DELETE', path: databasePath(id) });
}

export type NewContainer = Omit<Partial<Container>, keyof Resource> & { id: string };

export async function createContainer(database: string, body: NewContainer, throughput: Throughput): Promise<Container> {
  const path = `${databasePath(database)}/colls`;
  const answer = await ask({ method: 'POST', path, body, headers: throughputHeaders(throughput) });
  return answer.json<Container>();
}

export async function replaceContainer(database: string, body: NewContainer, etag?: string): Promise<ContainerAnswer> {
  const headers: Record<string, string> = etag ? { 'if-match': etag } : {};
  return containerAnswer(await ask({ method: 'PUT', path: containerPath(database, body.id), body, headers }));
}

export async function deleteContainer(database: string, container: string): Promise<void> {
  await ask({ method: 'DELETE', path: containerPath(database, container) });
}
