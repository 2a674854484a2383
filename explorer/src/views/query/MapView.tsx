import { useMemo, useRef, useState } from 'preact/hooks';

import { Button } from '../../ui';
import { ticks } from './chart-model';
import { type Ring, type Shape, SHAPES_MAX, type Window, windowAround, zoomed } from './map-model';
import { useSize } from './useSize';

import './drawings.css';

/** Degrees beyond which a graticule says nothing. */
const WIDTH_MAX = 400;

/** Shapes of rows on a plain graticule: longitude along, latitude up, a degree as long in either direction. */
export function MapView({ shapes }: { shapes: readonly Shape[] }) {
  const [element, { width, height }] = useSize<HTMLDivElement>({ width: 800, height: 300 });
  const around = useMemo(() => windowAround(shapes, width / height), [shapes, width, height]);
  const [moved, setMoved] = useState<{ of: Window; window: Window } | null>(null);
  const [chosen, setChosen] = useState<Shape | null>(null);
  const held = useRef<{ x: number; y: number; window: Window } | null>(null);
  // Other shapes or another size: back to what shows all.
  const seen = moved?.of === around ? moved.window : around;
  const set = (window: Window) => setMoved({ of: around, window });
  const scale = width / (seen.east - seen.west);
  const x = (longitude: number) => (longitude - seen.west) * scale;
  const y = (latitude: number) => (seen.north - latitude) * scale;
  const line = (ring: Ring) => ring.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`);
  const path = (shape: Shape) =>
    shape.rings.map((ring) => `M${line(ring).join('L')}${shape.kind === 'polygon' ? 'Z' : ''}`).join('');
  const mark = (shape: Shape) => ({
    class: shape === chosen ? 'chosen' : '',
    onClick: () => setChosen(shape === chosen ? null : shape),
  });
  const title = (shape: Shape) => <title>{`${shape.label} (row ${shape.row + 1})`}</title>;
  return (
    <div class="query-map">
      <div class="row wrap">
        <Button small aria-label="Nearer" onClick={() => set(zoomed(seen, 0.6))}>
          +
        </Button>
        <Button small aria-label="Farther" disabled={seen.east - seen.west > WIDTH_MAX} onClick={() => set(zoomed(seen, 1 / 0.6))}>
          −
        </Button>
        <Button small kind="ghost" onClick={() => setMoved(null)}>
          Show all
        </Button>
        <span class="dim small" role="status">
          {chosen
            ? `${chosen.label}, row ${chosen.row + 1}: ${placeOf(chosen)}`
            : shapes.length >= SHAPES_MAX
              ? `The first ${SHAPES_MAX.toLocaleString('en')} shapes.`
              : `${shapes.length.toLocaleString('en')} ${shapes.length === 1 ? 'shape' : 'shapes'}. Drag to move; click one to see which it is.`}
        </span>
      </div>
      <div class="query-drawn" ref={element}>
        <svg
          class="query-drawing query-globe"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`Map of ${shapes.length} shapes; the table has their rows.`}
          onPointerDown={(event) => {
            held.current = { x: event.clientX, y: event.clientY, window: seen };
          }}
          onPointerMove={(event) => {
            const from = held.current;
            if (!from || event.buttons === 0) return;
            const [right, down] = [(event.clientX - from.x) / scale, (event.clientY - from.y) / scale];
            set({
              west: from.window.west - right, east: from.window.east - right,
              south: from.window.south + down, north: from.window.north + down,
            });
          }}
          onPointerUp={() => {
            held.current = null;
          }}
        >
          {ticks(seen.west, seen.east, Math.max(3, width / 130)).map((degree) => (
            <g key={`x${degree}`}>
              <line class="grid" x1={x(degree)} x2={x(degree)} y1={0} y2={height} />
              <text x={x(degree) + 3} y={height - 5}>
                {degrees(degree, 'E', 'W')}
              </text>
            </g>
          ))}
          {ticks(seen.south, seen.north, Math.max(3, height / 90)).map((degree) => (
            <g key={`y${degree}`}>
              <line class="grid" x1={0} x2={width} y1={y(degree)} y2={y(degree)} />
              <text x={4} y={y(degree) - 3}>
                {degrees(degree, 'N', 'S')}
              </text>
            </g>
          ))}
          {shapes.map((shape, index) =>
            shape.kind === 'point' ? null : (
              <path key={index} d={path(shape)} data-kind={shape.kind} {...mark(shape)}>
                {title(shape)}
              </path>
            ),
          )}
          {shapes.map((shape, index) => {
            const at = shape.rings[0]?.[0];
            return shape.kind === 'point' && at ? (
              <circle key={index} cx={x(at[0])} cy={y(at[1])} r={shape === chosen ? 7 : 4.5} {...mark(shape)}>
                {title(shape)}
              </circle>
            ) : null;
          })}
        </svg>
      </div>
    </div>
  );
}

function placeOf(shape: Shape): string {
  const [longitude = 0, latitude = 0] = shape.rings[0]?.[0] ?? [];
  const from = shape.kind === 'point' ? '' : `${shape.kind} from `;
  return `${from}${degrees(latitude, 'N', 'S', 4)} ${degrees(longitude, 'E', 'W', 4)}`;
}

function degrees(value: number, positive: string, negative: string, places = 3): string {
  const size = Number(Math.abs(value).toFixed(places));
  return `${size}°${size === 0 ? '' : value > 0 ? positive : negative}`;
}
