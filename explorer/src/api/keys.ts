//! Partition keys of containers.

import type { Container } from './resources';

/** Returns the paths of a container's partition key, in order; none where the server gave it a key that is not seen. */
export function keyPaths({ partitionKey: key }: Pick<Container, 'partitionKey'>): string[] {
  return key && !key.systemKey ? key.paths : [];
}
