//! A change in the list; opened, it shows the item and what is new in it.

import type { Operation } from '../../api/feed';
import { CopyButton } from '../../ui';
import { changedNames, difference, removed, type Line } from './difference';
import type { Entry } from './tail';

const WORDS: Record<Operation, string> = {
  write: 'write',
  create: 'create',
  replace: 'replace',
  delete: 'delete',
  expire: 'expired',
};

const KINDS: Record<Operation, string> = { write: '', create: 'good', replace: '', delete: 'bad', expire: 'warn' };

interface EntryRowProps {
  entry: Entry;
  keyPaths: string[];
  hasArcs: boolean;
  isOpen: boolean;
  onToggle(): void;
}

export function EntryRow({ entry, keyPaths, hasArcs, isOpen, onToggle }: EntryRowProps) {
  const id = `change-${entry.number}`;
  return (
    <li class="feed-entry">
      <button type="button" class="feed-line" aria-expanded={isOpen} aria-controls={isOpen ? id : undefined} onClick={onToggle}>
        <span class="feed-arrow" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <time class="feed-time" dateTime={new Date(entry.time * 1000).toISOString()}>
          {new Date(entry.time * 1000).toLocaleTimeString('en-GB')}
        </time>
        <span class={`badge feed-operation ${KINDS[entry.operation]}`}>{WORDS[entry.operation]}</span>
        <span class="feed-id ellipsis">{entry.id}</span>
        <span class="feed-key ellipsis">{keyOf(entry, keyPaths)}</span>
        <span class="feed-what ellipsis">{summary(entry)}</span>
        <span class="feed-lsn">
          {hasArcs && `${entry.arc.partitions.join('+')} · `}
          {entry.lsn}
        </span>
      </button>
      {isOpen && (
        <div class="feed-body" id={id}>
          <Difference entry={entry} />
          <CopyButton
            text={JSON.stringify(entry.current ?? entry.previous, null, 2)}
            label={`Copy the item ${entry.id} as JSON`}
            caption="Copy the item"
          />
        </div>
      )}
    </li>
  );
}

function Difference({ entry }: { entry: Entry }) {
  const lines = linesOf(entry);
  if (lines.length === 0) return <p class="dim">The feed does not tell what the item was.</p>;
  return (
    <pre class="feed-text" tabIndex={0} aria-label={`The item ${entry.id}`}>
      {lines.map((line, index) => (
        <LineOf key={index} line={line} />
      ))}
    </pre>
  );
}

function LineOf({ line }: { line: Line }) {
  const sign = { same: ' ', added: '+', removed: '−' }[line.mark];
  const text = `${sign} ${line.text}\n`;
  if (line.mark === 'same') return <span>{text}</span>;
  return line.mark === 'added' ? <ins>{text}</ins> : <del>{text}</del>;
}

function linesOf(entry: Entry): Line[] {
  if (entry.current) return difference(entry.before, entry.current);
  const last = entry.previous ?? entry.before;
  return last ? removed(last) : [];
}

/** Says in a few words what is new. */
function summary(entry: Entry): string {
  if (!entry.current || !entry.before) return '';
  const names = changedNames(entry.before, entry.current);
  return names.length === 0 ? 'written again, nothing changed' : `changed ${names.join(', ')}`;
}

function keyOf(entry: Entry, paths: string[]): string {
  const item = entry.current ?? entry.previous;
  if (item) return paths.map((path) => JSON.stringify(at(item, path)) ?? 'missing').join(', ');
  return entry.partitionKey ? Object.values(entry.partitionKey).map((value) => JSON.stringify(value)).join(', ') : '';
}

/** Returns what a path of a partition key leads to. */
function at(item: Record<string, unknown>, path: string): unknown {
  const names = path.split('/').slice(1).map((name) => name.replace(/^"(.*)"$/, '$1'));
  return names.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined),
    item,
  );
}
