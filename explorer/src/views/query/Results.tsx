import { useMemo, useState } from 'preact/hooks';

import { textErrors } from '../../api/query';
import { Button, count, counted, duration, Empty, Problem, ru, Spinner, Tabs } from '../../ui';
import { chartModel } from './chart-model';
import { ChartView } from './ChartView';
import { ExplainView } from './ExplainView';
import { orderHint } from './hints';
import { HintList } from './HintList';
import { MapView } from './MapView';
import { shapes } from './map-model';
import { SAMPLE_ITEMS } from './names';
import { PartitionsView } from './PartitionsView';
import { RowsJson } from './RowsJson';
import { RowsTable } from './RowsTable';
import { type Runner, type RunState, totalCharge } from './runner';
import { Statistics } from './Statistics';

type Tab = 'table' | 'json' | 'chart' | 'map' | 'explain' | 'statistics' | 'partitions';

export interface ResultsProps {
  runner: Runner;
  /** What the sample of items cost that completion takes its paths from; null if none was read. */
  learned: number | null;
}

/** What came of a query: its rows in several forms, and what they cost. */
export function Results({ runner, learned }: ResultsProps) {
  const state = runner.state.value;
  const plan = runner.plan.value;
  const [wanted, setWanted] = useState<Tab>('table');
  const chart = useMemo(() => chartModel(state.rows), [state.rows]);
  const found = useMemo(() => shapes(state.rows), [state.rows]);

  if (plan) {
    return (
      <section class="query-results" aria-label="Plan">
        <div class="query-status" role="status">
          <strong>Plan</strong>
          <span class="dim">Nothing was read and nothing was charged.</span>
        </div>
        <div class="query-panel" role="group" aria-label="Steps" tabIndex={0}>
          <ExplainView explained={plan.explained} indexes={null} asked={plan.asked} />
        </div>
      </section>
    );
  }
  if (!state.asked) {
    return (
      <Empty title="No results yet">
        <p>
          Run the query to see its rows, what it cost and why. <em>Explain</em> shows how it would be answered, for nothing.
        </p>
        {learned !== null && (
          <p class="small">
            Completion knows the properties of {SAMPLE_ITEMS} items at most, read once for {ru(learned)} RU.
          </p>
        )}
      </Empty>
    );
  }
  const failed = state.error === null ? null : <Failure state={state} />;
  if (state.pages.length === 0) {
    return (
      <section class="query-results" aria-label="Results">
        <div class="query-panel query-padded" role="status">
          {failed ?? (state.phase === 'running' ? <Spinner label="Asking the server" /> : 'Cancelled before an answer came.')}
        </div>
      </section>
    );
  }
  const tabs: [Tab, string][] = [
    ['table', 'Table'],
    ['json', 'JSON'],
    ...(chart ? [['chart', 'Chart'] as [Tab, string]] : []),
    ...(found.length > 0 ? [['map', 'Map'] as [Tab, string]] : []),
    ['explain', 'Explain'],
    ['statistics', 'Statistics'],
    ...(state.asked.scope.kind === 'all' ? [['partitions', 'Partitions'] as [Tab, string]] : []),
  ];
  const tab = tabs.some(([key]) => key === wanted) ? wanted : 'table';
  return (
    <section class="query-results" aria-label="Results">
      <Status runner={runner} state={state} />
      {failed}
      <Tabs label="Results" tabs={tabs} active={tab} onChange={setWanted} />
      <div
        class="query-panel"
        role="tabpanel"
        aria-label={tabs.find(([key]) => key === tab)?.[1]}
        // Rows scroll by themselves; the others are scrolled by keys here.
        tabIndex={tab === 'table' || tab === 'json' ? undefined : 0}
      >
        {tab === 'table' && <RowsTable rows={state.rows} />}
        {tab === 'json' && <RowsJson rows={state.rows} />}
        {tab === 'chart' && chart && <ChartView rows={state.rows} model={chart} />}
        {tab === 'map' && <MapView shapes={found} />}
        {tab === 'explain' && <ExplainView asked={state.asked} pages={state.explained} indexes={state.indexes} />}
        {tab === 'statistics' && <Statistics state={state} />}
        {tab === 'partitions' && <PartitionsView asked={state.asked} />}
      </div>
    </section>
  );
}

/** The line above the rows: how many, for how much, and whether there are more. */
function Status({ runner, state }: { runner: Runner; state: RunState }) {
  const isRunning = state.phase === 'running';
  const milliseconds = state.pages.reduce((sum, page) => sum + page.milliseconds, 0);
  const retrieved = state.pages.reduce((sum, page) => sum + (page.metrics?.retrieved ?? 0), 0);
  const more =
    state.full ??
    (state.continuation === null ? null
    : state.rows.length === 0 ? 'No rows on this page; the query goes on behind it.'
    : 'The query has more pages.');
  return (
    <div class="query-status" role="status">
      <strong>{counted(state.rows.length, 'row')}</strong>
      <span>
        <strong>{ru(totalCharge(state))}</strong> RU
      </span>
      <span>{counted(state.pages.length, 'page')}</span>
      <span>{duration(milliseconds)}</span>
      <span class="dim">{count(retrieved)} items looked at</span>
      {isRunning && <Spinner label="Reading" />}
      {state.phase === 'cancelled' && <span class="badge warn">cancelled</span>}
      {!isRunning && more && <span class="dim">{more}</span>}
      {!isRunning && state.continuation !== null && state.full === null && (
        <span class="row">
          <Button small onClick={() => void runner.goOn(false)}>
            Next page
          </Button>
          <Button small kind="ghost" onClick={() => void runner.goOn(true)}>
            All pages
          </Button>
        </span>
      )}
    </div>
  );
}

function Failure({ state }: { state: RunState }) {
  const errors = textErrors(state.error);
  const text = state.asked?.text ?? '';
  const message = state.error instanceof Error ? state.error.message : '';
  const hint = /composite index/i.test(message) && state.asked ? orderHint(text) : null;
  return (
    <div class="query-failure">
      <Problem error={state.error} />
      {errors.map((one) => one.from !== null && one.to !== null && (
        <p key={one.from} class="small query-place">
          {placeText(text, one.from)}: <code>{text.slice(one.from, one.to) || 'the end of the text'}</code>
        </p>
      ))}
      {hint && state.asked && <HintList database={state.asked.database} container={state.asked.container} text={text} hints={[hint]} />}
    </div>
  );
}

function placeText(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return `Line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
