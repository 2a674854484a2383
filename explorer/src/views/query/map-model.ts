//! Shapes that rows have in them, as GeoJSON, and how they lie on a flat map.

export type Ring = [longitude: number, latitude: number][];

export interface Shape {
  kind: 'point' | 'line' | 'polygon';
  rings: Ring[];
  /** The row it is of. */
  row: number;
  /** What the row is called. */
  label: string;
}

export const SHAPES_MAX = 2_000;
const DEPTH_MAX = 4;

/** Returns the shapes in rows; at most so many as can be drawn. */
export function shapes(rows: readonly unknown[]): Shape[] {
  const found: Shape[] = [];
  for (let row = 0; row < rows.length && found.length < SHAPES_MAX; row += 1) {
    const value = rows[row];
    collect(value, row, labelOf(value, row), 0, found);
  }
  return found.slice(0, SHAPES_MAX);
}

function labelOf(row: unknown, index: number): string {
  if (typeof row === 'object' && row !== null) {
    const { name, title, id } = row as Record<string, unknown>;
    const text = [name, title, id].find((one) => typeof one === 'string' || typeof one === 'number');
    if (text !== undefined) return String(text);
  }
  return `row ${index + 1}`;
}

function collect(value: unknown, row: number, label: string, depth: number, found: Shape[]): void {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
  const { type, coordinates } = value as { type?: unknown; coordinates?: unknown };
  if (typeof type === 'string' && Array.isArray(coordinates)) {
    const made = shapesOf(type, coordinates, row, label);
    if (made.length > 0) {
      found.push(...made);
      return;
    }
  }
  for (const member of Object.values(value)) collect(member, row, label, depth + 1, found);
}

function shapesOf(type: string, coordinates: unknown[], row: number, label: string): Shape[] {
  const one = (kind: Shape['kind'], rings: (Ring | null)[]): Shape[] =>
    rings.length > 0 && rings.every((ring) => ring !== null && ring.length > 0) ? [{ kind, rings: rings as Ring[], row, label }] : [];
  switch (type) {
    case 'Point':
      return one('point', [ringOf([coordinates])]);
    case 'MultiPoint':
      return coordinates.flatMap((point) => one('point', [ringOf([point])]));
    case 'LineString':
      return one('line', [ringOf(coordinates)]);
    case 'MultiLineString':
      return one('line', coordinates.map(ringOf));
    case 'Polygon':
      return one('polygon', coordinates.map(ringOf));
    case 'MultiPolygon':
      return coordinates.flatMap((polygon) => (Array.isArray(polygon) ? one('polygon', polygon.map(ringOf)) : []));
    default:
      return [];
  }
}

function ringOf(value: unknown): Ring | null {
  if (!Array.isArray(value)) return null;
  const ring: Ring = [];
  for (const point of value) {
    if (!Array.isArray(point)) return null;
    const [longitude, latitude] = point as unknown[];
    if (typeof longitude !== 'number' || typeof latitude !== 'number') return null;
    if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) return null;
    ring.push([longitude, latitude]);
  }
  return ring;
}

export interface Window {
  west: number;
  east: number;
  south: number;
  north: number;
}

/** Returns a window of a given proportion around all shapes, with room at the edges. */
export function windowAround(all: readonly Shape[], proportion: number): Window {
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [longitude, latitude] of all.flatMap((shape) => shape.rings.flat())) {
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
    south = Math.min(south, latitude);
    north = Math.max(north, latitude);
  }
  const middle = { x: (west + east) / 2, y: (south + north) / 2 };
  const height = Math.max((north - south) * 1.2, ((east - west) * 1.2) / proportion, 0.02);
  const width = height * proportion;
  return { west: middle.x - width / 2, east: middle.x + width / 2, south: middle.y - height / 2, north: middle.y + height / 2 };
}

/** Returns a window, nearer or farther. */
export function zoomed(window: Window, factor: number): Window {
  const [x, y] = [(window.west + window.east) / 2, (window.south + window.north) / 2];
  const width = (window.east - window.west) * factor;
  const height = (window.north - window.south) * factor;
  return { west: x - width / 2, east: x + width / 2, south: y - height / 2, north: y + height / 2 };
}
