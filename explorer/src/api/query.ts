//! Queries of items: one page at a time, with what the server tells about its work.

import { type Answer, ApiError, ask, segment } from './client';
import { parseExact } from './exact';

export interface Parameter {
  name: string;
  value: unknown;
}

/** Where a query looks. */
export type Scope =
  | { kind: 'all' }
  /** The values of a partition key. */
  | { kind: 'key'; values: unknown[] }
  /** A physical partition. */
  | { kind: 'range'; id: string };

export interface QueryAsk {
  database: string;
  container: string;
  text: string;
  parameters: readonly Parameter[];
  scope: Scope;
  pageSize: number;
  continuation: string | null;
  signal?: AbortSignal | undefined;
}

/** What a page did, as the server counted it. Times are milliseconds. */
export interface Metrics {
  totalMs: number;
  compileMs: number;
  indexMs: number;
  loadMs: number;
  retrieved: number;
  retrievedBytes: number;
  returned: number;
  returnedBytes: number;
  indexHitRatio: number;
}

/** Indexes that a query used, or that would have helped it. Composite ones as `/a ASC`. */
export interface IndexUse {
  usedSingle: string[];
  usedComposite: string[][];
  missingSingle: string[];
  missingComposite: string[][];
}

/** Part of a page's price. */
export interface Price {
  what: string;
  count: number;
  bytes?: number;
  charge: number;
}

export interface PartitionAccess {
  /** Only where nothing was run. */
  id?: string;
  items?: number;
  /** Lines, indented by what they are part of. */
  access: string[];
  indexes: { paths: string[]; isComposite: boolean; isPrecise: boolean }[];
  missingIndexes: { paths: string[]; isComposite: boolean; isPrecise: boolean }[];
}

/** How a query is answered; its price only where it was run. */
export interface Explained {
  plan: string[];
  partitions: PartitionAccess[];
  rows?: number;
  itemsLookedAt?: number;
  price?: Price[];
  charge?: number;
}

export interface Page {
  rows: unknown[];
  charge: number;
  continuation: string | null;
  milliseconds: number;
  bytes: number;
  metrics: Metrics | null;
  indexes: IndexUse | null;
  explained: Explained | null;
}

/** Returns a page of a query, explained and with its metrics: both cost nothing. */
export async function queryPage(asked: QueryAsk): Promise<Page> {
  const answer = await send(asked, {
    'x-armilla-explain': 'run',
    'x-ms-documentdb-populatequerymetrics': 'true',
    'x-ms-cosmos-populateindexmetrics-v2': 'true',
    'x-ms-max-item-count': String(asked.pageSize),
    ...(asked.continuation === null ? {} : { 'x-ms-continuation': asked.continuation }),
  });
  const body = parseExact(answer.text) as { Documents: unknown[]; explain?: Explained };
  return {
    rows: body.Documents,
    charge: answer.charge ?? 0,
    continuation: answer.continuation,
    milliseconds: answer.milliseconds,
    bytes: answer.text.length,
    metrics: metricsOf(answer.headers.get('x-ms-documentdb-query-metrics')),
    indexes: indexesOf(answer.headers.get('x-ms-cosmos-index-utilization')),
    explained: body.explain ?? null,
  };
}

/** Returns how a query would be answered; nothing is read and nothing is charged. */
export async function queryPlan(asked: Omit<QueryAsk, 'pageSize' | 'continuation'>): Promise<Explained> {
  const answer = await send(asked, { 'x-armilla-explain': 'plan' });
  return answer.json<Explained>();
}

function send(
  asked: Omit<QueryAsk, 'pageSize' | 'continuation'>,
  headers: Record<string, string>,
): Promise<Answer> {
  const { scope } = asked;
  const where: Record<string, string> =
    scope.kind === 'key'
      ? { 'x-ms-documentdb-partitionkey': ascii(JSON.stringify(scope.values)) }
      : scope.kind === 'range'
        ? { 'x-ms-documentdb-partitionkeyrangeid': scope.id }
        : { 'x-ms-documentdb-query-enablecrosspartition': 'true' };
  return ask({
    method: 'POST',
    path: `/dbs/${segment(asked.database)}/colls/${segment(asked.container)}/docs`,
    body: JSON.stringify({ query: asked.text, parameters: asked.parameters }),
    headers: {
      'content-type': 'application/query+json',
      'x-ms-documentdb-isquery': 'true',
      ...where,
      ...headers,
    },
    // A page that exceeds the throughput of its partition goes on when the second is over.
    retries: RETRIES,
    ...(asked.signal ? { signal: asked.signal } : {}),
  });
}

