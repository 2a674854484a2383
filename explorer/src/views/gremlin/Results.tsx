import { useEffect, useMemo, useState } from 'preact/hooks';

import { counted, duration, Empty, Problem, ru, Spinner, Tabs } from '../../ui';
import '../query/query.css';
import { RowsJson } from '../query/RowsJson';
import { RowsTable } from '../query/RowsTable';
import { rowOf } from './elements';
import { GraphPane } from './GraphPane';
import type { Runner } from './runner';

type Tab = 'graph' | 'list' | 'json';

/** What a script found: as a graph where it has one, as rows, and as it came. */
export function Results({ runner }: { runner: Runner }) {
  const { outcome, error, graph, isRunning, more } = runner.state.value;
  const [wanted, setWanted] = useState<Tab>('graph');
  // Other results are looked at from the beginning.
  useEffect(() => setWanted('graph'), [outcome]);
  const rows = useMemo(() => outcome?.results.map(rowOf) ?? [], [outcome]);
  if (!outcome) {
    return (
      <section class="query-results" aria-label="Results">
        <div class="query-panel query-padded" role="status">
          {error !== null ? <Problem error={error} />
          : isRunning ? <Spinner label="Asking the server" />
          : (
            <Empty title="No results yet">
              <p>Run a script: vertices and edges that it finds are drawn, everything else is listed.</p>
            </Empty>
          )}
        </div>
      </section>
    );
  }
  const tabs: [Tab, string][] = [
    ...(graph.nodes.size > 0 ? [['graph', 'Graph'] as [Tab, string]] : []),
    ['list', 'List'],
    ['json', 'JSON'],
  ];
  const tab = tabs.some(([key]) => key === wanted) ? wanted : 'list';
  return (
    <section class="query-results" aria-label="Results">
      <div class="query-status" role="status">
        <strong>{counted(outcome.results.length, 'result')}</strong>
        {outcome.charge !== null && (
          <span>
            <strong>{ru(outcome.charge)}</strong> RU
          </span>
        )}
        {more > 0 && <span title="What the drawing asked for besides the script">+ {ru(more)} RU for the drawing</span>}
        <span>{duration(outcome.milliseconds)}</span>
        {isRunning && <Spinner label="Reading the edges" />}
      </div>
      {error !== null && (
        <div class="query-failure">
          <Problem error={error} />
        </div>
      )}
      <Tabs label="Results" tabs={tabs} active={tab} onChange={setWanted} />
      <div class="query-panel" role="tabpanel" aria-label={tabs.find(([key]) => key === tab)?.[1]}>
        {tab === 'graph' && <GraphPane runner={runner} />}
        {tab === 'list' && <RowsTable rows={rows} />}
        {tab === 'json' && <RowsJson rows={outcome.results} />}
      </div>
    </section>
  );
}
