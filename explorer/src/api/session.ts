//! Who the page is taken for. The browser never holds a key: it has a cookie that scripts cannot read, and the token of the
//! session, which every request carries.
//!
//! Browsers send the cookie to every port of the host, and so to programs that are not this server. The token is told once,
//! when the session begins, and kept where pages of this one origin can read it.

import { signal } from '@preact/signals';

export type Access = 'full' | 'read-only' | 'token';

export interface Session {
  state: 'signed-in' | 'open' | 'needed';
  access: Access | null;
  csrf: string | null;
  expiresInSeconds: number | null;
  server: { name: string; version: string };
  apis: { sql: boolean; mongo: boolean; gremlin: boolean; table: boolean };
}

/** What a session begins with: a key of the account, a resource token, or neither where the server needs none. */
export type Credential = { key: string } | { token: string } | Record<string, never>;

/** What the server said last; null until it has said anything. */
export const session = signal<Session | null>(null);

/**
 * Where the reader stands: nothing is known yet; out, with the sign-in before them; in; or in until the session ended, with
 * everything that was typed still on the page.
 */
export const phase = signal<'starting' | 'out' | 'in' | 'ended'>('starting');

const PATH = '/_explorer/session';

/** Where the token is kept, for other tabs and for when the page is loaded again. */
const PROOF = 'armilla.session';

let proof: string | null = null;

/** Returns the token of the session that began last, in whichever tab. */
function known(): string | null {
  try {
    return localStorage.getItem(PROOF) ?? proof;
  } catch {
    // A browser that keeps nothing: a session is this tab's, and as long.
    return proof;
  }
}

function remember(token: string | null): void {
  proof = token;
  try {
    if (token === null) localStorage.removeItem(PROOF);
    else localStorage.setItem(PROOF, token);
  } catch {
    // See above.
  }
}

/** Why a sign-in was refused, or why the server could not be asked. */
export class SignInError extends Error {}

async function send(method: 'GET' | 'POST', body?: Credential): Promise<Session> {
  const token = body ? null : known();
  const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : proven(token);
  let response: Response;
  try {
    response = await fetch(PATH, { method, headers, body: body ? JSON.stringify(body) : null });
  } catch {
    throw new SignInError('The server does not answer. Is it still running?');
  }
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new SignInError(`The server answered with status ${response.status} and no session.`);
  }
  if (!response.ok) {
    const said = (parsed as { message?: string }).message;
    throw new SignInError(said ?? `The server answered with status ${response.status}.`);
  }
  const told = parsed as Session;
  if (body) remember(told.csrf);
  return { ...told, csrf: body ? told.csrf : token };
}

function proven(token: string | null): Record<string, string> {
  return token === null ? {} : { 'x-armilla-csrf': token };
}

/**
 * Does something in one tab at a time: tabs that are opened together would each begin a session, and the cookie is that of the
 * last. Browsers have such locks for this machine and for https alone.
 */
function inOneTab(work: () => Promise<void>): Promise<void> {
  return 'locks' in navigator ? navigator.locks.request('armilla.session', work) : work();
}

/** Asks who the page is taken for, and signs in where nothing is asked for that. */
export function begin(): Promise<void> {
  return inOneTab(askOrSignIn);
}

async function askOrSignIn(): Promise<void> {
  const told = await send('GET');
  session.value = told;
  if (told.state === 'open') await signIn({});
  else if (told.state === 'signed-in') phase.value = 'in';
  else phase.value = phase.value === 'in' || phase.value === 'ended' ? 'ended' : 'out';
}

/** Begins a session. */
export async function signIn(credential: Credential): Promise<void> {
  session.value = await send('POST', credential);
  phase.value = 'in';
  for (const resolve of waiting.splice(0)) resolve();
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  try {
    await fetch(PATH, { method: 'DELETE', headers: proven(known()) });
    remember(null);
  } finally {
    // The screen says whether a key is needed: that is asked for anew.
    session.value = await send('GET').catch(() => null);
    phase.value = 'out';
  }
}

const waiting: (() => void)[] = [];
let renewing: Promise<void> | null = null;

/**
 * Called when a request was answered that there is no session: begins another where that needs no question, and else waits
 * until the reader has signed in, while everything that was typed stays where it is.
 */
export function renew(): Promise<void> {
  renewing ??= begin()
    .then(() => (phase.value === 'ended' ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined))
    .finally(() => {
      renewing = null;
    });
  return renewing;
}
