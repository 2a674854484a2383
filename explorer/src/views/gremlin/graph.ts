//! The graph that is drawn: bounded, and grown by what is asked for later.

import type { Edge, Vertex } from '../../api/gremlin';
import type { Elements } from './elements';

/** More than this can be neither laid out nor read. */
export const NODES_MAX = 300;
export const LINKS_MAX = 900;

/** A vertex in the drawing; the layout moves it. */
export interface Node {
  id: string;
  label: string;
  /** Null for the end of an edge that was not read itself. */
  vertex: Vertex | null;
  x: number;
  y: number;
  vx?: number;
  vy?: number;
  /** Where the reader has put it. */
  fx?: number | null;
  fy?: number | null;
}

export interface Link {
  id: string;
  edge: Edge;
  source: Node;
  target: Node;
  /** How far it is bent, so that edges between the same two lie apart: 0 for a straight one. */
  bend: number;
}

export interface Graph {
  nodes: ReadonlyMap<string, Node>;
  links: ReadonlyMap<string, Link>;
  /** What there was no room for. */
  nodesLeft: number;
  linksLeft: number;
}

export const EMPTY: Graph = { nodes: new Map(), links: new Map(), nodesLeft: 0, linksLeft: 0 };

/** Returns the graph with more of it; what is new begins beside `from`, or else around the middle. */
export function grown(before: Graph, elements: Elements, from?: Node): Graph {
  const nodes = new Map(before.nodes);
  let nodesLeft = before.nodesLeft;
  const put = (id: string, label: string, vertex: Vertex | null): Node | null => {
    const there = nodes.get(id);
    if (there) {
      if (vertex) Object.assign(there, { vertex, label });
      return there;
    }
    if (nodes.size >= NODES_MAX) {
      nodesLeft += 1;
      return null;
    }
    const node: Node = { id, label, vertex, ...begin(nodes.size, from) };
    nodes.set(id, node);
    return node;
  };
  for (const vertex of elements.vertices.values()) put(vertex.id, vertex.label, vertex);
  const links = new Map(before.links);
  let linksLeft = before.linksLeft;
  for (const edge of elements.edges.values()) {
    if (links.has(edge.id)) continue;
    const source = put(edge.outV, edge.outVLabel, null);
    const target = put(edge.inV, edge.inVLabel, null);
    if (!source || !target || links.size >= LINKS_MAX) linksLeft += 1;
    else links.set(edge.id, { id: edge.id, edge, source, target, bend: 0 });
  }
  bendApart(links);
  return { nodes, links, nodesLeft, linksLeft };
}

/** On a spiral, so that no two begin at the same place. */
function begin(index: number, from?: Node): { x: number; y: number } {
  const radius = from ? 40 : 14 * Math.sqrt(index + 0.5);
  const angle = index * 2.4;
  return { x: (from?.x ?? 0) + radius * Math.cos(angle), y: (from?.y ?? 0) + radius * Math.sin(angle) };
}

function bendApart(links: ReadonlyMap<string, Link>): void {
  const pairs = new Map<string, Link[]>();
  for (const link of links.values()) {
    const pair = JSON.stringify([link.source.id, link.target.id].sort());
    const others = pairs.get(pair);
    if (others) others.push(link);
    else pairs.set(pair, [link]);
  }
  for (const pair of pairs.values()) {
    pair.forEach((link, at) => {
      const side = at - (pair.length - 1) / 2;
      // Seen from the same end, whichever way the edge goes.
      link.bend = link.source.id <= link.target.id ? side : -side;
    });
  }
}

/** Radius of a vertex. */
export const RADIUS = 11;
/** Room for the text below a vertex, and how steep an edge is that would end in it. */
const TEXT_ROOM = 15;
const STEEP = 0.6;

/** Returns the line of an edge, from rim to rim, and where its label stands. */
export function lineOf({ source, target, bend }: Link): { path: string; x: number; y: number } {
  if (source === target) {
    const size = 26 + 10 * Math.abs(bend);
    const { x, y } = source;
    return { path: `M${x - 7},${y - 9}C${x - size},${y - size * 1.9} ${x + size},${y - size * 1.9} ${x + 8},${y - 10}`, x, y: y - size * 1.5 };
  }
  const [dx, dy] = [target.x - source.x, target.y - source.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const off = bend * 34;
  const [mx, my] = [(source.x + target.x) / 2 - uy * off, (source.y + target.y) / 2 + ux * off];
  const rim = (from: Node, radius: number) => {
    const [ax, ay] = [mx - from.x, my - from.y];
    const far = Math.hypot(ax, ay) || 1;
    return [round(from.x + (ax / far) * radius), round(from.y + (ay / far) * radius)] as const;
  };
  const [x1, y1] = rim(source, RADIUS);
  const isFromBelow = my - target.y > Math.hypot(mx - target.x, my - target.y) * STEEP;
  const [x2, y2] = rim(target, RADIUS + 5 + (isFromBelow ? TEXT_ROOM : 0));
  const path = bend === 0 ? `M${x1},${y1}L${x2},${y2}` : `M${x1},${y1}Q${round(mx)},${round(my)} ${x2},${y2}`;
  return { path, x: round((source.x + target.x) / 2 - (uy * off) / 2), y: round((source.y + target.y) / 2 + (ux * off) / 2) };
}

export const round = (n: number) => Math.round(n * 10) / 10;
