//! Scripts of the Gremlin API, by way of the session.

import { ApiError, ask, segment, type Answer } from './client';
import { parseExact } from './exact';

export interface Vertex {
  type: 'vertex';
  id: string;
  label: string;
  /** Each may have several values, and values may have properties of their own. */
  properties?: Record<string, { id: string; value: unknown; properties?: Record<string, unknown> }[]>;
}

export interface Edge {
  type: 'edge';
  id: string;
  label: string;
  inV: string;
  outV: string;
  inVLabel: string;
  outVLabel: string;
  properties?: Record<string, unknown>;
}

/** A graph: a container. */
export interface GraphName {
  database: string;
  container: string;
}

export interface Outcome {
  results: unknown[];
  charge: number | null;
  /** As the server counts it. */
  milliseconds: number;
}

interface Reply {
  status: { code: number; message: string; attributes: Record<string, unknown> };
  result: { data: unknown };
}

/** Runs a script. */
export async function runScript(
  { database, container }: GraphName,
  gremlin: string,
  bindings: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<Outcome> {
  const graph = `/dbs/${segment(database)}/colls/${segment(container)}`;
  try {
    const answer = await ask({
      method: 'POST',
      base: '/_explorer/gremlin',
      path: '',
      body: { gremlin, bindings },
      headers: { accept: 'application/json', 'x-armilla-graph': graph },
      signal,
    });
    const { status, result } = parseExact(answer.text) as Reply;
    return {
      results: Array.isArray(result.data) ? result.data : [],
      charge: figure(status.attributes, 'x-ms-total-request-charge'),
      milliseconds: figure(status.attributes, 'x-ms-total-server-time-ms') ?? answer.milliseconds,
    };
  } catch (error) {
    throw error instanceof ApiError ? explained(error) : error;
  }
}

/** Finds the sentence that explains in what is told as the service tells it. */
function explained(error: ApiError): ApiError {
  let reply: Reply;
  try {
    reply = JSON.parse(error.answer.text) as Reply;
  } catch {
    return error;
  }
  if (typeof reply.status?.message !== 'string') return error;
  const { message, attributes = {} } = reply.status;
  const said = /ExceptionMessage\s*:\s*([\s\S]*?)(?:\s*\n\s*(?:\d+ Error\(s\)|GremlinRequestId|Context)|$)/.exec(message)?.[1] ?? message;
  const headers = new Headers(error.answer.headers);
  const activity = attributes['x-ms-activity-id'];
  if (typeof activity === 'string') headers.set('x-ms-activity-id', activity);
  const answer: Answer = { ...error.answer, headers, charge: figure(attributes, 'x-ms-total-request-charge') };
  return new ApiError(said.trim(), /ExceptionType\s*:\s*(\w+)/.exec(message)?.[1] ?? '', answer);
}

function figure(attributes: Record<string, unknown>, name: string): number | null {
  const value = attributes[name];
  return typeof value === 'number' ? value : null;
}
