import { bytes, count, duration, Figure, ru } from '../../ui';
import type { Metrics } from '../../api/query';
import { type RunState, totalCharge } from './runner';

import './figures.css';

/** What the server counted, over all pages and for each. */
export function Statistics({ state }: { state: RunState }) {
  const metrics = state.pages.map((page) => page.metrics).filter((one) => one !== null);
  const sum = (of: (one: Metrics) => number) => metrics.reduce((total, one) => total + of(one), 0);
  const [retrieved, returned] = [sum((one) => one.retrieved), sum((one) => one.returned)];
  // What the index answered for nothing, as a share of what was looked at; weighted, because pages differ.
  const hit = retrieved > 0 ? sum((one) => one.indexHitRatio * one.retrieved) / retrieved : (metrics[0]?.indexHitRatio ?? 0);
  const total = sum((one) => one.totalMs);
  const [compile, index, load] = [sum((one) => one.compileMs), sum((one) => one.indexMs), sum((one) => one.loadMs)];
  const times: [string, number][] = [
    ['Compile the query', compile],
    ['Read the index', index],
    ['Load items', load],
    ['Everything else', Math.max(0, total - compile - index - load)],
  ];
  const trip = state.pages.reduce((all, page) => all + page.milliseconds, 0);
  const dearest = Math.max(...state.pages.map((page) => page.charge));
  return (
    <div class="query-statistics">
      <div class="figures">
        <Figure label="Charge" value={ru(totalCharge(state))} unit="RU" />
        <Figure label="Rows" value={count(state.rows.length)} hint="What came out" />
        <Figure label="Items looked at" value={count(retrieved)} hint="Items that were loaded or counted to find the rows" />
        <Figure label="Loaded" value={bytes(sum((one) => one.retrievedBytes))} />
        <Figure label="Returned" value={bytes(sum((one) => one.returnedBytes))} />
        <Figure
          label="Hit by the index"
          value={`${Math.round(hit * 100)}`}
          unit="%"
          hint="How much of what was looked at belonged to the answer"
        />
      </div>
      {returned > 0 && retrieved > returned * 10 && (
        <p class="notice warn">
          {count(Math.round(retrieved / returned))} items were looked at for each row. The Explain tab says where, and whether
          an index would help.
        </p>
      )}
      <h3>Time in the server</h3>
      <table class="query-figures">
        <caption class="unseen">Time in the server</caption>
        <tbody>
          {times.map(([name, time]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{fine(time)}</td>
              <td class="query-bar-cell">
                <Bar share={total > 0 ? time / total : 0} />
              </td>
            </tr>
          ))}
          <tr class="query-sum">
            <th scope="row">Together</th>
            <td class="number">{fine(total)}</td>
            <td class="dim small">{duration(trip)} with the way there and back</td>
          </tr>
        </tbody>
      </table>
      <h3>Pages</h3>
      <table class="query-figures">
        <caption class="unseen">Pages</caption>
        <thead>
          <tr>
            <th scope="col">Page</th>
            <th scope="col" class="number">Rows</th>
            <th scope="col" class="number">Looked at</th>
            <th scope="col" class="number">In the server</th>
            <th scope="col" class="number">RU</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {state.pages.slice(0, PAGES_SHOWN).map((page, at) => (
            <tr key={at}>
              <th scope="row">{count(at + 1)}</th>
              <td class="number">{count(page.rows)}</td>
              <td class="number">{page.metrics ? count(page.metrics.retrieved) : ''}</td>
              <td class="number">{page.metrics ? fine(page.metrics.totalMs) : ''}</td>
              <td class="number">{ru(page.charge)}</td>
              <td class="query-bar-cell">
                <Bar share={dearest > 0 ? page.charge / dearest : 0} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {state.pages.length > PAGES_SHOWN && (
        <p class="dim small">The first {PAGES_SHOWN} of {count(state.pages.length)} pages.</p>
      )}
    </div>
  );
}

const PAGES_SHOWN = 100;

/** A time in the server: most are shorter than a millisecond. */
export function fine(milliseconds: number): string {
  return milliseconds < 1 ? `${Math.round(milliseconds * 1000)} µs` : duration(milliseconds);
}

/** A share as a bar; the figure stands beside it. */
export function Bar({ share }: { share: number }) {
  const width = `${Math.max(share > 0 ? 1 : 0, Math.min(100, share * 100)).toFixed(2)}%`;
  return (
    <div class="query-share" aria-hidden="true">
      <div style={{ width }} />
    </div>
  );
}
