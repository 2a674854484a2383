//! Parameters of a query: which ones its text names, and their values as they are typed.

import { parseExact } from '../../api/exact';
import type { Parameter } from '../../api/query';

/** What was typed for each name; a value is JSON, or text without quotes where it is no JSON. */
export type Typed = Readonly<Record<string, string>>;

/** Returns the names of the parameters in a text, in the order in which they occur; not those in literals and comments. */
export function parameterNames(text: string): string[] {
  const bare = text.replace(/--[^\r\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, ' ');
  return [...new Set(bare.match(/@[A-Za-z_]\w*/g) ?? [])];
}

/** What a typed value is taken as. */
export type Reading = { kind: 'json' | 'text'; value: unknown } | { kind: 'missing' } | { kind: 'wrong'; why: string };

/**
 * Reads a typed value. What begins like JSON has to be JSON; anything else is text, because names and ids are typed far
 * more often than objects.
 */
export function readValue(typed: string): Reading {
  const trimmed = typed.trim();
  if (trimmed === '') return { kind: 'missing' };
  try {
    return { kind: 'json', value: parseExact(trimmed) };
  } catch (error) {
    if (/^["[{]/.test(trimmed)) {
      return { kind: 'wrong', why: error instanceof Error ? error.message : 'This is no JSON.' };
    }
    return { kind: 'text', value: typed };
  }
}

/** Returns the parameters of a request; those without a value are left out, so that the server says which are missing. */
export function parametersOf(names: readonly string[], typed: Typed): Parameter[] {
  return names.flatMap((name) => {
    const reading = readValue(typed[name] ?? '');
    return reading.kind === 'json' || reading.kind === 'text' ? [{ name, value: reading.value }] : [];
  });
}

/** Returns a value as it would be typed. */
export function typedValue(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  // Text that would be read as something else keeps its quotes.
  const reading = readValue(value);
  return reading.kind === 'text' ? value : JSON.stringify(value);
}
