import { useMemo, useState } from 'preact/hooks';

import { Checkbox, Select } from '../../ui';
import { type ChartModel, type Point, points, ROWS_MAX, ticks } from './chart-model';
import { useSize } from './useSize';

import './drawings.css';

/** Higher than this, bars are no easier to compare. */
const HEIGHT_MAX = 420;
const MEASURES_MAX = 8;
const LABEL_WIDTH = 84;

/** Rows as bars or lines: a column along, columns of numbers up. */
export function ChartView({ rows, model }: { rows: readonly unknown[]; model: ChartModel }) {
  const [axisName, setAxis] = useState(model.axes[0]?.name ?? '');
  const axis = model.axes.find((one) => one.name === axisName) ?? model.axes[0];
  const possible = model.measures.filter((name) => name !== axis?.name).slice(0, MEASURES_MAX);
  const [off, setOff] = useState<readonly string[]>([]);
  const measures = possible.filter((name) => !off.includes(name));
  const [element, size] = useSize<HTMLDivElement>({ width: 800, height: 260 });
  const drawn = useMemo(() => (axis ? points(rows, axis, possible) : []), [rows, axis?.name, possible.join('\n')]);
  if (!axis) return null;
  return (
    <div class="query-chart">
      <div class="row wrap query-chart-choices">
        <label class="row">
          <span class="dim">Along</span>
          <Select value={axis.name} options={model.axes.map((one) => [one.name, one.name] as const)} onChange={setAxis} />
        </label>
        {possible.map((name, index) => (
          <span class="row" key={name}>
            <span class={`query-swatch s${index + 1}`} aria-hidden="true" />
            <Checkbox
              label={name}
              checked={!off.includes(name)}
              onChange={(on) => setOff(on ? off.filter((one) => one !== name) : [...off, name])}
            />
          </span>
        ))}
        {rows.length > ROWS_MAX && <span class="dim small">The first {ROWS_MAX.toLocaleString('en')} rows.</span>}
      </div>
      <div class="query-drawn" ref={element}>
        <Drawing {...{ axis, drawn, possible, measures }} width={size.width} height={Math.min(HEIGHT_MAX, size.height)} />
      </div>
    </div>
  );
}

interface DrawingProps {
  axis: ChartModel['axes'][number];
  drawn: readonly Point[];
  possible: readonly string[];
  measures: readonly string[];
  width: number;
  height: number;
}

function Drawing({ axis, drawn, possible, measures, width, height }: DrawingProps) {
  const values = drawn.flatMap((point) => point.values.filter((value, index): value is number =>
    value !== null && measures.includes(possible[index] ?? '')));
  const high = Math.max(0, ...values);
  const low = Math.min(0, ...values);
  const marks = ticks(low, high === low ? low + 1 : high, 5);
  // The highest value lies below a line, too.
  const [one = 0, next = 1] = marks;
  const below = marks.at(-1) ?? 0;
  if (below < high) marks.push(below + next - one);
  const top = Math.max(high, marks.at(-1) ?? 0) || 1;
  const left = Math.max(40, 12 + Math.max(...marks.map((mark) => short(mark).length)) * 7);
  const box = { left, right: width - 14, top: 12, bottom: height - 30 };
  const y = (value: number) => box.bottom - ((value - low) / (top - low)) * (box.bottom - box.top);
  const isLine = axis.kind !== 'category' && drawn.length > 2;
  const span = box.right - box.left;
  const first = drawn[0]?.at ?? 0;
  const last = drawn.at(-1)?.at ?? 1;
  const x = (point: Point, index: number) =>
    isLine ? box.left + ((point.at - first) / (last - first || 1)) * span : box.left + ((index + 0.5) / drawn.length) * span;
  let end = -Infinity;
  const labelled = drawn.map((point, index) => {
    const isRoom = x(point, index) - end >= LABEL_WIDTH;
    if (isRoom) end = x(point, index);
    return isRoom;
  });
  const summary = `${measures.join(', ')} by ${axis.name}, ${drawn.length} points; the table has the figures.`;
  return (
    <svg class="query-drawing" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summary}>
      {marks.map((mark) => (
        <g key={mark}>
          <line x1={box.left} x2={box.right} y1={y(mark)} y2={y(mark)} class={mark === 0 ? 'zero' : 'grid'} />
          <text x={box.left - 8} y={y(mark) + 4} text-anchor="end">
            {short(mark)}
          </text>
        </g>
      ))}
      {drawn.map((point, index) =>
        labelled[index] ? (
          <text key={index} x={x(point, index)} y={height - 10} text-anchor={anchor(isLine, index, drawn.length)}>
            {axis.kind === 'time' ? point.label.slice(0, 10) : cut(point.label, 13)}
          </text>
        ) : null,
      )}
      {isLine
        ? possible.map((name, series) => measures.includes(name) && <Line key={name} {...{ drawn, series, x, y, name }} />)
        : drawn.map((point, index) => (
            <Bars key={point.label} {...{ point, possible, measures, y }} middle={x(point, index)} room={span / drawn.length} />
          ))}
    </svg>
  );
}

interface LineProps {
  drawn: readonly Point[];
  series: number;
  name: string;
  x(point: Point, index: number): number;
  y(value: number): number;
}

function Line({ drawn, series, x, y, name }: LineProps) {
  const there = drawn.flatMap((point, index) => {
    const value = point.values[series];
    return value === null || value === undefined ? [] : [{ x: x(point, index), y: y(value), text: `${point.label}: ${name} ${value}` }];
  });
  return (
    <g class={`s${series + 1}`}>
      <polyline points={there.map((one) => `${one.x.toFixed(1)},${one.y.toFixed(1)}`).join(' ')} />
      {there.length <= 200 && there.map((one, index) => (
        <circle key={index} cx={one.x} cy={one.y} r={3}>
          <title>{one.text}</title>
        </circle>
      ))}
    </g>
  );
}

interface BarsProps {
  point: Point;
  possible: readonly string[];
  measures: readonly string[];
  middle: number;
  room: number;
  y(value: number): number;
}

function Bars({ point, possible, measures, middle, room, y }: BarsProps) {
  const wide = Math.min(42, (room * 0.78) / Math.max(1, measures.length));
  return (
    <g>
      {measures.map((name, place) => {
        const series = possible.indexOf(name);
        const value = point.values[series];
        if (value === null || value === undefined) return null;
        const left = middle + (place - measures.length / 2) * wide;
        return (
          <rect
            key={name}
            class={`s${series + 1}`}
            x={left + 0.5}
            y={Math.min(y(value), y(0))}
            width={Math.max(1, wide - 1)}
            height={Math.max(0.5, Math.abs(y(0) - y(value)))}
          >
            <title>{`${point.label}: ${name} ${value}`}</title>
          </rect>
        );
      })}
    </g>
  );
}

function anchor(isLine: boolean, index: number, length: number): 'start' | 'middle' | 'end' {
  if (!isLine || (index > 0 && index < length - 1)) return 'middle';
  return index === 0 ? 'start' : 'end';
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 });

function short(value: number): string {
  return compact.format(value);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
