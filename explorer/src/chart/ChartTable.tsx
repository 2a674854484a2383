//! The numbers of a chart as a table, which is made when somebody opens it.

import { useState } from 'preact/hooks';

import type { ChartProps } from './Chart';
import { compact } from './number';

export function ChartTable({ series, xs, unit, label }: Omit<ChartProps, 'height'>) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="chart-numbers" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Numbers</summary>
      {isOpen && (
        <div class="chart-table" tabIndex={0} role="region" aria-label={`Numbers of ${label}`}>
          <table>
            <caption class="unseen">
              {label}, {unit}
            </caption>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map((one) => (
                  <th key={one.label} scope="col">
                    {one.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {xs
                .map((x, index) => (
                  <tr key={x}>
                    <th scope="row">{new Date(x * 1000).toLocaleTimeString('en-GB')}</th>
                    {series.map((one) => {
                      const value = one.values[index];
                      return <td key={one.label}>{value === null || value === undefined ? '–' : compact(value)}</td>;
                    })}
                  </tr>
                ))
                .reverse()}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
