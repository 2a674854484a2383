//! Items of a file: JSON lines, a JSON array, or CSV with a header.

import { newId } from '../../api/items';
import { elements, members, withMember } from '../../api/raw-json';
import { jsonOfField, records } from './csv';

export type FileKind = 'lines' | 'array' | 'csv';

/** One item of a file, or what is wrong with its line. */
export type Entry = { line: number; raw: string } | { line: number; wrong: string };

/** Tells by the name and the beginning of a file what it is. */
export function kindOf(name: string, begin: string): FileKind {
  if (/\.csv$/i.test(name)) return 'csv';
  return begin.trimStart().startsWith('[') ? 'array' : 'lines';
}

/** Reads a file an item at a time. JSON lines are never in memory as a whole. */
export async function* entries(file: File, kind: FileKind): AsyncGenerator<Entry> {
  if (kind === 'lines') yield* lines(file);
  else if (kind === 'csv') yield* rows((await file.text()).replace(/^\ufeff/, ''));
  else yield* array(await file.text());
}

async function* lines(file: File): AsyncGenerator<Entry> {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let line = 0;
  for (;;) {
    const { done, value } = await reader.read();
    const parts = (rest + (value ?? '')).split('\n');
    rest = done ? '' : (parts.pop() ?? '');
    for (const part of parts) {
      line += 1;
      const text = part.replace(/^\ufeff/, '').trim();
      if (text !== '') yield checked(line, text);
    }
    if (done) return;
  }
}

function* array(text: string): Generator<Entry> {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) {
      yield { line: 1, wrong: 'The file is not a JSON array.' };
      return;
    }
  } catch (error) {
    yield { line: 1, wrong: error instanceof Error ? error.message : String(error) };
    return;
  }
  let line = 0;
  for (const raw of elements(text)) {
    line += 1;
    yield checked(line, raw);
  }
}

function* rows(text: string): Generator<Entry> {
  let names: string[] | null = null;
  for (const { line, fields } of records(text)) {
    if (!names) {
      names = fields.map((one) => one.trim());
      continue;
    }
    if (fields.length > names.length) {
      yield { line, wrong: `The line has ${fields.length} fields, the header has ${names.length}.` };
      continue;
    }
    const pairs = names.flatMap((name, at) => {
      const field = fields[at];
      // An empty field is no value at all; an id is always a string.
      if (field === undefined || field === '' || name === '') return [];
      return [`${JSON.stringify(name)}:${name === 'id' ? JSON.stringify(field) : jsonOfField(field)}`];
    });
    yield checked(line, `{${pairs.join(',')}}`);
  }
}

function checked(line: number, text: string): Entry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { line, wrong: error instanceof Error ? error.message : String(error) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { line, wrong: 'An item is a JSON object.' };
  const hasId = members(text).some((one) => one.name === 'id');
  return { line, raw: hasId ? text : withMember(text, 'id', JSON.stringify(newId())) };
}
