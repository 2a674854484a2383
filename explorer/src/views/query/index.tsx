//! The query view: a text, what it is asked with, and what came of it.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { textErrors } from '../../api/query';
import type { SqlNames } from '../../editor/completion';
import { Editor } from '../../editor/Editor';
import { Split } from '../../ui';
import { Library } from './Library';
import { namesOf } from './names';
import { parameterNames, parametersOf, type Typed } from './parameters';
import { Parameters } from './Parameters';
import './query.css';
import { Results } from './Results';
import { type Asked, runnerOf, totalCharge } from './runner';
import { scopeOf } from './scope';
import { draft, keepDraft, type Kept, remember } from './store';
import { Toolbar } from './Toolbar';

const FIRST = 'SELECT *\nFROM c';

export default function QueryView({ database, container }: { database: string; container: string; rest: string[] }) {
  // Another container is another view: nothing of one is shown for the other.
  return <Query key={JSON.stringify([database, container])} database={database} container={container} />;
}

function Query({ database, container }: { database: string; container: string }) {
  const [kept, setKept] = useState<Kept>(() => draft(database, container) ?? { text: FIRST, typed: {}, key: null });
  const [pageSize, setPageSize] = useState(100);
  const [allPages, setAllPages] = useState(false);
  const [paths, setPaths] = useState<string[]>([]);
  const [keyError, setKeyError] = useState<string | null>(null);
  const [isLibrary, setLibrary] = useState(false);
  const runner = useMemo(() => runnerOf(database, container), []);
  const names = useRef<SqlNames | null>(null);
  const [learned, setLearned] = useState<number | null>(null);
  const state = runner.state.value;
  const parameters = parameterNames(kept.text);

  useEffect(() => () => runner.cancel(), []);
  useEffect(() => keepDraft(database, container, kept), [kept]);

  // The sample is read when somebody begins to write, not by looking at the page.
  const learn = () => {
    if (names.current) return;
    namesOf(database, container).then(
      (found) => {
        names.current = found.names;
        setLearned(found.charge);
      },
      () => undefined,
    );
  };

  const asked = (): Asked | null => {
    const scope = scopeOf(kept.key, paths);
    if ('wrong' in scope) {
      setKeyError(scope.wrong);
      return null;
    }
    setKeyError(null);
    return { database, container, text: kept.text, parameters: parametersOf(parameters, kept.typed), scope, pageSize };
  };
  const run = async () => {
    const what = asked();
    if (!what) return;
    const started = { ...kept, at: Date.now() };
    remember(database, container, { ...started, charge: null, rows: null });
    await runner.run(what, allPages);
    const { phase, rows } = runner.state.value;
    if (phase === 'done') remember(database, container, { ...started, charge: totalCharge(runner.state.value), rows: rows.length });
  };
  const plan = () => {
    const what = asked();
    if (what) void runner.explain(what);
  };

  // Marks belong to the text that was sent; once it is another, they would underline something else.
  const errors = useMemo(() => textErrors(state.error), [state.error]);
  const marks = useMemo(
    () =>
      state.asked?.text === kept.text
        ? errors.flatMap((one) => (one.from === null || one.to === null ? [] : [{ from: one.from, to: one.to, message: one.message }]))
        : [],
    [errors, state.asked, kept.text],
  );

  return (
    <div
      class="query"
      onKeyDown={(event) => {
        // The editor has taken the keys if it has the focus.
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
        event.preventDefault();
        void run();
      }}
    >
      <Toolbar
        {...{ database, container, keyError, pageSize, allPages }}
        isRunning={state.phase === 'running'}
        keyText={kept.key}
        onKey={(key) => {
          setKeyError(null);
          setKept((before) => ({ ...before, key }));
        }}
        onPaths={setPaths}
        onPageSize={setPageSize}
        onAllPages={setAllPages}
        onRun={() => void run()}
        onPlan={plan}
        onCancel={() => runner.cancel()}
        onLibrary={() => setLibrary(true)}
      />
      {keyError && (
        <p class="query-key-error" role="alert">
          {keyError}
        </p>
      )}
      <div class="query-split">
        <Split
          label="Query and results"
          name="query"
          down
          initial={0.34}
          least={90}
          first={
            <div class="query-text" onFocusIn={learn}>
              <Editor
                value={kept.text}
                language="sql"
                label="Query"
                marks={marks}
                names={() => names.current}
                onChange={(text) => setKept((before) => ({ ...before, text }))}
                onRun={() => void run()}
              />
              <Parameters
                names={parameters}
                typed={kept.typed}
                onChange={(typed: Typed) => setKept((before) => ({ ...before, typed }))}
                onRun={() => void run()}
              />
            </div>
          }
          second={<Results runner={runner} learned={learned} />}
        />
      </div>
      {isLibrary && (
        <Library
          {...{ database, container }}
          current={kept}
          onChoose={(chosen) => setKept({ text: chosen.text, typed: chosen.typed, key: chosen.key })}
          onClose={() => setLibrary(false)}
        />
      )}
    </div>
  );
}
