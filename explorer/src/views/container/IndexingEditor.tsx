//! An indexing policy, as lists or as the JSON that it is. The text is what counts; the lists read and write it.

import { useState } from 'preact/hooks';

import type { CompositePath, IndexingPolicy } from '../../api/resources';
import { Editor } from '../../editor/Editor';
import { Button } from '../../ui/Button';
import { Choice, Input, Select } from '../../ui/Field';
import { Tabs } from '../../ui/Tabs';
import { pathsOf, policyText, readPolicy } from './policy';

import './container.css';

export interface IndexingEditorProps {
  text: string;
  onChange(text: string): void;
  isReadOnly?: boolean;
}

export function IndexingEditor({ text, onChange, isReadOnly = false }: IndexingEditorProps) {
  const [mode, setMode] = useState<'lists' | 'json'>('lists');
  const read = readPolicy(text);
  return (
    <div class="indexing">
      <Tabs
        label="How the policy is shown"
        tabs={[
          ['lists', 'Lists'],
          ['json', 'JSON'],
        ]}
        active={mode}
        onChange={setMode}
      />
      {mode === 'json' ? (
        <Editor value={text} language="json" label="Indexing policy" minLines={14} readOnly={isReadOnly} onChange={onChange} />
      ) : 'wrong' in read ? (
        <p class="wrong">{read.wrong}</p>
      ) : (
        <Lists policy={read.policy} isReadOnly={isReadOnly} onChange={(policy) => onChange(policyText(policy))} />
      )}
      {mode === 'json' && 'wrong' in read && <p class="wrong">{read.wrong}</p>}
    </div>
  );
}

interface ListsProps {
  policy: IndexingPolicy;
  isReadOnly: boolean;
  onChange(policy: IndexingPolicy): void;
}

function Lists({ policy, isReadOnly, onChange }: ListsProps) {
  const isNone = policy.indexingMode?.toLowerCase() === 'none';
  return (
    <fieldset class="lists" disabled={isReadOnly}>
      <Choice
        label="Mode"
        value={isNone ? 'none' : 'consistent'}
        onChange={(mode) => onChange({ ...policy, indexingMode: mode, automatic: mode !== 'none' })}
        options={[
          ['consistent', 'Consistent', 'Every write keeps the index up to date.'],
          ['none', 'None', 'Nothing is indexed: writes cost less, and every query reads all items. No time to live.'],
        ]}
      />
      {!isNone && (
        <>
          <Paths
            title="Included paths"
            help="What queries can find by the index. /* is everything; /name/? is one value; /tags/[]/? are the values of an array."
            paths={pathsOf(policy.includedPaths)}
            fresh="/"
            onChange={(paths) => onChange({ ...policy, includedPaths: paths.map((path) => ({ path })) })}
          />
          <Paths
            title="Excluded paths"
            help="What is not indexed: writes get cheaper by it. The more precise path counts."
            paths={pathsOf(policy.excludedPaths)}
            fresh="/"
            onChange={(paths) => onChange({ ...policy, excludedPaths: paths.map((path) => ({ path })) })}
          />
          <Composites
            indexes={policy.compositeIndexes ?? []}
            onChange={(indexes) => {
              const { compositeIndexes: _, ...others } = policy;
              onChange(indexes.length > 0 ? { ...others, compositeIndexes: indexes } : others);
            }}
          />
        </>
      )}
    </fieldset>
  );
}

interface PathsProps {
  title: string;
  help: string;
  paths: readonly string[];
  fresh: string;
  onChange(paths: string[]): void;
}

export function Paths({ title, help, paths, fresh, onChange }: PathsProps) {
  return (
    <section class="paths">
      <h3>{title}</h3>
      <p class="help">{help}</p>
      {paths.map((path, at) => (
        <div class="row" key={at}>
          <Input
            aria-label={`${title}, ${at + 1}`}
            class="mono"
            value={path}
            onInput={(text) => onChange(paths.map((one, index) => (index === at ? text : one)))}
          />
          <Button kind="ghost" small aria-label={`Remove ${path}`} onClick={() => onChange(paths.filter((_, index) => index !== at))}>
            ✕
          </Button>
        </div>
      ))}
      <Button small onClick={() => onChange([...paths, fresh])}>
        Add a path
      </Button>
    </section>
  );
}

interface CompositesProps {
  indexes: readonly CompositePath[][];
  onChange(indexes: CompositePath[][]): void;
}

const ORDERS = [
  ['ascending', 'ascending'],
  ['descending', 'descending'],
] as const;

function Composites({ indexes, onChange }: CompositesProps) {
  const set = (at: number, index: CompositePath[]) => {
    const next = indexes.map((one, number) => (number === at ? index : one));
    onChange(next.filter((one) => one.length > 0));
  };
  return (
    <section class="paths">
      <h3>Composite indexes</h3>
      <p class="help">
        Several values in one order: ORDER BY with two or more paths needs one, and filters on several paths get cheaper.
      </p>
      {indexes.map((index, at) => (
        <div class="composite" key={at}>
          {index.map((one, place) => (
            <div class="row" key={place}>
              <Input
                aria-label={`Composite index ${at + 1}, path ${place + 1}`}
                class="mono"
                value={one.path}
                onInput={(path) => set(at, index.map((old, number) => (number === place ? { ...old, path } : old)))}
              />
              <div class="order">
                <Select
                  aria-label={`Composite index ${at + 1}, order of path ${place + 1}`}
                  value={one.order === 'descending' ? 'descending' : 'ascending'}
                  options={ORDERS}
                  onChange={(order) => set(at, index.map((old, number) => (number === place ? { ...old, order } : old)))}
                />
              </div>
              <Button
                kind="ghost"
                small
                aria-label={`Remove path ${place + 1} of composite index ${at + 1}`}
                onClick={() => set(at, index.filter((_, number) => number !== place))}
              >
                ✕
              </Button>
            </div>
          ))}
          <Button small onClick={() => set(at, [...index, { path: '/', order: 'ascending' }])}>
            Add a path to it
          </Button>
        </div>
      ))}
      <Button
        small
        onClick={() =>
          onChange([
            ...indexes,
            [
              { path: '/', order: 'ascending' },
              { path: '/', order: 'ascending' },
            ],
          ])
        }
      >
        Add a composite index
      </Button>
    </section>
  );
}
