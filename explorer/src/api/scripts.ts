//! Stored procedures, triggers and functions of a container, and running procedures.

import { asciiJson } from './ascii';
import { ApiError, ask, segment, type Answer } from './client';
import { everyPage } from './pages';
import { containerPath, type Resource } from './resources';

export type ScriptKind = 'procedures' | 'triggers' | 'functions';

export type TriggerType = 'Pre' | 'Post';
export type TriggerOperation = 'All' | 'Create' | 'Replace' | 'Update' | 'Upsert' | 'Delete';

/** What a script is, without what the server adds. */
export interface ScriptText {
  id: string;
  /** The text of a JavaScript function. */
  body: string;
  /** Of triggers alone. */
  triggerType?: TriggerType;
  triggerOperation?: TriggerOperation;
}

export type Script = ScriptText & Resource;

const FEEDS: Record<ScriptKind, { path: string; member: string }> = {
  procedures: { path: 'sprocs', member: 'StoredProcedures' },
  triggers: { path: 'triggers', member: 'Triggers' },
  functions: { path: 'udfs', member: 'UserDefinedFunctions' },
};

function feedPath(database: string, container: string, kind: ScriptKind): string {
  return `${containerPath(database, container)}/${FEEDS[kind].path}`;
}

export async function listScripts(
  database: string,
  container: string,
  kind: ScriptKind,
  signal?: AbortSignal,
): Promise<Script[]> {
  return everyPage<Script>(feedPath(database, container, kind), FEEDS[kind].member, signal);
}

export async function createScript(database: string, container: string, kind: ScriptKind, script: ScriptText): Promise<Script> {
  return (await ask({ method: 'POST', path: feedPath(database, container, kind), body: script })).json<Script>();
}

/** Replaces a script, unless somebody else did so since it was read. */
export async function replaceScript(
  database: string,
  container: string,
  kind: ScriptKind,
  script: ScriptText,
  etag: string,
): Promise<Script> {
  const path = `${feedPath(database, container, kind)}/${segment(script.id)}`;
  return (await ask({ method: 'PUT', path, body: script, headers: { 'if-match': etag } })).json<Script>();
}

export async function deleteScript(database: string, container: string, kind: ScriptKind, id: string): Promise<void> {
  await ask({ method: 'DELETE', path: `${feedPath(database, container, kind)}/${segment(id)}` });
}

/** What a procedure read and wrote. */
export interface Footprint {
  reads: number;
  queries: number;
  /** That its queries found. */
  rows: number;
  writes: number;
  /** The first of its writes. */
  written: { operation: string; id: string }[];
}

/** How a procedure ended. */
export interface Run {
  /** The body that it set; null if it set none. */
  body: string | null;
  /** What it wrote to its console, as far as the server kept it. */
  log: string;
  charge: number | null;
  milliseconds: number;
  /** The commit after which the run can be read. */
  lsn: string | null;
  /** Null where it failed, or where the server does not tell. */
  footprint: Footprint | null;
  /** What it wrote is forgotten. */
  isRehearsal: boolean;
  error: ApiError | null;
}

/**
 * Runs a procedure. That it failed is an outcome, too: it has a log and a charge. A rehearsal costs the same, and leaves nothing
 * of what it wrote.
 */
export async function runProcedure(
  database: string,
  container: string,
  id: string,
  partitionKey: unknown[] | null,
  args: unknown[],
  rehearses: boolean,
  signal?: AbortSignal,
): Promise<Run> {
  const headers: Record<string, string> = {
    'x-ms-documentdb-script-enable-logging': 'true',
    'x-armilla-script-enable-footprint': 'true',
  };
  if (rehearses) headers['x-armilla-script-rehearsal'] = 'true';
  if (partitionKey !== null) headers['x-ms-documentdb-partitionkey'] = asciiJson(partitionKey);
  const path = `${feedPath(database, container, 'procedures')}/${segment(id)}`;
  try {
    return runOf(await ask({ method: 'POST', path, body: args, headers, signal }), rehearses, null);
  } catch (error) {
    if (error instanceof ApiError && error.status > 0) return runOf(error.answer, rehearses, error);
    throw error;
  }
}

function runOf(answer: Answer, isRehearsal: boolean, error: ApiError | null): Run {
  return {
    body: error === null && answer.text !== '' ? answer.text : null,
    log: decoded(answer.headers.get('x-ms-documentdb-script-log-results') ?? ''),
    charge: answer.charge,
    milliseconds: answer.milliseconds,
    lsn: isRehearsal ? null : answer.headers.get('lsn'),
    footprint: footprintOf(answer.headers.get('x-armilla-script-footprint')),
    isRehearsal,
    error,
  };
}

function footprintOf(header: string | null): Footprint | null {
  try {
    return header === null ? null : (JSON.parse(decodeURIComponent(header)) as Footprint);
  } catch {
    return null;
  }
}

/** A log comes percent-encoded. One that was cut off may end in the middle of a character. */
function decoded(log: string): string {
  try {
    return decodeURIComponent(log);
  } catch {
    return log;
  }
}
