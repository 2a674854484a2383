//! A look at some containers: the advice, and the definitions of what it is about.

import { advise, placeOf, type Advice, type Selection } from '../../api/advice';
import { listContainers, type Container } from '../../api/resources';
import { session } from '../../api/session';

export interface Look {
  advice: Advice;
  selection: Selection;
  /** By `database/container`: what policies are compared with, and keys for commands. */
  definitions: ReadonlyMap<string, Container>;
  at: number;
}

/** Databases whose definitions are read; of the others, commands have less in them. */
const DATABASES_MAX = 20;

export async function look(selection: Selection, signal: AbortSignal): Promise<Look> {
  const advice = await advise(selection, signal);
  const definitions = new Map<string, Container>();
  // Definitions are for what can be done about something.
  const names = advice.findings.filter((one) => one.indexingPolicy ?? one.try.length > 0).map((one) => one.container);
  const databases = new Set(names.flatMap((name) => (name === null ? [] : [placeOf(name, '').database])));
  for (const database of [...databases].slice(0, DATABASES_MAX)) {
    for (const one of await listContainers(database, signal)) definitions.set(`${database}/${one.id}`, one);
  }
  return { advice, selection, definitions, at: Date.now() };
}

let last: { of: string; look: Look } | null = null;

// What one session has read is not shown to the next.
const keyOf = (database: string, container: string) => JSON.stringify([session.value?.csrf, database, container]);

/** Keeps a look, so that it is there again after another view was looked at. */
export function keep(database: string, container: string, found: Look): void {
  last = { of: keyOf(database, container), look: found };
}

/** Returns the look that was kept last, if it was of this page. */
export function kept(database: string, container: string): Look | null {
  return last?.of === keyOf(database, container) ? last.look : null;
}
