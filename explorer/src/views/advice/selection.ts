//! What is looked at, and the command that does what the page does.

import type { Selection } from '../../api/advice';
import { word } from './words';

/** Returns the selection of some containers: one of them, those of a database, or all. */
export function selectionOf(database: string, container: string): Selection {
  return { ...(database === '' ? {} : { database }), ...(container === '' ? {} : { container }) };
}

/** Returns `armilla advise` with options, as a shell takes it. */
export function command({ database, container }: Selection, options: readonly string[]): string {
  const parts = ['armilla advise'];
  if (database !== undefined) parts.push(`--database ${word(database)}`);
  if (container !== undefined) parts.push(`--container ${word(container)}`);
  for (const option of options) {
    const at = option.indexOf(' ');
    parts.push(at < 0 ? word(option) : `${word(option.slice(0, at))} ${word(option.slice(at + 1))}`);
  }
  return parts.join(parts.length > 2 ? ' \\\n  ' : ' ');
}
