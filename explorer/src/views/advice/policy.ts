//! Advised policies, put on what a container has by now: each finding brings a whole policy, and another may have been applied
//! since it was made.

import type { IndexingPolicy } from '../../api/resources';

const LISTS = ['includedPaths', 'excludedPaths', 'compositeIndexes', 'spatialIndexes'] as const;

/** Returns a present policy with what the advice adds to the one that it was made from, and without what it takes away. */
export function rebased(base: IndexingPolicy, advised: IndexingPolicy, present: IndexingPolicy): IndexingPolicy {
  if (JSON.stringify(base) === JSON.stringify(present)) return advised;
  const policy: IndexingPolicy = { ...present };
  for (const member of ['indexingMode', 'automatic'] as const) {
    if (advised[member] !== base[member]) Object.assign(policy, { [member]: advised[member] });
  }
  for (const list of LISTS) {
    const [old, next, now] = [base[list], advised[list], present[list]].map((one) => (Array.isArray(one) ? (one as unknown[]) : []));
    if (!old || !next || !now) continue;
    const kept = now.filter((one) => !has(old, one) || has(next, one));
    const added = next.filter((one) => !has(old, one) && !has(kept, one));
    const all = [...kept, ...added];
    if (all.length > 0 || present[list] !== undefined) Object.assign(policy, { [list]: all });
  }
  return policy;
}

function has(list: readonly unknown[], element: unknown): boolean {
  const text = spelled(element);
  return list.some((one) => spelled(one) === text);
}

/** Writes a value with its members in the order of their names; a path runs upwards unless it says otherwise. */
function spelled(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    const members = Object.entries(one).filter(([name, of]) => !(name === 'order' && of === 'ascending'));
    return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
