//! Requests of the SQL API and of the administration, and of the other APIs, by way of the session.

import { begin, renew, session } from './session';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  bytes: Uint8Array<ArrayBuffer>;
  json<T = unknown>(): T;
  /** Request units. */
  charge: number | null;
  continuation: string | null;
  etag: string | null;
  milliseconds: number;
}

export interface Ask {
  method?: string;
  /** Begins with '/'; its segments are encoded already. */
  path: string;
  /** What the path is below, where it is not the SQL API. */
  base?: '/_explorer/mongo' | '/_explorer/gremlin' | '/_explorer/table';
  /** A string goes as it is, and so do bytes; anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** How often the request is repeated after 429, when the time has passed that the server names. */
  retries?: number;
}

/** What a server refused, with everything that it said about it. `message` is the server's own, readable. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly charge: number | null;
  readonly retryAfterMs: number | null;
  readonly activityId: string | null;
  readonly answer: Answer;

  constructor(message: string, code: string, answer: Answer) {
    super(message);
    this.name = 'ApiError';
    this.status = answer.status;
    this.code = code;
    this.charge = answer.charge;
    this.retryAfterMs = figure(answer.headers, 'x-ms-retry-after-ms');
    this.activityId = answer.headers.get('x-ms-activity-id');
    this.answer = answer;
  }
}

const BASE = '/_explorer/rest';
const VERSION = '2020-07-15';

/** Returns a name as a segment of a path. */
export function segment(name: string): string {
  return encodeURIComponent(name);
}

/** Asks the server. Throws an ApiError for every status from 400, and for a server that does not answer. */
export async function ask(asked: Ask): Promise<Answer> {
  let retries = asked.retries ?? 0;
  let mayRenew = true;
  for (;;) {
    const answer = await send(asked);
    if (answer.status < 400) return answer;
    if (answer.status === 401 && mayRenew) {
      mayRenew = false;
      await renew();
      asked.signal?.throwIfAborted();
      continue;
    }
    const error = refusal(answer);
    if (answer.status === 403 && mayRenew && error.code === '' && error.message.includes('x-armilla-csrf')) {
      // Another tab has begun another session: the cookie is that one's.
      mayRenew = false;
      await begin();
      continue;
    }
    if (answer.status !== 429 || retries === 0) throw error;
    retries -= 1;
    await pause(error.retryAfterMs ?? 1000, asked.signal);
  }
}

async function send(asked: Ask): Promise<Answer> {
  const begun = performance.now();
  const headers: Record<string, string> = {
    accept: 'application/json',
    'x-ms-version': VERSION,
    'x-armilla-csrf': session.value?.csrf ?? '',
  };
  let body: string | Uint8Array<ArrayBuffer> | null = null;
  if (asked.body !== undefined) {
    const isRaw = asked.body instanceof Uint8Array;
    headers['content-type'] = isRaw ? 'application/octet-stream' : 'application/json';
    body = isRaw ? (asked.body as Uint8Array<ArrayBuffer>) : typeof asked.body === 'string' ? asked.body : JSON.stringify(asked.body);
  }
  for (const [name, value] of Object.entries(asked.headers ?? {})) headers[name.toLowerCase()] = value;
  let response: Response;
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    response = await fetch((asked.base ?? BASE) + asked.path, {
      method: asked.method ?? 'GET',
      headers,
      body,
      signal: asked.signal ?? null,
      cache: 'no-store',
    });
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    asked.signal?.throwIfAborted();
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError('The server does not answer. Is it still running?', 'Unreachable', unanswered(begun));
  }
  return answerOf(response.status, response.headers, bytes, performance.now() - begun);
}

function answerOf(status: number, headers: Headers, bytes: Uint8Array<ArrayBuffer>, milliseconds: number): Answer {
  const text = new TextDecoder().decode(bytes);
  return {
    status,
    headers,
    text,
    bytes,
    json: <T>() => JSON.parse(text) as T,
    charge: figure(headers, 'x-ms-request-charge'),
    continuation: headers.get('x-ms-continuation'),
    etag: headers.get('etag'),
    milliseconds,
  };
}

function unanswered(begun: number): Answer {
  return answerOf(0, new Headers(), new Uint8Array(), performance.now() - begun);
}

function refusal(answer: Answer): ApiError {
  let code = '';
  let message = answer.text;
  try {
    const said = JSON.parse(answer.text) as { code?: unknown; message?: unknown };
    if (typeof said.code === 'string') code = said.code;
    if (typeof said.message === 'string') message = said.message;
  } catch {
    // Not JSON: what came is the message.
  }
  return new ApiError(readable(message) || `The server answered with status ${answer.status}.`, code, answer);
}

/** Takes off what the service's format wraps around the sentence that explains. */
function readable(message: string): string {
  const plain = message.replace(/\r?\nActivityId:[\s\S]*$/, '').replace(/^Message: /, '').trim();
  try {
    const said = JSON.parse(plain) as { Errors?: unknown; errors?: { message?: unknown; code?: unknown }[] };
    if (Array.isArray(said.Errors)) return said.Errors.map(String).join('\n');
    if (Array.isArray(said.errors)) {
      return said.errors.map((one) => [one.code, one.message].filter(Boolean).join(': ')).join('\n');
    }
  } catch {
    // A sentence already.
  }
  return plain;
}

function figure(headers: Headers, name: string): number | null {
  const value = headers.get(name);
  return value === null || value === '' || Number.isNaN(Number(value)) ? null : Number(value);
}

/** Waits; throws as soon as the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
