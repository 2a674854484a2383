//! What operations cost, today and then: in numbers, and as two bars each.

import type { Comparison } from '../../api/advice';
import { count, ru } from '../../ui';
import { rate, requests, saved } from './figures';

/** Where the dearest is more than this many times the cheapest, bars of equal steps would show the dear ones alone. */
const LINEAR_MAX = 30;

/** Operations that are shown; the dearest are the first. */
const LINES_MAX = 100;

export function ComparisonTable({ comparison, label }: { comparison: Comparison; label: string }) {
  const lines = comparison.operations.slice(0, LINES_MAX);
  const scale = scaleOf(lines.flatMap((one) => [one.before, one.after]));
  const sum = (of: 'before' | 'after') => comparison.operations.reduce((all, one) => all + one.perSecond * one[of], 0);
  if (lines.length === 0) return <p class="dim">No recorded operation costs another amount then.</p>;
  return (
    <div class="advice-comparison">
      <p>
        <strong>{saved(comparison)}</strong>
      </p>
      <div class="scroll" role="region" aria-label={label} tabIndex={0}>
        <table class="advice-table">
          <caption class="unseen">{label}</caption>
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col" class="number">In a second</th>
              <th scope="col" class="number">Requests</th>
              <th scope="col" class="number">RU today</th>
              <th scope="col" class="number">RU then</th>
              <td class="advice-bars" />
            </tr>
          </thead>
          <tbody>
            {lines.map((one, at) => (
              <tr key={at}>
                <th scope="row">
                  <code>{one.operation}</code>
                </th>
                <td class="number">{rate(one.perSecond)}</td>
                <td class="number">
                  {requests(one.requestsBefore)}
                  {one.requestsAfter !== one.requestsBefore && (
                    <>
                      <span aria-hidden="true"> → </span>
                      <span class="unseen">today, then </span>
                      {requests(one.requestsAfter)}
                    </>
                  )}
                </td>
                <td class="number">{ru(one.before)}</td>
                <td class="number">{ru(one.after)}</td>
                <td class="advice-bars">
                  <Bars before={scale.share(one.before)} after={scale.share(one.after)} />
                </td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Together, in a second</th>
              <td />
              <td />
              <td class="number">{ru(sum('before'))}</td>
              <td class="number">{ru(sum('after'))}</td>
              <td class="advice-bars" />
            </tr>
          </tfoot>
        </table>
      </div>
      <p class="dim small">
        <span class="advice-swatch today" aria-hidden="true" /> today <span class="advice-swatch then" aria-hidden="true" /> then
        {scale.isLog && '; the bars are on a logarithmic scale'}
        {comparison.operations.length > LINES_MAX && `; the first ${LINES_MAX} of ${count(comparison.operations.length)} operations`}
      </p>
    </div>
  );
}

function Bars({ before, after }: { before: number; after: number }) {
  const width = (share: number) => ({ width: `${(share * 100).toFixed(2)}%` });
  return (
    <div class="advice-pair" aria-hidden="true">
      <div class="today" style={width(before)} />
      <div class="then" style={width(after)} />
    </div>
  );
}

interface Scale {
  isLog: boolean;
  /** From 0 to 1. */
  share(value: number): number;
}

function scaleOf(values: readonly number[]): Scale {
  const drawn = values.filter((value) => value > 0);
  const [least, most] = [Math.min(...drawn), Math.max(...drawn)];
  const isLog = drawn.length > 0 && most / least > LINEAR_MAX;
  return {
    isLog,
    // The scale begins at half of the least, so that the least has a bar, too.
    share: (value) => (value <= 0 ? 0 : isLog ? Math.log((2 * value) / least) / Math.log((2 * most) / least) : value / most),
  };
}
