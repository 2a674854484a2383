//! Lines over time. What the picture shows stands in words and in a table as well.

import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';

import { compact } from './number';
import type { Data, Plot } from './plot';
import { ChartTable } from './ChartTable';
import { useAppearance } from './appearance';
import './chart.css';

export interface Series {
  label: string;
  values: (number | null)[];
  /** A custom property's name, such as '--series-1'. */
  colour: string;
  /** The area below the line is tinted. */
  isFilled?: boolean;
  /** A bound rather than something that was measured. */
  isDashed?: boolean;
}

export interface ChartProps {
  series: Series[];
  /** Seconds since 1970, ascending. */
  xs: number[];
  unit: string;
  height: number;
  label: string;
}

export function Chart({ series, xs, unit, height, label }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const swatches = useRef<HTMLUListElement>(null);
  const plot = useRef<Plot | null>(null);
  const [point, setPoint] = useState<number | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const appearance = useAppearance();
  const id = useId();

  const data = useMemo<Data>(() => [xs, ...series.map((one) => one.values)], [xs, series]);
  const latest = useRef(data);
  latest.current = data;
  // What the drawing is made of, besides its numbers: when it changes, it is drawn anew.
  const shape = JSON.stringify(series.map((one) => [one.label, one.colour, one.isFilled, one.isDashed, hidden.has(one.label)]));

  useEffect(() => {
    let isGone = false;
    void import('./plot').then(({ draw }) => {
      const element = box.current;
      if (isGone || !element) return;
      const style = getComputedStyle(element);
      const marks = swatches.current?.querySelectorAll('.chart-swatch') ?? [];
      const colours = Array.from(marks, (mark) => getComputedStyle(mark).color);
      plot.current = draw(
        {
          box: element,
          height,
          series: series.map((one, index) => ({
            colour: colours[index] ?? style.color,
            isFilled: one.isFilled ?? false,
            isDashed: one.isDashed ?? false,
            isShown: !hidden.has(one.label),
          })),
          ink: style.color,
          grid: style.borderTopColor,
          font: style.fontFamily,
          write: compact,
          onPoint: setPoint,
        },
        latest.current,
      );
    });
    const observer = new ResizeObserver(([entry]) => {
      if (entry) plot.current?.width(Math.floor(entry.contentRect.width));
    });
    if (box.current) observer.observe(box.current);
    return () => {
      isGone = true;
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
    // The numbers are handed on below, without a new drawing.
  }, [shape, height, appearance]);

  useEffect(() => plot.current?.data(data), [data]);

  const toggle = (name: string) =>
    setHidden((old) => new Set(old.has(name) ? [...old].filter((one) => one !== name) : [...old, name]));

  const at = point !== null && point < xs.length ? point : xs.length - 1;
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption class="chart-head">
        <span id={id} class="chart-title">
          {label}
          <span class="unseen">. {summary(series, unit)}</span>
        </span>
        <span class="chart-unit">{point === null ? unit : `${timeOf(xs[at])}, ${unit}`}</span>
      </figcaption>
      <div ref={box} class="chart-box" style={{ height: `${height}px` }} aria-hidden="true" />
      <ul ref={swatches} class="chart-legend" aria-label={`Lines of ${label}`}>
        {series.map((one) => (
          <li key={one.label}>
            <button
              type="button"
              class="chart-key"
              aria-pressed={!hidden.has(one.label)}
              title="Show or hide this line"
              onClick={() => toggle(one.label)}
            >
              <span class={one.isDashed ? 'chart-swatch dashed' : 'chart-swatch'} style={{ color: `var(${one.colour})` }} />
              <span>{one.label}</span>
              <span class="chart-value">{write(one.values[at])}</span>
            </button>
          </li>
        ))}
      </ul>
      <ChartTable series={series} xs={xs} unit={unit} label={label} />
    </figure>
  );
}

function write(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : compact(value);
}

function timeOf(seconds: number | undefined): string {
  return seconds === undefined ? '' : new Date(seconds * 1000).toLocaleTimeString('en-GB');
}

/** Says what the lines show, to those who do not see them. */
function summary(series: Series[], unit: string): string {
  const sentences = series.map((one) => {
    const values = one.values.filter((value) => value !== null);
    const last = values.at(-1);
    if (last === undefined) return `${one.label}: nothing yet`;
    if (one.isDashed) return `${one.label}: ${compact(last)} ${unit}`;
    return `${one.label}: now ${compact(last)}, at most ${compact(Math.max(...values))} ${unit}`;
  });
  return sentences.join('. ');
}
