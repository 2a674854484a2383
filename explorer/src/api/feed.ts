//! The change feed of a container, a page at a time.

import { ask } from './client';
import { parseExact } from './exact';
import { everyPage } from './pages';
import { containerPath } from './resources';

export type FeedMode = 'latest' | 'all-versions';

export type Item = Record<string, unknown>;

/** What happened to an item. Of the latest versions it is known only that something was written. */
export type Operation = 'write' | 'create' | 'replace' | 'delete' | 'expire';

export interface Change {
  operation: Operation;
  /** The commit, of the physical partition. */
  lsn: number;
  /** Seconds since 1970. */
  time: number;
  id: string;
  /** Of deletes, which have no current state: the components by name. */
  partitionKey: Item | null;
  current: Item | null;
  /** The state before, where the container keeps it. */
  previous: Item | null;
}

/** A piece of the ring of hashed keys. Positions of it stay good when partitions split and merge. */
export interface FeedArc {
  min: string;
  max: string;
  /** The physical partitions that it was made of. */
  partitions: string[];
}

export interface FeedPage {
  changes: Change[];
  /** Where the next page begins. */
  position: string;
  /** Whether there was nothing more. */
  isEnd: boolean;
  charge: number;
}

/** Where a feed begins, if not at the end of another page. */
export type FeedStart = { at: 'beginning' } | { at: 'now' } | { at: 'time'; time: Date };

/** So many arcs are asked for at most: more would be more requests than a browser sends at a time. */
const ARCS_MAX = 16;

interface Range {
  id: string;
  minInclusive: string;
  maxExclusive: string;
}

/** Returns the arcs of a container: one for each physical partition, or for neighbours together where there are many. */
export async function feedArcs(database: string, container: string, signal?: AbortSignal): Promise<FeedArc[]> {
  const path = `${containerPath(database, container)}/pkranges`;
  const ranges = await everyPage<Range>(path, 'PartitionKeyRanges', signal);
  ranges.sort((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
  const width = Math.ceil(ranges.length / ARCS_MAX);
  const arcs: FeedArc[] = [];
  for (let at = 0; at < ranges.length; at += width) {
    const group = ranges.slice(at, at + width);
    const [first, last] = [group[0], group.at(-1)];
    if (first && last) arcs.push({ min: first.minInclusive, max: last.maxExclusive, partitions: group.map((one) => one.id) });
  }
  return arcs;
}

export interface PageRequest {
  mode: FeedMode;
  arc: FeedArc;
  /** The end of the page before, or where to begin. */
  from: string | FeedStart;
  pageSize: number;
}

export async function feedPage(
  database: string,
  container: string,
  { mode, arc, from, pageSize }: PageRequest,
  signal?: AbortSignal,
): Promise<FeedPage> {
  const headers: Record<string, string> = {
    'a-im': mode === 'latest' ? 'Incremental Feed' : 'Full-Fidelity Feed',
    'x-ms-cosmos-changefeed-wire-format-version': '2021-09-15',
    'x-ms-max-item-count': String(pageSize),
    ...startHeaders(from),
  };
  if (arc.min !== '') headers['x-ms-start-epk'] = arc.min;
  if (arc.max.toUpperCase() !== 'FF') headers['x-ms-end-epk'] = arc.max;
  const answer = await ask({ path: `${containerPath(database, container)}/docs`, headers, signal });
  const entries = answer.text === '' ? [] : (parseExact(answer.text) as { Documents: Entry[] }).Documents;
  return {
    changes: entries.map((entry) => changeOf(entry, mode)),
    position: answer.etag ?? '',
    isEnd: answer.status === 304 || answer.headers.get('x-armilla-feed-end') === 'true',
    charge: answer.charge ?? 0,
  };
}

function startHeaders(from: string | FeedStart): Record<string, string> {
  if (typeof from === 'string') return { 'if-none-match': from };
  switch (from.at) {
    case 'beginning':
      return {};
    case 'now':
      return { 'if-none-match': '*' };
    case 'time':
      return { 'if-modified-since': from.time.toUTCString() };
  }
}

interface Entry {
  current: Item;
  previous?: Item;
  metadata: {
    lsn: number;
    crts: number;
    operationType?: 'create' | 'replace' | 'delete';
    timeToLiveExpired?: boolean;
    id?: string;
    partitionKey?: Item;
  };
}

function changeOf({ current, previous, metadata }: Entry, mode: FeedMode): Change {
  const isGone = metadata.operationType === 'delete';
  const named = metadata.id ?? current['id'] ?? previous?.['id'];
  return {
    operation: mode === 'latest' ? 'write' : metadata.timeToLiveExpired ? 'expire' : (metadata.operationType ?? 'write'),
    lsn: metadata.lsn,
    time: metadata.crts,
    id: String(named ?? ''),
    partitionKey: metadata.partitionKey ?? null,
    current: isGone ? null : current,
    previous: previous ?? null,
  };
}
