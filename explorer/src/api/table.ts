//! Entities of the Table API, by way of the session.

import { ApiError, ask, type Answer, type Ask } from './client';

export const EDM_TYPES = ['String', 'Int32', 'Int64', 'Double', 'Boolean', 'DateTime', 'Guid', 'Binary'] as const;
export type EdmType = (typeof EDM_TYPES)[number];

export interface Property {
  name: string;
  type: EdmType;
  /** As it is written down: a number with its digits, bytes as base64. */
  text: string;
}

export interface Entity {
  partitionKey: string;
  rowKey: string;
  /** When it was written last, to 100 ns. */
  timestamp: string;
  etag: string;
  /** Without the keys and the timestamp. */
  properties: Property[];
}

/** Where the next page begins. */
export interface Continuation {
  partitionKey: string;
  rowKey: string | null;
}

export interface Page {
  entities: Entity[];
  next: Continuation | null;
  charge: number | null;
  milliseconds: number;
}

const quoted = (text: string) => `'${encodeURIComponent(text.replace(/'/g, "''"))}'`;
const entityPath = (table: string, entity: { partitionKey: string; rowKey: string }) =>
  `/${encodeURIComponent(table)}(PartitionKey=${quoted(entity.partitionKey)},RowKey=${quoted(entity.rowKey)})`;

/** Reads a page of entities, those that a filter lets through. */
export async function queryEntities(
  table: string,
  filter: string,
  top: number,
  from: Continuation | null,
  signal?: AbortSignal,
): Promise<Page> {
  const options = [`$top=${top}`];
  if (filter.trim() !== '') options.push(`$filter=${encodeURIComponent(filter.trim())}`);
  if (from) options.push(`NextPartitionKey=${encodeURIComponent(from.partitionKey)}`);
  if (from && from.rowKey !== null) options.push(`NextRowKey=${encodeURIComponent(from.rowKey)}`);
  const answer = await send({ path: `/${encodeURIComponent(table)}()?${options.join('&')}`, signal });
  const { value } = parsed(answer.text) as { value: Record<string, unknown>[] };
  const partitionKey = answer.headers.get('x-ms-continuation-nextpartitionkey');
  return {
    entities: value.map(entityOf),
    next: partitionKey === null ? null : { partitionKey, rowKey: answer.headers.get('x-ms-continuation-nextrowkey') },
    charge: answer.charge,
    milliseconds: answer.milliseconds,
  };
}

export async function readEntity(table: string, entity: Entity): Promise<Entity> {
  return entityOf(parsed((await send({ path: entityPath(table, entity) })).text) as Record<string, unknown>);
}

export interface Keys {
  partitionKey: string;
  rowKey: string;
}

/** Returns the charge. */
export async function insertEntity(table: string, keys: Keys, properties: readonly Property[]): Promise<number | null> {
  const body = { PartitionKey: keys.partitionKey, RowKey: keys.rowKey, ...members(properties) };
  const answer = await send({ method: 'POST', path: `/${encodeURIComponent(table)}`, body, headers: { prefer: 'return-no-content' } });
  return answer.charge;
}

/** Changes properties of an entity, or puts others in the place of all, unless somebody else wrote it since it was read. */
export async function writeEntity(table: string, entity: Entity, how: 'merge' | 'replace', properties: readonly Property[]): Promise<number | null> {
  const method = how === 'merge' ? 'PATCH' : 'PUT';
  const answer = await send({ method, path: entityPath(table, entity), body: members(properties), headers: { 'if-match': entity.etag } });
  return answer.charge;
}

/** Deletes an entity, unless somebody else wrote it since it was read. */
export async function deleteEntity(table: string, entity: Entity): Promise<number | null> {
  return (await send({ method: 'DELETE', path: entityPath(table, entity), headers: { 'if-match': entity.etag } })).charge;
}

async function send(asked: Omit<Ask, 'base'>): Promise<Answer> {
  const headers = { accept: 'application/json;odata=minimalmetadata', ...asked.headers };
  try {
    return await ask({ ...asked, base: '/_explorer/table', headers });
  } catch (error) {
    throw error instanceof ApiError ? explained(error) : error;
  }
}

/** Finds the sentence in an error as the service tells it. */
function explained(error: ApiError): ApiError {
  try {
    const { code, message } = (JSON.parse(error.answer.text) as { 'odata.error': { code: string; message: { value: string } } })['odata.error'];
    const headers = new Headers(error.answer.headers);
    headers.set('x-ms-activity-id', headers.get('x-ms-request-id') ?? '');
    return new ApiError(message.value.replace(/\s*RequestID:[\s\S]*$/, ''), code, { ...error.answer, headers });
  } catch {
    return error;
  }
}

/** A number that was written with a point or an exponent: a Double, though it may be whole. */
class Fraction {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

function parsed(text: string): unknown {
  const keep = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && /[.eE]/.test(context?.source ?? String(value)) ? new Fraction(context?.source ?? String(value)) : value;
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}

function entityOf(members: Record<string, unknown>): Entity {
  const properties: Property[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (name.includes('@') || name.startsWith('odata.') || ['PartitionKey', 'RowKey', 'Timestamp'].includes(name)) continue;
    const told = String(members[`${name}@odata.type`] ?? '').replace(/^Edm\./, '');
    const text = value instanceof Fraction ? value.source : String(value);
    properties.push({ name, type: EDM_TYPES.find((one) => one === told) ?? typeOf(value), text });
  }
  return {
    partitionKey: String(members['PartitionKey']),
    rowKey: String(members['RowKey']),
    timestamp: String(members['Timestamp'] ?? ''),
    etag: String(members['odata.etag'] ?? '*'),
    properties,
  };
}

/** The type of a value for which none is told. */
function typeOf(value: unknown): EdmType {
  if (value instanceof Fraction) return 'Double';
  return typeof value === 'number' ? 'Int32' : typeof value === 'boolean' ? 'Boolean' : 'String';
}

function members(properties: readonly Property[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, type, text } of properties) {
    body[name] = type === 'Boolean' ? text === 'true' : type === 'Int32' || (type === 'Double' && Number.isFinite(Number(text))) ? Number(text) : text;
    if (type !== 'String' && type !== 'Boolean') body[`${name}@odata.type`] = `Edm.${type}`;
  }
  return body;
}
