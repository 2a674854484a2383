//! What a new item begins with.

import { segmentsOf } from '../../api/items';
import type { PartitionKeyDefinition } from '../../api/resources';

/** Returns an item with an id, and with a place for each component of the partition key. */
export function skeleton(id: string, key: PartitionKeyDefinition | undefined): string {
  const item: Record<string, unknown> = { id };
  for (const path of key && !key.systemKey ? key.paths : []) {
    const names = segmentsOf(path);
    const last = names.pop();
    if (last === undefined) continue;
    let at = item;
    for (const name of names) {
      const below = at[name];
      const next: Record<string, unknown> = typeof below === 'object' && below !== null ? (below as Record<string, unknown>) : {};
      at[name] = next;
      at = next;
    }
    at[last] ??= '';
  }
  return JSON.stringify(item, null, 2);
}
