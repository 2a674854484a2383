import { useEffect, useState } from 'preact/hooks';

import { keyPaths } from '../../api/query';
import { Button, Input, Select } from '../../ui';

export interface ToolbarProps {
  database: string;
  container: string;
  isRunning: boolean;
  /** The partition key as typed; null for all partitions. */
  keyText: string | null;
  keyError: string | null;
  pageSize: number;
  allPages: boolean;
  onKey(text: string | null): void;
  onPaths(paths: string[]): void;
  onPageSize(rows: number): void;
  onAllPages(all: boolean): void;
  onRun(): void;
  onPlan(): void;
  onCancel(): void;
  onLibrary(): void;
}

const SIZES = ['10', '50', '100', '500', '1000'].map((size) => [size, `${Number(size).toLocaleString('en')} rows`] as const);

const RUN_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘↵' : 'Ctrl ↵';

/** What is done with the query, and where it looks. */
export function Toolbar(props: ToolbarProps) {
  const { database, container, keyText } = props;
  const [paths, setPaths] = useState<string[]>([]);
  useEffect(() => {
    let isGone = false;
    keyPaths(database, container).then(
      (found) => {
        if (isGone) return;
        setPaths(found);
        props.onPaths(found);
      },
      // Not every token may read the container: the label of the key says less then.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [database, container]);
  const name = paths.length === 0 ? 'partition key' : paths.join(', ');
  return (
    <div class="query-bar" role="toolbar" aria-label="Query">
      {props.isRunning ? (
        <Button kind="danger" onClick={props.onCancel}>
          Cancel
        </Button>
      ) : (
        <Button kind="primary" onClick={props.onRun} title={`Run the query (${RUN_KEYS})`}>
          Run <span class="query-keys">{RUN_KEYS}</span>
        </Button>
      )}
      <Button onClick={props.onPlan} disabled={props.isRunning} title="Shows how the query would be answered; costs nothing">
        Explain
      </Button>
      <div class="query-scope">
        <Select
          aria-label="Where the query looks"
          value={keyText === null ? 'all' : 'key'}
          options={[
            ['all', 'All partitions'],
            ['key', 'One partition key'],
          ]}
          onChange={(kind) => props.onKey(kind === 'all' ? null : '')}
        />
        {keyText !== null && (
          <Input
            aria-label={`Value of ${name}`}
            aria-invalid={props.keyError !== null || undefined}
            title={props.keyError ?? undefined}
            placeholder={paths.length > 1 ? `["…"] of ${name}` : `value of ${name}`}
            value={keyText}
            onInput={props.onKey}
            onKeyDown={(event) => event.key === 'Enter' && !(event.ctrlKey || event.metaKey) && props.onRun()}
          />
        )}
      </div>
      <div class="query-pages">
        <Select
          aria-label="Rows of a page"
          value={String(props.pageSize)}
          options={SIZES}
          onChange={(size) => props.onPageSize(Number(size))}
        />
        <Select
          aria-label="How many pages are read"
          value={props.allPages ? 'all' : 'one'}
          options={[
            ['one', 'One page'],
            ['all', 'All pages'],
          ]}
          onChange={(which) => props.onAllPages(which === 'all')}
        />
      </div>
      <span class="grow" />
      <Button kind="ghost" onClick={props.onLibrary} aria-haspopup="dialog">
        Saved and history
      </Button>
    </div>
  );
}
