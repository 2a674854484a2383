//! The drawing of a chart by uPlot. Loaded when the first chart is shown.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface PlotSeries {
  colour: string;
  isFilled: boolean;
  isDashed: boolean;
  isShown: boolean;
}

export interface PlotOptions {
  box: HTMLElement;
  height: number;
  series: PlotSeries[];
  /** Of text and of lines that are not data. */
  ink: string;
  grid: string;
  font: string;
  write(value: number): string;
  /** Says which point the pointer is at; null when it has left. */
  onPoint(index: number | null): void;
}

export type Data = [xs: number[], ...values: (number | null)[][]];

/** A drawing, which changes with its data. */
export interface Plot {
  data(data: Data): void;
  width(pixels: number): void;
  destroy(): void;
}

export function draw(options: PlotOptions, data: Data): Plot {
  const { ink, grid, font } = options;
  const axis = { stroke: ink, font: `11px ${font}`, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const plot = new uPlot(
    {
      width: Math.max(120, options.box.clientWidth),
      height: options.height,
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: {
        // From zero: a line that hovers says nothing about how much it is.
        y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.1 : 10] },
      },
      axes: [
        { ...axis, size: 28, gap: 4, values: (_, splits, __, ___, step) => splits.map((at) => clock(at, step < 60)) },
        { ...axis, size: 52, gap: 4, values: (_, splits) => splits.map(options.write) },
      ],
      series: [{}, ...options.series.map(seriesOf)],
      hooks: { setCursor: [(self) => options.onPoint(self.cursor.idx ?? null)] },
    },
    data,
    options.box,
  );
  return {
    data: (next) => plot.setData(next),
    width: (pixels) => plot.setSize({ width: Math.max(120, pixels), height: options.height }),
    destroy: () => plot.destroy(),
  };
}

function seriesOf(series: PlotSeries): uPlot.Series {
  return {
    show: series.isShown,
    stroke: series.colour,
    width: series.isDashed ? 1 : 1.5,
    points: { show: false },
    ...(series.isFilled && { fill: faint(series.colour) }),
    ...(series.isDashed && { dash: [5, 4] }),
  };
}

/** Returns a colour, as a browser computes it, thin enough to lie below lines. */
function faint(colour: string): string {
  const parts = /^rgb\(([^)]+)\)$/.exec(colour);
  return parts ? `rgba(${parts[1]}, 0.14)` : colour;
}

function clock(seconds: number, hasSeconds: boolean): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const time = new Date(seconds * 1000);
  const minutes = `${two(time.getHours())}:${two(time.getMinutes())}`;
  return hasSeconds ? `${minutes}:${two(time.getSeconds())}` : minutes;
}
