//! Documents as Extended JSON, and what is typed read as such.

import type { Document } from 'bson';

import { parseExact } from '../../api/exact';
import { bson } from '../../api/mongo';

/** What is typed cannot be read. */
export class WrongText extends Error {
  readonly where: string;

  constructor(where: string, why: string) {
    super(`${where}: ${why}`);
    this.where = where;
  }
}

/** Reads an object; null for no text at all. */
export async function readObject(where: string, text: string): Promise<Document | null> {
  if (text.trim() === '') return null;
  const value = await read(where, text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new WrongText(where, 'this has to be an object, { … }.');
  return value as Document;
}

/** Reads the stages of a pipeline. */
export async function readPipeline(where: string, text: string): Promise<Document[]> {
  const value = text.trim() === '' ? [] : await read(where, text);
  if (!Array.isArray(value)) throw new WrongText(where, 'this has to be an array of stages, [ … ].');
  return value as Document[];
}

async function read(where: string, text: string): Promise<unknown> {
  const { EJSON } = await bson();
  try {
    // Integers that no number can hold keep their digits as what they are in a document.
    const exact = JSON.stringify(parseExact(text)).replace(
      /("(?:[^"\\]|\\.)*")|(?<![\d.eE+-])(-?\d{16,19})(?![\d.eE])/g,
      (whole, string: string | undefined, digits: string | undefined) =>
        string !== undefined || digits === undefined || Number.isSafeInteger(Number(digits)) ? whole : `{"$numberLong":"${digits}"}`,
    );
    return EJSON.parse(exact, { relaxed: false }) as unknown;
  } catch (error) {
    throw new WrongText(where, error instanceof Error ? error.message : String(error));
  }
}

/** Returns documents as plain objects of relaxed Extended JSON; whole numbers beyond 53 bits stay canonical. */
export async function relaxed(documents: readonly Document[]): Promise<unknown[]> {
  const { EJSON, Long } = await bson();
  const keep = (value: unknown): unknown => {
    // A timestamp is one as well, by its class.
    if (Long.isLong(value) && value._bsontype === 'Long') {
      const number = value.toNumber();
      return Number.isSafeInteger(number) ? number : { $numberLong: value.toString() };
    }
    if (Array.isArray(value)) return value.map(keep);
    if (typeof value !== 'object' || value === null || '_bsontype' in value || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, keep(one)]));
  };
  return documents.map((document) => EJSON.serialize(keep(document) as Document, { relaxed: true }) as unknown);
}

/** The members that stand for one value each, and how that is written in a line. */
const SHORT: Record<string, (value: unknown) => string> = {
  $oid: String,
  $date: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  $numberLong: String,
  $numberDecimal: String,
  $numberDouble: String,
  $uuid: String,
};

/** Returns a value in one line, and what it is. */
export function inLine(value: unknown): { text: string; kind: string } {
  if (typeof value === 'string') return { text: value, kind: 'string' };
  if (value === null) return { text: 'null', kind: 'null' };
  if (typeof value !== 'object') return { text: String(value), kind: typeof value };
  const [first, ...others] = Object.entries(value);
  const short = first && others.length === 0 ? SHORT[first[0]] : undefined;
  if (first && short) return { text: short(first[1]), kind: first[0].startsWith('$number') ? 'number' : 'boolean' };
  return { text: JSON.stringify(value), kind: 'object' };
}
