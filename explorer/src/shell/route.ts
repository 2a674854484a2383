//! Where the reader is: the fragment of the address, its names encoded.

export const CONTAINER_VIEWS = [
  'items', 'query', 'mongo', 'gremlin', 'table', 'settings', 'partitions', 'throughput', 'scripts', 'feed', 'advice',
] as const;
export type ContainerView = (typeof CONTAINER_VIEWS)[number];

export type Route =
  | { kind: 'home' }
  | { kind: 'advice' }
  | { kind: 'new-database' }
  | { kind: 'database'; database: string }
  | { kind: 'new-container'; database: string }
  | { kind: 'users'; database: string; rest: string[] }
  | { kind: 'container'; database: string; container: string; view: ContainerView; rest: string[] };

/** Returns the fragment of a place, with its '#'. */
export function href(route: Route): string {
  const path = (segments: string[]) => `#/${segments.map(encodeURIComponent).join('/')}`;
  switch (route.kind) {
    case 'home':
      return '#/';
    case 'advice':
      return '#/advice';
    case 'new-database':
      return '#/new-database';
    case 'database':
      return path(['db', route.database]);
    case 'new-container':
      return path(['db', route.database, 'new-container']);
    case 'users':
      return path(['db', route.database, 'users', ...route.rest]);
    case 'container':
      return path(['db', route.database, 'c', route.container, route.view, ...route.rest]);
  }
}

/** Returns the place that a fragment names: home for everything that names none. */
export function parse(fragment: string): Route {
  let segments: string[];
  try {
    segments = fragment.replace(/^#?\/?/, '').split('/').map(decodeURIComponent);
  } catch {
    return { kind: 'home' };
  }
  const [first, database, third, container, view, ...rest] = segments;
  if (first === 'new-database') return { kind: 'new-database' };
  if (first === 'advice') return { kind: 'advice' };
  if (first !== 'db' || !database) return { kind: 'home' };
  if (third === undefined || third === '') return { kind: 'database', database };
  if (third === 'new-container') return { kind: 'new-container', database };
  if (third === 'users') return { kind: 'users', database, rest: segments.slice(3).filter((one) => one !== '') };
  if (third !== 'c' || !container) return { kind: 'database', database };
  const known = CONTAINER_VIEWS.find((one) => one === view) ?? 'items';
  return { kind: 'container', database, container, view: known, rest: rest.filter((one) => one !== '') };
}
