import { useMemo, useState } from 'preact/hooks';

import { Editor } from '../../editor/Editor';
import { Button, CopyButton, count, Empty, Split, Table, type Column } from '../../ui';
import { useNarrow } from '../../ui/useNarrow';
import { inLine } from './extended';

const COLUMNS_MAX = 60;
/** Documents that columns and widths are found from. */
const SAMPLE = 200;
/** Cells are one line: what is longer is cut, the whole is in the chosen document. */
const CELL_MAX = 300;

type Row = Record<string, unknown>;

/** Documents with a column for each of their fields. */
export function Documents({ rows }: { rows: readonly unknown[] }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const isNarrow = useNarrow(700);
  const columns = useMemo(() => columnsOf(rows as readonly Row[]), [rows]);
  if (rows.length === 0) return <Empty title="No documents" />;
  const row = chosen === null ? undefined : rows[chosen];
  const text = row === undefined ? '' : JSON.stringify(row, null, 2);
  return (
    <Split
      label="Documents and the chosen document"
      name="mongo-document"
      down={isNarrow}
      initial={0.62}
      only={row === undefined ? 'first' : null}
      first={
        <Table label="Documents" columns={columns} rows={rows as readonly Row[]} rowHeight={26} selected={chosen} onRow={(_, index) => setChosen(index)} />
      }
      second={
        row !== undefined && (
          <div class="query-row">
            <div class="row query-row-head">
              <strong class="grow">Document {count((chosen ?? 0) + 1)}</strong>
              <CopyButton text={text} label="Copy the document as Extended JSON" />
              <Button kind="ghost" small onClick={() => setChosen(null)}>
                Close
              </Button>
            </div>
            <Editor value={text} language="json" label="The chosen document" readOnly />
          </div>
        )
      }
    />
  );
}

function columnsOf(rows: readonly Row[]): Column<Row>[] {
  const sample = rows.slice(0, SAMPLE);
  const names = [...new Set(sample.flatMap((row) => Object.keys(row)))].slice(0, COLUMNS_MAX);
  const number: Column<Row> = {
    key: 'number', title: '', width: '52px', align: 'right', render: (_, index) => <span class="dim">{count(index + 1)}</span>,
  };
  return [
    number,
    ...names.map((name): Column<Row> => {
      const values = sample.flatMap((row) => (name in row ? [inLine(row[name])] : []));
      const length = Math.max(name.length + 1, ...values.map((one) => Math.min(46, one.text.length)));
      return {
        key: `.${name}`,
        title: name,
        width: `${Math.max(64, Math.round(length * 7.3) + 18)}px`,
        align: values.every((one) => one.kind === 'number') ? 'right' : 'left',
        render: (row) => (name in row ? <Cell value={row[name]} /> : null),
      };
    }),
  ];
}

function Cell({ value }: { value: unknown }) {
  const { text, kind } = inLine(value);
  return <span class={`query-cell ${kind}`}>{text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}…` : text}</span>;
}
