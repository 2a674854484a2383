//! Advice on the data model: what was found in the items and in the requests, and what changes of the model come to.
//!
//! The server makes it when it is asked, from a sample and from its record of requests, and takes seconds for it.

import { ask } from './client';
import type { IndexingPolicy } from './resources';

export type Severity = 'severe' | 'warning' | 'note';

/** Which containers are looked at; all where none is named. */
export interface Selection {
  database?: string;
  container?: string;
}

/** A container that was looked at. */
export interface LookedAt {
  /** `database/container`. */
  container: string;
  items: number;
  bytes: number;
  /** How many of the items were looked at. */
  sampled: number;
  partitions: number;
  chargePerSecond: number;
}

/** What an operation costs, today and then. */
export interface OperationCost {
  operation: string;
  perSecond: number;
  before: number;
  after: number;
  requestsBefore: number;
  requestsAfter: number;
}

export interface Comparison {
  /** Whether it was measured on a copy; otherwise it was computed from what requests were charged. */
  measured: boolean;
  savedPerSecond: number;
  operations: OperationCost[];
}

export interface Finding {
  /** Its name, which is that of the section that explains it. */
  rule: string;
  severity: Severity;
  /** `database/container`; null where it is about the account. */
  container: string | null;
  title: string;
  evidence: string[];
  advice: string;
  /** What speaks against it. */
  but?: string;
  comparison?: Comparison;
  /** Options of `armilla advise` that try it. */
  try: string[];
  /** A whole policy that does what is advised, where applying it is safe. */
  indexingPolicy?: IndexingPolicy;
  /** From 0 to 1. */
  confidence: number;
  /** Where it is explained, in the documentation. */
  page: string;
}

/** Changes that go together. */
export interface Stage {
  title: string;
  try: string[];
  comparison: Comparison;
}

export interface Advice {
  /** How many seconds of requests it is made from. */
  seconds: number;
  /** Of the whole account. */
  chargePerSecond: number;
  containers: LookedAt[];
  /** The worst first. */
  findings: Finding[];
  stages: Stage[];
}

/** Asks for advice. */
export async function advise(selection: Selection, signal?: AbortSignal): Promise<Advice> {
  return (await ask({ method: 'POST', path: '/_armilla/advice', body: selection, signal })).json<Advice>();
}

/** Returns what every recorded operation costs, and what it would cost with changes that are written as options. */
export async function tryOut(selection: Selection, options: readonly string[], signal?: AbortSignal): Promise<Comparison> {
  const body = { ...selection, try: options };
  return (await ask({ method: 'POST', path: '/_armilla/advice', body, signal })).json<Comparison>();
}

/** Lets the server forget what it was asked: advice is made from what comes after. */
export async function forgetRequests(): Promise<void> {
  await ask({ method: 'DELETE', path: '/_armilla/requests' });
}

/** Returns the database and the container of a name such as `blog/posts`; of a short name, with the database it is given. */
export function placeOf(name: string, database: string): { database: string; container: string } {
  const at = name.indexOf('/');
  return at < 0 ? { database, container: name } : { database: name.slice(0, at), container: name.slice(at + 1) };
}
