//! The items of a container: a table beside the JSON of one of them.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { newId, partitionKey, readItem, type Item } from '../../api/items';
import { readContainer, type Container } from '../../api/resources';
import { can, mayLeave, replace, type Route } from '../../shell/state';
import type { ViewProps } from '../../shell/views';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Menu } from '../../ui/Menu';
import { Problem } from '../../ui/Problem';
import { Spinner } from '../../ui/Spinner';
import { Split } from '../../ui/Split';
import { Table, type Column } from '../../ui/Table';
import { counted, duration, ru } from '../../ui/format';
import { useLoad } from '../../ui/useLoad';
import { Detail } from './Detail';
import { Download } from './Download';
import { Upload } from './Upload';
import { cellText, firstColumns, keepColumns, keptColumns, pathKey, pathTitle, pathsIn, type Path } from './columns';
import { skeleton } from './draft';
import { rowOf, usePages, type Feed } from './pages';
import { useNarrow } from '../../ui/useNarrow';

import './items.css';

/** What the right pane shows. `turn` tells one editing apart from the next. */
interface Shown {
  item: Item | null;
  draft: string;
  turn: number;
}

export default function Items({ database, container, rest }: ViewProps) {
  const definition = useLoad((signal) => readContainer(database, container, signal), [database, container]);
  const [typed, setTyped] = useState('');
  const [filter, setFilter] = useState('');
  const feed = usePages(database, container, filter);
  const [shown, setShown] = useState<Shown | null>(null);
  const [linkError, setLinkError] = useState<unknown>(null);
  const [dialog, setDialog] = useState<'upload' | 'download' | null>(null);
  const turn = useRef(0);
  const isNarrow = useNarrow(900);
  const keyed = definition.value?.container;
  // Found each time: rows come, go and move.
  const selected = useMemo(() => (shown?.item ? rowOf(feed.items, shown.item) : null), [feed.items, shown?.item]);

  const address = (item: Item | null): Route => {
    const names = item ? [String(item.value['id']), JSON.stringify(partitionKey(item.value, keyed))] : [];
    return { kind: 'container', database, container, view: 'items', rest: names };
  };
  const show = (item: Item | null, draft = '') => {
    turn.current += 1;
    setShown({ item, draft, turn: turn.current });
    setLinkError(null);
    replace(address(item));
  };
  const close = () => {
    setShown(null);
    setLinkError(null);
    replace(address(null));
  };
  const choose = async (item: Item) => {
    if (shown?.item === item || !(await mayLeave())) return;
    show(item);
  };
  const begin = async (draft: string) => {
    if (!(await mayLeave())) return;
    show(null, draft);
  };
  const saved = (item: Item, isNew: boolean, isLeft: boolean) => {
    if (!isNew && shown?.item) feed.put(shown.item, item);
    if (isLeft) return;
    if (isNew) feed.add(item);
    setShown((before) => (before ? { ...before, item } : before));
    replace(address(item));
  };
  const deleted = (isLeft: boolean) => {
    if (shown?.item) feed.put(shown.item, null);
    if (!isLeft) close();
  };
  /** Begins the list anew. What is shown of the one before is left, after a question if something would be lost. */
  const beginList = async (next: string): Promise<boolean> => {
    if (!(await mayLeave())) return false;
    if (shown) close();
    if (next === filter) feed.reload();
    else setFilter(next);
    return true;
  };
  const clear = async () => {
    if (await beginList('')) setTyped('');
  };

  // An address that names an item, of a link or of the reader's history.
  const wanted = rest.join('\n');
  useEffect(() => {
    const [id, keyJson] = rest;
    if (id === undefined) {
      // The address of the table alone: the item that was shown is left.
      if (shown?.item) setShown(null);
      return;
    }
    if (!definition.value) return;
    if (shown?.item && String(shown.item.value['id']) === id && JSON.stringify(partitionKey(shown.item.value, keyed)) === keyJson) return;
    const abort = new AbortController();
    void (async () => {
      try {
        const named = keyJson === undefined ? [id] : (JSON.parse(keyJson) as unknown[]);
        const found = await readItem(database, container, id, named, abort.signal);
        show(found.item);
      } catch (error) {
        if (!abort.signal.aborted) setLinkError(error);
      }
    })();
    return () => abort.abort();
  }, [wanted, definition.value === null]);

  const columns = useColumns(database, container, feed.items, definition.value?.container);
  const pane = shown && (
    <Detail
      key={shown.turn}
      database={database}
      container={container}
      definition={keyed}
      item={shown.item}
      draft={shown.draft}
      onSaved={saved}
      onDeleted={deleted}
      onDuplicate={(draft) => void begin(draft)}
      onClose={() => void mayLeave().then((may) => may && close())}
    />
  );
  const table = (
    <div class="table-side">
      {linkError != null && <Problem error={linkError} />}
      {definition.error != null && <Problem error={definition.error} />}
      {feed.error != null && <Problem error={feed.error} />}
      {feed.isComplete && feed.items.length === 0 ? (
        <Empty title={filter ? 'No item matches the filter' : 'This container has no items yet'}>
          {!filter && can('write') && <p>Create one here, or upload a file of JSON lines, a JSON array or CSV.</p>}
        </Empty>
      ) : (
        <Table
          label="Items"
          columns={columns.columns}
          rows={feed.items}
          selected={selected}
          onRow={(item) => void choose(item)}
          onEnd={feed.more}
        />
      )}
      <Status feed={feed} isFiltered={filter !== ''} onReload={() => void beginList(filter)} />
    </div>
  );
  const side = pane ?? (
    <Empty title="No item is chosen">
      <p>Choose a row to see its JSON.</p>
    </Empty>
  );
  return (
    <div class="items">
      <form
        class="bar"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          void beginList(typed.trim());
        }}
      >
        <label class="where">
          <span class="mono">WHERE</span>
          <input
            class="input mono"
            aria-label="Filter: what stands behind WHERE"
            placeholder="c.type = 'post' ORDER BY c.ts DESC"
            spellcheck={false}
            autocomplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <Button type="submit">Apply</Button>
        {filter !== '' && (
          <Button kind="ghost" onClick={() => void clear()}>
            Clear
          </Button>
        )}
        <div class="commands">
          <Menu label="Columns" items={columns.choices} keepOpen />
          <Button kind="ghost" onClick={() => setDialog('download')}>
            Download
          </Button>
          {can('write') && (
            <>
              <Button kind="ghost" onClick={() => setDialog('upload')}>
                Upload
              </Button>
              <Button kind="primary" disabled={!definition.value} onClick={() => void begin(skeleton(newId(), keyed?.partitionKey))}>
                New item
              </Button>
            </>
          )}
        </div>
      </form>
      <div class="sides-of-items">
        <Split
          label="Width of the table"
          name="items"
          initial={0.6}
          least={260}
          only={isNarrow ? (pane ? 'second' : 'first') : null}
          first={table}
          second={side}
        />
      </div>
      {dialog === 'download' && <Download database={database} container={container} filter={filter} onClose={() => setDialog(null)} />}
      {dialog === 'upload' && keyed && (
        <Upload
          database={database}
          container={container}
          definition={keyed}
          onClose={(isChanged) => {
            setDialog(null);
            if (isChanged) void beginList(filter);
          }}
        />
      )}
    </div>
  );
}

