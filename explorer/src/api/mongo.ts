//! Commands of the MongoDB API: one message of its wire protocol for each, by way of the session.

import type { Document, Long } from 'bson';

import { ApiError, ask, type Answer } from './client';

type Bson = typeof import('bson');

/** The format is a large part of the page that few look at: it is loaded with the first command. */
export const bson = (): Promise<Bson> => import('bson');

/** Before the document: 16 bytes of header, the flags, and what kind of section follows. */
const BEFORE = 21;
const OP_MSG = 2013;

/** A part of what was found. */
export interface Batch {
  documents: Document[];
  /** Where the rest is; null at the end. */
  cursor: Long | null;
  /** Request units; null if the server told none. */
  charge: number | null;
  /** As the server counts it. */
  milliseconds: number;
}

export interface Find {
  kind: 'find';
  filter: Document;
  projection: Document | null;
  sort: Document | null;
  skip: number;
  /** 0 for all. */
  limit: number;
}

export interface Aggregate {
  kind: 'aggregate';
  pipeline: Document[];
}

export type Question = Find | Aggregate;

/** Who asks: what a command cost is told to the session that it ran in. */
export interface MongoSession {
  database: string;
  lsid: Document;
}

export async function beginSession(database: string): Promise<MongoSession> {
  const { UUID } = await bson();
  return { database, lsid: { id: new UUID() } };
}

/** Ends a session, and with it what the server keeps for it. */
export async function endSession({ database, lsid }: MongoSession): Promise<void> {
  await send(database, { endSessions: [lsid] });
}

/** Gives up what a cursor has left. */
export async function dropCursor({ database, lsid }: MongoSession, collection: string, cursor: Long): Promise<void> {
  await send(database, { killCursors: collection, cursors: [cursor], lsid });
}

/** Asks for the first part of what a question finds. */
export async function first(
  session: MongoSession,
  collection: string,
  question: Question,
  batchSize: number,
  signal?: AbortSignal,
): Promise<Batch> {
  const command: Document =
    question.kind === 'find'
      ? { ...commandOf(collection, question), batchSize }
      : { ...commandOf(collection, question), cursor: { batchSize } };
  return batch(session, command, 'firstBatch', signal);
}

/** Asks for the next part. */
export async function more(
  session: MongoSession,
  collection: string,
  cursor: Long,
  batchSize: number,
  signal?: AbortSignal,
): Promise<Batch> {
  return batch(session, { getMore: cursor, collection, batchSize }, 'nextBatch', signal);
}

/** Asks how a question is answered. It is run for that, but for what it would write. */
export async function explain(session: MongoSession, collection: string, question: Question, signal?: AbortSignal): Promise<Document> {
  const command = { explain: commandOf(collection, question), verbosity: 'executionStats', lsid: session.lsid };
  return send(session.database, command, signal);
}

function commandOf(collection: string, question: Question): Document {
  if (question.kind === 'aggregate') return { aggregate: collection, pipeline: question.pipeline, cursor: {} };
  const { filter, projection, sort, skip, limit } = question;
  return {
    find: collection,
    filter,
    ...(projection ? { projection } : {}),
    ...(sort ? { sort } : {}),
    ...(skip > 0 ? { skip } : {}),
    ...(limit > 0 ? { limit } : {}),
  };
}

async function batch(session: MongoSession, command: Document, member: string, signal?: AbortSignal): Promise<Batch> {
  let reply: Document;
  try {
    reply = await send(session.database, { ...command, lsid: session.lsid }, signal);
  } catch (error) {
    // What failed may have cost something, too.
    if (!(error instanceof ApiError) || error.answer.status !== 0 || signal?.aborted) throw error;
    const { charge } = await cost(session);
    throw new ApiError(error.message, error.code, { ...error.answer, charge });
  }
  const cursor = reply['cursor'] as Document;
  const id = cursor['id'] as Long;
  return {
    documents: cursor[member] as Document[],
    cursor: id.isZero() ? null : id,
    ...(await cost(session)),
  };
}

/** Asks what the command before this one cost. */
async function cost({ database, lsid }: MongoSession): Promise<{ charge: number | null; milliseconds: number }> {
  try {
    const said = await send(database, { getLastRequestStatistics: 1, lsid });
    const [charge, milliseconds] = [Number(said['RequestCharge']), Number(said['RequestDurationInMilliSeconds'])];
    return { charge: Number.isFinite(charge) ? charge : null, milliseconds: Number.isFinite(milliseconds) ? milliseconds : 0 };
  } catch {
    // The answer is there, whatever it cost.
    return { charge: null, milliseconds: 0 };
  }
}

/** Sends one command; numbers of the reply keep their types. */
async function send(database: string, command: Document, signal?: AbortSignal): Promise<Document> {
  const { deserialize, serialize } = await bson();
  const document = serialize({ ...command, $db: database });
  const message = new Uint8Array(BEFORE + document.length);
  const head = new DataView(message.buffer);
  head.setInt32(0, message.length, true);
  head.setInt32(4, 1, true);
  head.setInt32(12, OP_MSG, true);
  message.set(document, BEFORE);
  const answer = await ask({ method: 'POST', base: '/_explorer/mongo', path: '', body: message, headers: { accept: '*/*' }, signal });
  const reply = deserialize(answer.bytes.subarray(BEFORE), { promoteValues: false, promoteLongs: false, promoteBuffers: false });
  if (Number(reply['ok']) !== 1) throw refusal(reply, answer);
  return reply;
}

/** What is wrong with a command is told with the status of success: that would only confuse. */
function refusal(reply: Document, answer: Answer): ApiError {
  const code = [reply['code'], reply['codeName']].filter((one) => one !== undefined).map(String).join(' ');
  return new ApiError(String(reply['errmsg'] ?? 'The server refused the command.'), code, { ...answer, status: 0, charge: null });
}
