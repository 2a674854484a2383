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

interface Point {
  x: number;
  y: number;
}

/** Returns the line of an edge, from rim to rim, and the point of it after a part of the way. */
export function lineOf({ source, target, bend }: Link): { path: string; at(part: number): Point } {
  if (source === target) {
    const size = 26 + 10 * Math.abs(bend);
    const { x, y } = source;
    const path = `M${x - 7},${y - 9}C${x - size},${y - size * 1.9} ${x + size},${y - size * 1.9} ${x + 8},${y - 10}`;
    return { path, at: () => ({ x, y: y - size * 1.5 }) };
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
  const between = (part: number, from: number, middle: number, to: number) =>
    round((1 - part) ** 2 * from + 2 * part * (1 - part) * middle + part ** 2 * to);
  return { path, at: (part) => ({ x: between(part, source.x, mx, target.x), y: between(part, source.y, my, target.y) }) };
}

/** Where on its line a label may stand, the best first. */
const LABEL_PLACES = [0.5, 0.42, 0.58, 0.35, 0.65, 0.28, 0.72];
/** About what a label takes, with a little around it. */
const [CHARACTER_WIDTH, ABOVE, BELOW] = [7, 16, 2];

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Returns where the label of each edge stands: on its line, where it covers as little of vertices and other labels as can be. */
export function labelPlaces(graph: Graph, textOf: (link: Link) => string): Map<string, Point> {
  const taken: Box[] = [...graph.nodes.values()].map(({ x, y }) => ({ left: x - RADIUS, right: x + RADIUS, top: y - RADIUS, bottom: y + RADIUS + TEXT_ROOM }));
  const places = new Map<string, Point>();
  for (const link of graph.links.values()) {
    const line = lineOf(link);
    const half = (textOf(link).length * CHARACTER_WIDTH) / 2;
    let best: { point: Point; box: Box; covers: number } | null = null;
    for (const part of LABEL_PLACES) {
      const point = line.at(part);
      const box = { left: point.x - half, right: point.x + half, top: point.y - ABOVE, bottom: point.y + BELOW };
      const covers = taken.reduce((sum, other) => sum + shared(box, other), 0);
      if (best === null || covers < best.covers) best = { point, box, covers };
      if (covers === 0) break;
    }
    if (best === null) continue;
    taken.push(best.box);
    places.set(link.id, best.point);
  }
  return places;
}

/** Returns how much two boxes share. */
function shared(one: Box, other: Box): number {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return Math.max(width, 0) * Math.max(height, 0);
}

export const round = (n: number) => Math.round(n * 10) / 10;
