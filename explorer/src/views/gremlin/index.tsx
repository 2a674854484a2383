//! Scripts of the Gremlin API, and the graph that they find.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { readContainer } from '../../api/resources';
import { Editor } from '../../editor/Editor';
import { can } from '../../shell/state';
import { ago, Button, Checkbox, counted, Menu, ru, Split } from '../../ui';
import { useNarrow } from '../../ui/useNarrow';
import { examples, FIRST } from './examples';
import './gremlin.css';
import { history, remember, type Run } from './history';
import { Results } from './Results';
import { runnerOf } from './runner';

const RUN_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘↵' : 'Ctrl ↵';

export default function Gremlin({ database, container }: { database: string; container: string; rest: string[] }) {
  const [runs, setRuns] = useState(() => history(database, container));
  const [text, setText] = useState(() => runs[0]?.text ?? FIRST);
  const [withEdges, setWithEdges] = useState(true);
  const [key, setKey] = useState<string | null>(null);
  const keyNow = useRef<string | null>(null);
  keyNow.current = key;
  const runner = useMemo(() => runnerOf(database, container, () => keyNow.current), []);
  const isNarrow = useNarrow(700);
  const state = runner.state.value;

  useEffect(() => () => runner.cancel(), []);
  useEffect(() => {
    const abort = new AbortController();
    // Without the key everything works as well, and costs more.
    readContainer(database, container, abort.signal).then(
      (read) => setKey(read.container.partitionKey?.paths[0]?.replace(/^\//, '') ?? null),
      () => undefined,
    );
    return () => abort.abort();
  }, []);

  const run = async () => {
    if (text.trim() === '') return;
    const at = Date.now();
    setRuns(remember(database, container, { text, at, charge: null, results: null }));
    const outcome = await runner.run(text, withEdges);
    if (outcome) setRuns(remember(database, container, { text, at, charge: outcome.charge, results: outcome.results.length }));
  };
  const offered = examples(key ?? 'pk').filter((one) => !one.writes || (can('write') && key !== null));

  return (
    <div
      class="gremlin"
      onKeyDown={(event) => {
        // The editor has taken the keys if it has the focus.
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
        event.preventDefault();
        void run();
      }}
    >
      <div class="gremlin-bar">
        {state.isRunning ? (
          <Button kind="danger" onClick={() => runner.cancel()}>
            Cancel
          </Button>
        ) : (
          <Button kind="primary" disabled={text.trim() === ''} onClick={() => void run()} title={`Run the script (${RUN_KEYS})`}>
            Run <span class="gremlin-keys">{RUN_KEYS}</span>
          </Button>
        )}
        <Menu
          label="Examples"
          kind="plain"
          left
          items={offered.map((one) => ({ title: one.title, hint: one.about, onClick: () => setText(one.text) }))}
        />
        {runs.length > 0 && (
          <Menu
            label="History"
            kind="plain"
            left
            items={runs.map((one) => ({ title: inLine(one.text), hint: about(one), onClick: () => setText(one.text) }))}
          />
        )}
        <div class="gremlin-with" title="Where a script finds vertices alone, the edges between them are asked for as well, unless those are many. What that costs is told beside the charge.">
          <Checkbox label="Edges between vertices" checked={withEdges} onChange={setWithEdges} />
        </div>
      </div>
      <div class="gremlin-split">
        <Split
          label="Script and results"
          name="gremlin"
          down
          initial={isNarrow ? 0.22 : 0.2}
          least={70}
          first={<Editor value={text} language="javascript" label="Script" onChange={setText} onRun={() => void run()} />}
          second={<Results runner={runner} />}
        />
      </div>
    </div>
  );
}

/** A script in one line, its beginning and its end. */
function inLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 72 ? `${line.slice(0, 44)} … ${line.slice(-25)}` : line;
}

function about({ at, charge, results }: Run): string {
  return [ago(at), results === null ? '' : counted(results, 'result'), charge === null ? '' : `${ru(charge)} RU`].filter(Boolean).join(' · ');
}
