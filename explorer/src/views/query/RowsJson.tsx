import { useMemo } from 'preact/hooks';

import { Editor } from '../../editor/Editor';
import { Button, bytes, CopyButton, counted } from '../../ui';

/** A longer text makes the editor slow. */
const SHOWN_MAX = 3 * 1024 * 1024;

/** All rows as one JSON array. */
export function RowsJson({ rows }: { rows: readonly unknown[] }) {
  const { text, shown } = useMemo(() => written(rows), [rows]);
  const isCut = shown < rows.length;
  return (
    <div class="query-json">
      <div class="row wrap query-json-head">
        <span class="grow dim small">
          {isCut
            ? `The first ${counted(shown, 'row')} of ${rows.length.toLocaleString('en')}: ${bytes(SHOWN_MAX)} are shown. The file has all that were read.`
            : counted(rows.length, 'row')}
        </span>
        <CopyButton text={text} label="Copy the JSON that is shown" />
        <Button small kind="ghost" onClick={() => download(rows)}>
          Download
        </Button>
      </div>
      <Editor value={text} language="json" label="Rows as JSON" readOnly />
    </div>
  );
}

function written(rows: readonly unknown[]): { text: string; shown: number } {
  const parts: string[] = [];
  let length = 2;
  for (const row of rows) {
    const part = JSON.stringify(row, null, 2).replace(/^/gm, '  ');
    if (length + part.length > SHOWN_MAX && parts.length > 0) break;
    parts.push(part);
    length += part.length + 2;
  }
  return { text: parts.length === 0 ? '[]' : `[\n${parts.join(',\n')}\n]`, shown: parts.length };
}

function download(rows: readonly unknown[]): void {
  const address = URL.createObjectURL(new Blob([JSON.stringify(rows, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = 'rows.json';
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
