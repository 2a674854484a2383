//! Questions in the language of MongoDB: finds and pipelines, what they find and what they cost.

import { useEffect, useMemo, useState } from 'preact/hooks';

import type { Question } from '../../api/mongo';
import { Editor } from '../../editor/Editor';
import { Button, Field, Input, Select, Split } from '../../ui';
import { useNarrow } from '../../ui/useNarrow';
import { draftOf, keepDraft, type Draft, type Mode } from './draft';
import { readObject, readPipeline, WrongText } from './extended';
import './mongo.css';
import { Results } from './Results';
import { runnerOf } from './runner';

const SIZES = ['10', '50', '100', '500', '1000'].map((size) => [size, `${Number(size).toLocaleString('en')} a batch`] as const);
const RUN_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘↵' : 'Ctrl ↵';

export default function Mongo({ database, container }: { database: string; container: string; rest: string[] }) {
  const [draft, setDraft] = useState(() => draftOf(database, container));
  const [batchSize, setBatchSize] = useState(100);
  const runner = useMemo(() => runnerOf(database, container), []);
  const isNarrow = useNarrow(700);
  const state = runner.state.value;
  useEffect(() => () => runner.end(), []);
  useEffect(() => keepDraft(database, container, draft), [draft]);

  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const question = () => questionOf(draft);
  const run = () => void runner.run(question, batchSize);

  return (
    <div
      class="mongo"
      onKeyDown={(event) => {
        // The editor has taken the keys if it has the focus.
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
        event.preventDefault();
        run();
      }}
    >
      <div class="mongo-bar">
        {state.isRunning ? (
          <Button kind="danger" onClick={() => runner.cancel()}>
            Cancel
          </Button>
        ) : (
          <Button kind="primary" onClick={run} title={`Run (${RUN_KEYS})`}>
            Run <span class="mongo-keys">{RUN_KEYS}</span>
          </Button>
        )}
        <Button
          disabled={state.isRunning}
          onClick={() => void runner.explain(question)}
          title="Runs it, shows how it was answered, and what it read for that"
        >
          Explain
        </Button>
        <Select
          aria-label="What is asked"
          value={draft.mode}
          options={[
            ['find', 'Find'],
            ['aggregate', 'Aggregate'],
          ]}
          onChange={(mode: Mode) => set({ mode })}
        />
        <Select aria-label="Documents of a batch" value={String(batchSize)} options={SIZES} onChange={(size) => setBatchSize(Number(size))} />
        <span class="dim small mongo-about">Extended JSON, such as {'{"$oid": "…"}'} and {'{"$date": "…"}'}</span>
      </div>
      <div class="mongo-split">
        <Split
          label="Question and results"
          name="mongo"
          down
          initial={isNarrow ? 0.5 : 0.36}
          least={90}
          first={draft.mode === 'find' ? <FindFields draft={draft} set={set} onRun={run} /> : <Pipeline draft={draft} set={set} onRun={run} />}
          second={<Results runner={runner} batchSize={batchSize} />}
        />
      </div>
    </div>
  );
}

interface PartProps {
  draft: Draft;
  set(change: Partial<Draft>): void;
  onRun(): void;
}

function FindFields({ draft, set, onRun }: PartProps) {
  return (
    <div class="mongo-find">
      <div class="mongo-filter">
        <h2 class="mongo-name">Filter</h2>
        <Editor value={draft.filter} language="json" label="Filter" onChange={(filter) => set({ filter })} onRun={onRun} />
      </div>
      <div class="mongo-options">
        <h2 class="mongo-name">Projection</h2>
        <Editor value={draft.projection} language="json" label="Projection" minLines={2} onChange={(projection) => set({ projection })} onRun={onRun} />
        <h2 class="mongo-name">Sort</h2>
        <Editor value={draft.sort} language="json" label="Sort" minLines={2} onChange={(sort) => set({ sort })} onRun={onRun} />
        <div class="mongo-numbers">
          <Field label="Skip">
            <Input type="number" min={0} value={draft.skip} placeholder="0" onInput={(skip) => set({ skip })} />
          </Field>
          <Field label="Limit">
            <Input type="number" min={0} value={draft.limit} placeholder="all" onInput={(limit) => set({ limit })} />
          </Field>
        </div>
      </div>
    </div>
  );
}

function Pipeline({ draft, set, onRun }: PartProps) {
  return (
    <div class="mongo-filter">
      <h2 class="mongo-name">Pipeline</h2>
      <Editor value={draft.pipeline} language="json" label="Pipeline" onChange={(pipeline) => set({ pipeline })} onRun={onRun} />
    </div>
  );
}

async function questionOf(draft: Draft): Promise<Question> {
  if (draft.mode === 'aggregate') return { kind: 'aggregate', pipeline: await readPipeline('Pipeline', draft.pipeline) };
  return {
    kind: 'find',
    filter: (await readObject('Filter', draft.filter)) ?? {},
    projection: await readObject('Projection', draft.projection),
    sort: await readObject('Sort', draft.sort),
    skip: whole('Skip', draft.skip),
    limit: whole('Limit', draft.limit),
  };
}

function whole(where: string, text: string): number {
  const number = text.trim() === '' ? 0 : Number(text);
  if (!Number.isInteger(number) || number < 0) throw new WrongText(where, 'this has to be a whole number.');
  return number;
}
