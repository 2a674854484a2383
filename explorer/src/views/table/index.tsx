//! The entities of a table, with the types that the Table API knows.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { queryEntities, type Continuation, type Entity } from '../../api/table';
import { can, mayLeave } from '../../shell/state';
import { Button, counted, duration, Empty, Input, Problem, ru, Select, Spinner, Split, Table } from '../../ui';
import { useNarrow } from '../../ui/useNarrow';
import { columnsOf } from './columns';
import { EntityPane } from './EntityPane';
import './entities.css';

const SIZES = ['50', '100', '500', '1000'].map((size) => [size, `${Number(size).toLocaleString('en')} a page`] as const);
/** More than this is not kept in the page. */
const ROWS_MAX = 20_000;

interface Found {
  /** The filter that they satisfy. */
  filter: string;
  entities: Entity[];
  pages: number;
  next: Continuation | null;
  charge: number;
  milliseconds: number;
}

const NOTHING: Found = { filter: '', entities: [], pages: 0, next: null, charge: 0, milliseconds: 0 };

export default function Entities({ container: table }: { database: string; container: string; rest: string[] }) {
  const [filter, setFilter] = useState('');
  const [size, setSize] = useState(100);
  const [found, setFound] = useState<Found>(NOTHING);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  /** The place of an entity among those found, or a new one. */
  const [chosen, setChosen] = useState<number | 'new' | null>(null);
  const abort = useRef(new AbortController());
  const isNarrow = useNarrow(760);

  const read = async (before: Found) => {
    abort.current.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    setBusy(true);
    setError(null);
    try {
      const page = await queryEntities(table, before.filter, size, before.next, signal);
      setFound({
        filter: before.filter,
        entities: [...before.entities, ...page.entities],
        pages: before.pages + 1,
        next: page.next,
        charge: before.charge + (page.charge ?? 0),
        milliseconds: before.milliseconds + page.milliseconds,
      });
      setBusy(false);
    } catch (refused) {
      if (signal.aborted) return;
      setError(refused);
      setBusy(false);
    }
  };
  const run = async () => {
    if (!(await mayLeave())) return;
    setChosen(null);
    setFound({ ...NOTHING, filter });
    await read({ ...NOTHING, filter });
  };
  const choose = async (which: number | 'new' | null) => {
    if (which !== chosen && (await mayLeave())) setChosen(which);
  };
  useEffect(() => {
    void run();
    return () => abort.current.abort();
  }, []);

  const columns = useMemo(() => columnsOf(found.entities), [found.entities]);
  const entity = typeof chosen === 'number' ? (found.entities[chosen] ?? null) : null;
  const isFull = found.entities.length >= ROWS_MAX;
  const list = (
    <div class="entities-list">
      {found.entities.length > 0 ? (
        <Table
          label="Entities"
          columns={columns}
          rows={found.entities}
          rowHeight={26}
          selected={typeof chosen === 'number' ? chosen : null}
          onRow={(_, index) => void choose(index)}
        />
      ) : (
        <div class="entities-none">{!isBusy && error === null && <Nothing hasMore={found.next !== null} filter={found.filter} />}</div>
      )}
    </div>
  );
  return (
    <div class="entities">
      <form
        class="entities-bar"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <Input
          class="mono entities-filter"
          aria-label="Filter"
          type="search"
          value={filter}
          placeholder="Filter in OData, such as PartitionKey eq 'a' and age gt 30"
          onInput={setFilter}
        />
        <Button kind="primary" type="submit" busy={isBusy}>
          Query
        </Button>
        <Select aria-label="Entities of a page" value={String(size)} options={SIZES} onChange={(next) => setSize(Number(next))} />
        {can('write') && <Button onClick={() => void choose('new')}>New entity</Button>}
      </form>
      <div class="entities-status" role="status">
        <strong>{counted(found.entities.length, 'entity', 'entities')}</strong>
        <span>
          <strong>{ru(found.charge)}</strong> RU
        </span>
        <span>{counted(found.pages, 'page')}</span>
        <span>{duration(found.milliseconds)}</span>
        {isBusy && <Spinner label="Reading" />}
        {found.next !== null && isFull && <span class="dim">More than {counted(ROWS_MAX, 'entity', 'entities')} are not kept in the page.</span>}
        {found.next !== null && !isFull && !isBusy && (
          <Button small onClick={() => void read(found)}>
            Next page
          </Button>
        )}
      </div>
      {error !== null && (
        <div class="entities-problem">
          <Problem error={error} />
        </div>
      )}
      <div class="entities-body">
        <Split
          label="Entities and the chosen entity"
          name={isNarrow ? 'entities-down' : 'entities'}
          down={isNarrow}
          initial={isNarrow ? 0.35 : 0.58}
          only={chosen === null ? 'first' : null}
          first={list}
          second={
            chosen !== null && (
              <EntityPane
                key={chosen === 'new' ? 'new' : `${chosen} ${entity?.etag}`}
                table={table}
                entity={entity}
                onClose={() => void choose(null)}
                onRead={(fresh) => setFound((before) => ({ ...before, entities: before.entities.map((one, at) => (at === chosen ? fresh : one)) }))}
                onGone={() => {
                  setFound((before) => ({ ...before, entities: before.entities.filter((_, at) => at !== chosen) }));
                  setChosen(null);
                }}
                onMade={() => {
                  setChosen(null);
                  setFound({ ...NOTHING, filter: found.filter });
                  void read({ ...NOTHING, filter: found.filter });
                }}
              />
            )
          }
        />
      </div>
    </div>
  );
}

function Nothing({ filter, hasMore }: { filter: string; hasMore: boolean }) {
  if (hasMore) return <Empty title="None on this page">The query goes on behind it.</Empty>;
  return <Empty title={filter.trim() === '' ? 'This table has no entities yet' : 'No entity satisfies the filter'} />;
}
