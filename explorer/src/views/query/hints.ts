//! Indexes that would help a query, in the words of an indexing policy, and where they are put.

import type { Explained, IndexUse } from '../../api/query';
import { href } from '../../shell/state';

export interface CompositePath {
  path: string;
  order: 'ascending' | 'descending';
}

export type Hint = { kind: 'composite'; paths: CompositePath[] } | { kind: 'path'; path: string };

/** Returns what the server says is missing; not what a partition reads already. */
export function hintsOf(indexes: IndexUse, explained: Explained): Hint[] {
  const read = explained.partitions.flatMap((one) => one.access).join('\n');
  const composites = indexes.missingComposite.filter((specs) => !read.includes(`(${specs.join(', ')})`));
  return [
    ...composites.map((specs): Hint => ({ kind: 'composite', paths: specs.map(compositePath) })),
    ...indexes.missingSingle.map((path): Hint => ({ kind: 'path', path })),
  ];
}

function compositePath(spec: string): CompositePath {
  const [, path = spec, order = ''] = /^(.*?)\s+(ASC|DESC)$/i.exec(spec) ?? [];
  return { path, order: order.toUpperCase() === 'DESC' ? 'descending' : 'ascending' };
}

/** Returns the composite index that a query in several orders needs, read from its text. */
export function orderHint(text: string): Hint | null {
  const clause = /\bORDER\s+BY\s+([\s\S]+?)(?:\bOFFSET\b|$)/i.exec(text.replace(/--[^\r\n]*/g, ''))?.[1];
  if (!clause) return null;
  const paths: CompositePath[] = [];
  for (const part of clause.split(',')) {
    const key = /^\s*[A-Za-z_]\w*((?:\.\w+|\["[^"\]]+"\])+)\s*(ASC|DESC)?\s*$/i.exec(part);
    if (!key) return null;
    const path = (key[1] ?? '').replace(/\["([^"]+)"\]/g, '/"$1"').replace(/\./g, '/');
    paths.push({ path, order: key[2]?.toUpperCase() === 'DESC' ? 'descending' : 'ascending' });
  }
  return paths.length > 1 ? { kind: 'composite', paths } : null;
}

/** Returns what is written into the policy. */
export function policyText(hint: Hint): string {
  return JSON.stringify(hint.kind === 'composite' ? hint.paths : { path: hint.path });
}

/** Returns where the settings show the policy with the index added, not saved yet. */
export function settingsLink(database: string, container: string, hint: Hint): string {
  const rest = hint.kind === 'composite'
    ? ['composite-index', JSON.stringify(hint.paths)]
    : ['included-path', hint.path];
  return href({ kind: 'container', database, container, view: 'settings', rest });
}

interface Policy {
  compositeIndexes?: CompositePath[][];
  includedPaths?: { path: string }[];
  excludedPaths?: { path: string }[];
}

/** Returns a policy with the index added that an address of the settings names; the same policy if it names none. */
export function hintedPolicy(policy: object, rest: readonly string[]): object {
  const [kind, value] = rest;
  if (!value) return policy;
  const { compositeIndexes = [], includedPaths = [], excludedPaths = [] } = policy as Policy;
  if (kind === 'included-path') {
    return {
      ...policy,
      includedPaths: [...includedPaths.filter((one) => one.path !== value), { path: value }],
      excludedPaths: excludedPaths.filter((one) => one.path !== value),
    };
  }
  if (kind !== 'composite-index') return policy;
  try {
    const paths: unknown = JSON.parse(value);
    if (!Array.isArray(paths) || !paths.every((one) => typeof (one as CompositePath | null)?.path === 'string')) return policy;
    const isThere = compositeIndexes.some((one) => JSON.stringify(one) === JSON.stringify(paths));
    return isThere ? policy : { ...policy, compositeIndexes: [...compositeIndexes, paths] };
  } catch {
    // An address that somebody changed: the policy stays what it is.
    return policy;
  }
}
