import { useState } from 'preact/hooks';

import { Button, counted, duration, Empty, Problem, ru, Spinner, Tabs } from '../../ui';
import { RowsJson } from '../query/RowsJson';
import '../query/query.css';
import { Documents } from './Documents';
import { Plan } from './Plan';
import { ROWS_MAX, type Runner, type RunState } from './runner';

type Tab = 'table' | 'json';

const TABS: readonly (readonly [Tab, string])[] = [
  ['table', 'Table'],
  ['json', 'JSON'],
];

/** What was found, part by part, or how it would be found. */
export function Results({ runner, batchSize }: { runner: Runner; batchSize: number }) {
  const state = runner.state.value;
  const [tab, setTab] = useState<Tab>('table');
  if (state.plan) return <Plan plan={state.plan} />;
  if (!state.isDone) {
    return (
      <section class="query-results" aria-label="Results">
        <div class="query-panel query-padded" role="status">
          {state.error !== null ? <Problem error={state.error} /> : state.isRunning ? <Spinner label="Asking the server" /> : <Nothing />}
        </div>
      </section>
    );
  }
  return (
    <section class="query-results" aria-label="Results">
      <Status runner={runner} state={state} batchSize={batchSize} />
      {state.error !== null && (
        <div class="query-failure">
          <Problem error={state.error} />
        </div>
      )}
      <Tabs label="Results" tabs={TABS} active={tab} onChange={setTab} />
      <div class="query-panel" role="tabpanel" aria-label={tab === 'table' ? 'Table' : 'JSON'}>
        {tab === 'table' ? <Documents rows={state.rows} /> : <RowsJson rows={state.rows} />}
      </div>
    </section>
  );
}

function Nothing() {
  return (
    <Empty title="No results yet">
      <p>
        Run the question to see its documents and what it cost. <em>Explain</em> shows whether an index answers it.
      </p>
    </Empty>
  );
}

function Status({ runner, state, batchSize }: { runner: Runner; state: RunState; batchSize: number }) {
  const isFull = state.rows.length >= ROWS_MAX;
  return (
    <div class="query-status" role="status">
      <strong>{counted(state.rows.length, 'document')}</strong>
      {state.charge !== null && (
        <span>
          <strong>{ru(state.charge)}</strong> RU
        </span>
      )}
      <span>{counted(state.batches, 'batch', 'batches')}</span>
      <span>{duration(state.milliseconds)}</span>
      {state.isRunning && <Spinner label="Reading" />}
      {state.cursor && isFull && <span class="dim">More than {counted(ROWS_MAX, 'document')} are not kept in the page.</span>}
      {state.cursor && !isFull && !state.isRunning && (
        <>
          <span class="dim">The cursor has more.</span>
          <Button small onClick={() => void runner.next(batchSize)}>
            Next batch
          </Button>
        </>
      )}
    </div>
  );
}
