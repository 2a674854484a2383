import { useState } from 'preact/hooks';

import { ago, Button, counted, Dialog, Empty, Field, Input, ru, Tabs, toast } from '../../ui';
import { isOfDemo } from './demo';
import { DemoList } from './DemoList';
import { clearHistory, forget, history, type Kept, save, saved } from './store';

import './library.css';

export interface LibraryProps {
  database: string;
  container: string;
  /** What stands in the editor. */
  current: Kept;
  onChoose(kept: Kept): void;
  onClose(): void;
}

type Tab = 'saved' | 'demo' | 'history';

/** Queries that were kept, those of the worked example, and those that were run. */
export function Library({ database, container, current, onChoose, onClose }: LibraryProps) {
  const isDemo = isOfDemo(database, container);
  const [tab, setTab] = useState<Tab>(isDemo ? 'demo' : 'saved');
  const tabs: [Tab, string][] = [
    ...(isDemo ? [['demo', 'The worked example'] as [Tab, string]] : []),
    ['saved', 'Saved'],
    ['history', 'History'],
  ];
  const choose = (kept: Kept) => {
    onChoose(kept);
    onClose();
  };
  return (
    <Dialog title="Queries" wide onClose={onClose}>
      <Tabs label="Queries" tabs={tabs} active={tab} onChange={setTab} />
      <div role="tabpanel" aria-label={tabs.find(([key]) => key === tab)?.[1]} class="query-library">
        {tab === 'demo' && <DemoList database={database} container={container} onChoose={choose} />}
        {tab === 'saved' && <SavedList {...{ database, container, current }} onChoose={choose} />}
        {tab === 'history' && <HistoryList {...{ database, container }} onChoose={choose} />}
      </div>
    </Dialog>
  );
}

interface ListProps {
  database: string;
  container: string;
  onChoose(kept: Kept): void;
}

function SavedList({ database, container, current, onChoose }: ListProps & { current: Kept }) {
  const [list, setList] = useState(() => saved(database, container));
  const [name, setName] = useState('');
  const keep = () => {
    const trimmed = name.trim();
    if (trimmed === '') return;
    const kept = save(database, container, { ...current, name: trimmed });
    if (kept) {
      setList(kept);
      setName('');
    } else {
      toast('There is no room for it: the query is too long, or too many are saved.', 'bad');
    }
  };
  return (
    <>
      <div class="query-save">
        <Field label="Save what is in the editor as" help="Kept in this browser, for this container.">
          <Input
            value={name}
            onInput={setName}
            maxLength={100}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              keep();
            }}
          />
        </Field>
        <Button onClick={keep} disabled={name.trim() === '' || current.text.trim() === ''}>
          {list.some((one) => one.name === name.trim()) ? 'Replace' : 'Save'}
        </Button>
      </div>
      {list.length === 0 ? (
        <Empty title="No saved queries yet" />
      ) : (
        <ul class="query-list">
          {list.map((one) => (
            <li key={one.name}>
              <button type="button" class="query-choice" onClick={() => onChoose(one)}>
                <strong>{one.name}</strong>
                <code>{one.text}</code>
              </button>
              <Button
                kind="ghost"
                small
                aria-label={`Delete the saved query ${one.name}`}
                onClick={() => setList(forget(database, container, one.name))}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function HistoryList({ database, container, onChoose }: ListProps) {
  const [list, setList] = useState(() => history(database, container));
  if (list.length === 0) return <Empty title="Nothing was run here yet" />;
  return (
    <>
      <ul class="query-list">
        {list.map((one) => (
          <li key={one.at}>
            <button type="button" class="query-choice" onClick={() => onChoose(one)}>
              <code>{one.text}</code>
              <span class="query-facts">
                {[
                  ago(one.at),
                  one.key === null ? 'all partitions' : `key ${one.key}`,
                  one.rows === null ? '' : counted(one.rows, 'row'),
                  one.charge === null ? 'did not finish' : `${ru(one.charge)} RU`,
                ].filter(Boolean).join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        <Button
          kind="ghost"
          small
          onClick={() => {
            clearHistory(database, container);
            setList([]);
          }}
        >
          Clear the history
        </Button>
        <span class="dim small">The last 50 queries of this container, kept in this browser.</span>
      </div>
    </>
  );
}