const RETRIES = 5;

/** Writes JSON so that it can stand in a header. */
function ascii(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function metricsOf(header: string | null): Metrics | null {
  if (header === null) return null;
  const pairs = new Map(header.split(';').map((pair) => pair.split('=') as [string, string]));
  const figure = (name: string) => Number(pairs.get(name) ?? 0);
  return {
    totalMs: figure('totalExecutionTimeInMs'),
    compileMs: figure('queryCompileTimeInMs'),
    indexMs: figure('indexLookupTimeInMs'),
    loadMs: figure('documentLoadTimeInMs'),
    retrieved: figure('retrievedDocumentCount'),
    retrievedBytes: figure('retrievedDocumentSize'),
    returned: figure('outputDocumentCount'),
    returnedBytes: figure('outputDocumentSize'),
    indexHitRatio: figure('indexUtilizationRatio'),
  };
}

interface IndexLists {
  SingleIndexes?: { IndexSpec: string }[];
  CompositeIndexes?: { IndexSpecs: string[] }[];
}

function indexesOf(header: string | null): IndexUse | null {
  if (header === null) return null;
  const body = JSON.parse(decodeURIComponent(header)) as { UtilizedIndexes?: IndexLists; PotentialIndexes?: IndexLists };
  const single = (lists?: IndexLists) => (lists?.SingleIndexes ?? []).map((one) => one.IndexSpec);
  const composite = (lists?: IndexLists) => (lists?.CompositeIndexes ?? []).map((one) => one.IndexSpecs);
  return {
    usedSingle: single(body.UtilizedIndexes),
    usedComposite: composite(body.UtilizedIndexes),
    missingSingle: single(body.PotentialIndexes),
    missingComposite: composite(body.PotentialIndexes),
  };
}

/** Something wrong with a query's text, and where if the server says so. */
export interface TextError {
  message: string;
  code: string;
  from: number | null;
  to: number | null;
}

/** Returns what an error says about the text of a query; empty if it is about something else. */
export function textErrors(error: unknown): TextError[] {
  if (!(error instanceof ApiError) || error.status !== 400) return [];
  try {
    const { message } = error.answer.json<{ message: string }>();
    const list = JSON.parse(message.replace(/^Message: /, '').split('\r\n')[0] ?? '') as {
      errors?: { message?: string; code?: string | number; location?: { start: number; end: number } }[];
    };
    return (list.errors ?? []).map((one) => ({
      message: one.message ?? 'The query is wrong here.',
      code: String(one.code ?? ''),
      from: one.location?.start ?? null,
      to: one.location?.end ?? null,
    }));
  } catch {
    return [];
  }
}

export interface KeyRange {
  id: string;
  minInclusive: string;
  maxExclusive: string;
}

/** Returns the physical partitions of a container, in the order of the ring. */
export async function keyRanges(database: string, container: string, signal?: AbortSignal): Promise<KeyRange[]> {
  const path = `/dbs/${segment(database)}/colls/${segment(container)}/pkranges`;
  const answer = await ask({ path, ...(signal ? { signal } : {}) });
  const ranges = answer.json<{ PartitionKeyRanges: KeyRange[] }>().PartitionKeyRanges;
  return ranges.sort((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
}

/** Returns the paths that a container is partitioned by; none where it has no partition key. */
export async function keyPaths(database: string, container: string): Promise<string[]> {
  const answer = await ask({ path: `/dbs/${segment(database)}/colls/${segment(container)}` });
  return answer.json<{ partitionKey?: { paths: string[] } }>().partitionKey?.paths ?? [];
}
