import { useMemo, useState } from 'preact/hooks';

import { isExact } from '../../api/exact';
import { Editor } from '../../editor/Editor';
import { Button, Checkbox, type Column, CopyButton, count, Empty, Split, Table } from '../../ui';

const COLUMNS_MAX = 60;
/** Rows that columns and widths are found from. */
const SAMPLE = 200;
const SYSTEM = ['_rid', '_self', '_etag', '_attachments', '_ts'];

/** Rows with a column for each property. */
export function RowsTable({ rows }: { rows: readonly unknown[] }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const [hasSystem, setSystem] = useState(false);
  const names = useMemo(() => columnNames(rows), [rows]);
  const shown = names.filter((name) => hasSystem || !SYSTEM.includes(name));
  // A query for system properties alone shows them.
  const used = shown.length > 0 ? shown : names;
  const columns = useMemo(() => columnsOf(rows, used), [rows, used.join('\n')]);
  if (rows.length === 0) return <Empty title="No rows" />;
  const row = chosen === null ? undefined : rows[chosen];
  const table = (
    <div class="query-rows">
      <Table
        label="Rows"
        columns={columns}
        rows={rows}
        rowHeight={26}
        selected={chosen}
        onRow={(_, index) => setChosen(index)}
      />
      {names.length > shown.length || hasSystem ? (
        <div class="query-rows-foot">
          <Checkbox label="System properties" checked={hasSystem} onChange={setSystem} />
        </div>
      ) : null}
    </div>
  );
  if (row === undefined) return table;
  const text = JSON.stringify(row, null, 2);
  return (
    <Split
      label="Rows and the chosen row"
      name="query-row"
      down={innerWidth < 700}
      initial={0.62}
      first={table}
      second={
        <div class="query-row">
          <div class="row query-row-head">
            <strong class="grow">Row {count((chosen ?? 0) + 1)}</strong>
            <CopyButton text={text} label="Copy the row as JSON" />
            <Button kind="ghost" small onClick={() => setChosen(null)}>
              Close
            </Button>
          </div>
          <Editor value={text} language="json" label="The chosen row" readOnly />
        </div>
      }
    />
  );
}

function isRecord(row: unknown): row is Record<string, unknown> {
  return typeof row === 'object' && row !== null && !Array.isArray(row) && !isExact(row);
}

/** Returns the properties of rows in the order in which they are met, those of the server last; '' is the row itself. */
function columnNames(rows: readonly unknown[]): string[] {
  const sample = rows.slice(0, SAMPLE);
  const found = new Set(sample.filter(isRecord).flatMap((row) => Object.keys(row)));
  const own = [...found].filter((name) => !SYSTEM.includes(name)).slice(0, COLUMNS_MAX);
  const others = SYSTEM.filter((name) => found.has(name));
  return [...(sample.some((row) => !isRecord(row)) ? [''] : []), ...own, ...others];
}

function columnsOf(rows: readonly unknown[], names: readonly string[]): Column<unknown>[] {
  const sample = rows.slice(0, SAMPLE);
  const number: Column<unknown> = {
    key: 'number', title: '', width: '52px', align: 'right', render: (_, index) => <span class="dim">{count(index + 1)}</span>,
  };
  const others = names.map((name): Column<unknown> => {
    const value = (row: unknown) => (name === '' ? (isRecord(row) ? undefined : row) : isRecord(row) ? row[name] : undefined);
    const values = sample.map(value).filter((one) => one !== undefined);
    const isNumber = values.length > 0 && values.every((one) => typeof one === 'number' || isExact(one));
    const length = Math.max(name.length + 1, ...values.map((one) => Math.min(46, plain(one).length)));
    return {
      key: `.${name}`,
      title: name === '' ? 'value' : name,
      width: `${Math.max(64, Math.round(length * 7.3) + 18)}px`,
      align: isNumber ? 'right' : 'left',
      render: (row) => <Cell value={value(row)} />,
    };
  });
  return [number, ...others];
}

/** Cells are one line: what is longer than this is cut, the whole is in the chosen row. */
const CELL_MAX = 300;

function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}…` : text;
}

function Cell({ value }: { value: unknown }) {
  if (value === undefined) return null;
  const kind = value === null ? 'null' : isExact(value) ? 'number' : typeof value === 'object' ? 'object' : typeof value;
  return <span class={`query-cell ${kind}`}>{plain(value)}</span>;
}