function useColumns(database: string, container: string, items: readonly Item[], definition: Container | undefined) {
  const [chosen, setChosen] = useState<Path[] | null>(() => keptColumns(database, container));
  const sample = items.length > 200 ? 200 : items.length;
  const paths = useMemo(() => pathsIn(items), [sample, items[0]]);
  const shown = chosen ?? firstColumns(paths, definition?.partitionKey);
  const keys = new Set(shown.map(pathKey));
  const set = (next: Path[] | null) => {
    setChosen(next);
    keepColumns(database, container, next);
  };
  const all = new Map([...shown, ...paths].map((path) => [pathKey(path), path]));
  const choices = [
    ...[...all].map(([name, path]) => ({
      title: pathTitle(path),
      checked: keys.has(name),
      onClick: () => set(keys.has(name) ? shown.filter((one) => pathKey(one) !== name) : [...shown, path]),
    })),
    { title: 'As at the beginning', onClick: () => set(null) },
  ];
  const isKey = new Set(definition?.partitionKey?.paths.map((path) => path.replace(/^\//, '').replaceAll('/', '.')) ?? []);
  const columns: Column<Item>[] = shown.map((path) => ({
    key: pathKey(path),
    title: isKey.has(pathTitle(path)) ? `${pathTitle(path)} (key)` : pathTitle(path),
    width: widthOf(items, path, isKey.has(pathTitle(path))),
    align: isNumeric(items, path) ? 'right' : 'left',
    render: (item) => cellText(item, path),
  }));
  return { columns, choices };
}

/** How wide a column is, by what its first rows show. */
function widthOf(items: readonly Item[], path: Path, isKey: boolean): string {
  const longest = Math.max(
    pathTitle(path).length + (isKey ? 6 : 0),
    ...items.slice(0, 60).map((item) => cellText(item, path).length),
  );
  const pixels = Math.round(Math.min(280, Math.max(56, longest * 7.4 + 18)));
  return `minmax(${pixels}px, ${pixels}fr)`;
}

/** Tells by the first item that has a value there. */
function isNumeric(items: readonly Item[], path: Path): boolean {
  if (path[0] === '_ts') return false;
  for (const item of items.slice(0, 20)) {
    let value: unknown = item.value;
    for (const name of path) value = (value as Record<string, unknown> | undefined)?.[name];
    if (value !== undefined && value !== null) return typeof value === 'number';
  }
  return false;
}

function Status({ feed, isFiltered, onReload }: { feed: Feed; isFiltered: boolean; onReload(): void }) {
  const more = feed.isComplete ? 'all of them' : 'more as you scroll';
  return (
    <div class="bar status">
      <span role="status">
        {counted(feed.items.length, isFiltered ? 'match' : 'item', isFiltered ? 'matches' : 'items')}
        {feed.requests > 0 && `, ${more}`}
      </span>
      {feed.isBusy && (
        <>
          <Spinner />
          <Button small kind="ghost" onClick={feed.stop}>
            Stop
          </Button>
        </>
      )}
      {feed.isPaused && (
        <Button small onClick={feed.goOn}>
          Go on looking
        </Button>
      )}
      {feed.error != null && (
        <Button small onClick={feed.goOn}>
          Try again
        </Button>
      )}
      <span class="grow" />
      {feed.requests > 0 && (
        <span class="ellipsis" title={`${feed.requests} requests`}>
          last page {counted(feed.lastCount, 'item')}, {ru(feed.lastCharge)} RU, {duration(feed.lastMilliseconds)} · {ru(feed.charge)} RU in all
        </span>
      )}
      <Button small kind="ghost" title="Begin anew" aria-label="Load the items again" onClick={onReload}>
        ↻
      </Button>
    </div>
  );
}
