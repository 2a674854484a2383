//! What completion knows of a container: paths from a sample of its items, and its user-defined functions.

import { ask, segment } from '../../api/client';
import { isExact } from '../../api/exact';
import { queryPage } from '../../api/query';
import type { PathNode, SqlNames } from '../../editor/completion';

export const SAMPLE_ITEMS = 30;
const DEPTH_MAX = 7;
const NODES_MAX = 600;
/** Elements of an array that are looked at: the others are most often alike. */
const ELEMENTS_MAX = 5;

/** What is known, and what it cost to learn. */
export interface Learned {
  names: SqlNames;
  charge: number;
}

const known = new Map<string, Promise<Learned>>();

/** Returns what is known, read once while the page is open; the sample costs a few request units. */
export function namesOf(database: string, container: string): Promise<Learned> {
  const place = JSON.stringify([database, container]);
  const names = known.get(place) ?? load(database, container);
  known.set(place, names);
  // What failed is tried again.
  names.catch(() => known.delete(place));
  return names;
}

async function load(database: string, container: string): Promise<Learned> {
  const [sample, functions] = await Promise.all([
    queryPage({
      database, container, text: `SELECT TOP ${SAMPLE_ITEMS} * FROM c`, parameters: [], scope: { kind: 'all' },
      pageSize: SAMPLE_ITEMS, continuation: null,
    }),
    ask({ path: `/dbs/${segment(database)}/colls/${segment(container)}/udfs` })
      .then((answer) => answer.json<{ UserDefinedFunctions: { id: string }[] }>().UserDefinedFunctions)
      // Not every key may list them; paths are worth having without.
      .catch(() => []),
  ]);
  return { names: { root: pathsOf(sample.rows), functions: functions.map((one) => one.id) }, charge: sample.charge };
}

/** Returns the properties of values and of what is within them. */
function pathsOf(values: readonly unknown[]): PathNode {
  let nodes = 0;
  const add = (node: PathNode, value: unknown, depth: number) => {
    const type = typeOf(value);
    const types = node.type === '' ? [] : node.type.split(', ');
    if (!types.includes(type)) node.type = [...types, type].join(', ');
    if (depth === DEPTH_MAX || typeof value !== 'object' || value === null || isExact(value)) return;
    const members: [string, unknown][] = Array.isArray(value)
      ? value.slice(0, ELEMENTS_MAX).map((element) => ['[]', element])
      : Object.entries(value);
    for (const [name, member] of members) {
      let child = node.children.get(name);
      if (!child) {
        if (nodes === NODES_MAX) continue;
        nodes += 1;
        child = { type: '', children: new Map() };
        node.children.set(name, child);
      }
      add(child, member, depth + 1);
    }
  };
  const root: PathNode = { type: '', children: new Map() };
  for (const value of values) add(root, value, 0);
  return root;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (isExact(value)) return 'number';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'string' ? 'text' : typeof value;
}
