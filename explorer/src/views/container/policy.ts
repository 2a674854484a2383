//! Indexing policies as the page edits them.

import type { CompositePath, IndexingPolicy } from '../../api/resources';

/** What a container gets that says nothing: every path is indexed. */
export const DEFAULT_POLICY: IndexingPolicy = {
  indexingMode: 'consistent',
  automatic: true,
  includedPaths: [{ path: '/*' }],
  excludedPaths: [{ path: '/"_etag"/?' }],
};

export function policyText(policy: IndexingPolicy): string {
  return JSON.stringify(policy, null, 2);
}

/** Returns the policy of a text, or what is wrong with it. */
export function readPolicy(text: string): { policy: IndexingPolicy } | { wrong: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { wrong: 'A policy is a JSON object.' };
    return { policy: value as IndexingPolicy };
  } catch (error) {
    return { wrong: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

export function pathsOf(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.map((one: unknown) => String((one as { path?: unknown })?.path ?? ''));
}

export function compositeText(index: readonly CompositePath[]): string {
  return index.map((one) => `${one.path} ${one.order === 'descending' ? '↓' : '↑'}`).join(', ');
}

/** What another policy changes. */
export interface PolicyChange {
  added: string[];
  removed: string[];
  isModeChanged: boolean;
}

/** Returns what is indexed after a change and was not before, and the other way round, in words. */
export function changeOf(before: IndexingPolicy, after: IndexingPolicy): PolicyChange {
  const parts = (policy: IndexingPolicy) => [
    ...pathsOf(policy.includedPaths).map((path) => `included path ${path}`),
    ...pathsOf(policy.excludedPaths).map((path) => `excluded path ${path}`),
    ...(policy.compositeIndexes ?? []).map((index) => `composite index ${compositeText(index)}`),
    ...pathsOf(policy.spatialIndexes).map((path) => `spatial index ${path}`),
  ];
  const [old, next] = [parts(before), parts(after)];
  return {
    added: next.filter((one) => !old.includes(one)),
    removed: old.filter((one) => !next.includes(one)),
    isModeChanged: (before.indexingMode ?? 'consistent').toLowerCase() !== (after.indexingMode ?? 'consistent').toLowerCase(),
  };
}
