//! Vertices and edges, wherever in results they are.

import type { Edge, Vertex } from '../../api/gremlin';

export interface Elements {
  vertices: Map<string, Vertex>;
  edges: Map<string, Edge>;
}

/** Results are looked into so deep: paths in maps in lists, and a bit more. */
const DEPTH_MAX = 12;

/** Returns what a result has of a graph. */
export function elementsOf(results: readonly unknown[]): Elements {
  const found: Elements = { vertices: new Map(), edges: new Map() };
  const look = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
    if (isVertex(value)) found.vertices.set(value.id, value);
    else if (isEdge(value)) found.edges.set(value.id, value);
    else for (const one of Object.values(value)) look(one, depth + 1);
  };
  look(results, 0);
  return found;
}

function isVertex(value: unknown): value is Vertex {
  const one = value as Partial<Vertex> | null;
  return typeof one === 'object' && one !== null && one.type === 'vertex' && typeof one.id === 'string' && typeof one.label === 'string';
}

function isEdge(value: unknown): value is Edge {
  const one = value as Partial<Edge> | null;
  return typeof one === 'object' && one !== null && one.type === 'edge' && typeof one.id === 'string' && typeof one.inV === 'string' && typeof one.outV === 'string';
}

/** Returns a result as a row of a table: the properties of an element stand beside its id. */
export function rowOf(result: unknown): unknown {
  if (isVertex(result)) {
    const properties = Object.entries(result.properties ?? {}).map(([name, values]) => {
      const plain = values.map((one) => one.value);
      return [name, plain.length === 1 ? plain[0] : plain] as const;
    });
    return { id: result.id, label: result.label, ...Object.fromEntries(properties.filter(([name]) => name !== 'id' && name !== 'label')) };
  }
  if (isEdge(result)) {
    const { id, label, outV, inV, properties = {} } = result;
    return { ...properties, id, label, outV, inV };
  }
  return result;
}

/** Properties that are shown for a vertex before others. */
const NAMES = ['name', 'title', 'displayName', 'firstName', 'email'];

/** Returns what stands below a vertex: the property that was chosen, else what seems to be its name. */
export function captionOf(vertex: Vertex, chosen: string): string {
  if (chosen === 'id') return vertex.id;
  if (chosen === 'label') return vertex.label;
  const names = chosen === '' ? NAMES : [chosen];
  for (const name of names) {
    const value = vertex.properties?.[name]?.[0]?.value;
    if (value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value);
  }
  return vertex.id;
}
