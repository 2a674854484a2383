//! One item: seen, edited, saved only over what was read.

import { useEffect, useRef, useState } from 'preact/hooks';

import { ApiError } from '../../api/client';
import { createItem, deleteItem, keyText, newId, ownText, partitionKey, readItem, replaceItem, type Item, type Keyed } from '../../api/items';
import { layOut, members, withMember } from '../../api/raw-json';
import { Editor } from '../../editor/Editor';
import { can, useUnsaved } from '../../shell/state';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Problem } from '../../ui/Problem';
import { confirm } from '../../ui/confirm';
import { ago, bytes, counted, duration, ru } from '../../ui/format';
import { toast } from '../../ui/toast';
import { useGone } from '../../ui/useGone';
import { Conflict } from './Conflict';

export interface DetailProps {
  database: string;
  container: string;
  definition: Keyed | undefined;
  /** The item; null for a new one. */
  item: Item | null;
  /** What a new one begins with. */
  draft: string;
  /** Where the reader has left it meanwhile, only its row is to be shown anew. */
  onSaved(item: Item, isNew: boolean, isLeft: boolean): void;
  onDeleted(isLeft: boolean): void;
  onDuplicate(draft: string): void;
  onClose(): void;
}

/** Returns the object of a text, or what is wrong with it. */
function read(text: string): { value: Record<string, unknown> } | { wrong: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { wrong: 'An item is a JSON object.' };
    return { value: value as Record<string, unknown> };
  } catch (error) {
    return { wrong: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

export function Detail({ database, container, definition, item, draft, onSaved, onDeleted, onDuplicate, onClose }: DetailProps) {
  const stored = item ? layOut(ownText(item)) : draft;
  const [text, setText] = useState(stored);
  const [base, setBase] = useState(item);
  const [error, setError] = useState<unknown>(null);
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [conflict, setConflict] = useState<{ theirs: Item | null } | null>(null);
  const isGone = useGone();
  const mayWrite = can('write');
  const parsed = read(text);
  const baseText = base ? layOut(ownText(base)) : draft;
  const isChanged = text !== baseText;
  const id = base ? String(base.value['id']) : null;
  useUnsaved(mayWrite && isChanged, id === null ? 'a new item' : `the item ${id}`);
  useEffect(() => setError(null), [text]);

  const oldKey = base ? partitionKey(base.value, definition) : null;
  const newKey = 'value' in parsed ? partitionKey(parsed.value, definition) : null;
  const hasMoved = oldKey !== null && newKey !== null && keyText(oldKey) !== keyText(newKey);

  /** Does one thing at a time, and shows what went wrong. */
  const act = async (work: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  const done = (what: string, charge: number, milliseconds: number) =>
    setSaid(`${what} for ${ru(charge)} RU in ${duration(milliseconds)}`);

  const create = () =>
    act(async () => {
      if (!newKey) return;
      const { item: made, charge, milliseconds } = await createItem({ database, container, raw: text, key: newKey });
      done('Created', charge, milliseconds);
      setBase(made);
      setText(layOut(ownText(made)));
      onSaved(made, true, isGone.current);
    });
  const replace = (over: Item) =>
    act(async () => {
      const key = partitionKey(over.value, definition);
      try {
        const { item: made, charge, milliseconds } = await replaceItem(database, container, over, key, text);
        done('Saved', charge, milliseconds);
        setBase(made);
        setText(layOut(ownText(made)));
        setConflict(null);
        onSaved(made, false, isGone.current);
      } catch (refused) {
        if (!(refused instanceof ApiError) || (refused.status !== 412 && refused.status !== 404)) throw refused;
        setConflict({ theirs: await now(over) });
      }
    });
  /** Returns the item as the server has it now; null if it has it no more. */
  const now = async (before: Item): Promise<Item | null> => {
    try {
      const key = partitionKey(before.value, definition);
      return (await readItem(database, container, String(before.value['id']), key)).item;
    } catch (refused) {
      if (refused instanceof ApiError && refused.status === 404) return null;
      throw refused;
    }
  };
  const save = () => {
    if (!mayWrite || !('value' in parsed)) return;
    if (!base) void create();
    else if (isChanged && !hasMoved) void replace(base);
  };
  const take = (theirs: Item | null) => {
    setConflict(null);
    if (!theirs) {
      onDeleted(false);
      return;
    }
    setBase(theirs);
    setText(layOut(ownText(theirs)));
    setSaid('This is what the server has');
    onSaved(theirs, false, false);
  };
  const overwrite = (theirs: Item | null) => {
    setConflict(null);
    if (theirs) void replace(theirs);
    else void create();
  };
  const remove = async () => {
    if (!base) return;
    const isSure = await confirm({
      title: 'Delete this item?',
      text: `${String(base.value['id'])}${oldKey?.length ? ` of the partition key ${keyText(oldKey)}` : ''}. This cannot be taken back.`,
      action: 'Delete item',
      danger: true,
    });
    if (!isSure) return;
    await act(async () => {
      try {
        const charge = await deleteItem(database, container, base, oldKey ?? []);
        toast(`The item is deleted, for ${ru(charge)} RU.`, 'good');
        onDeleted(isGone.current);
      } catch (refused) {
        if (!(refused instanceof ApiError) || refused.status !== 412) throw refused;
        setConflict({ theirs: await now(base) });
      }
    });
  };
  const duplicate = () => onDuplicate(layOut('value' in parsed ? withMember(text, 'id', JSON.stringify(newId())) : text));

  // Saving by its key works wherever the focus is in the pane.
  const latest = useRef(save);
  latest.current = save;
  const keys = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    latest.current();
  };

  return (
    <section class="detail" aria-label={id === null ? 'New item' : 'Item'} onKeyDown={keys}>
      <div class="bar">
        <Button kind="ghost" small class="back" aria-label="Back to the table" onClick={onClose}>
          ←
        </Button>
        <h2 class="ellipsis" title={id ?? ''}>
          {id ?? 'New item'}
        </h2>
        <span class="grow" />
        {mayWrite && (
          <Button
            kind="primary"
            small
            busy={isBusy}
            disabled={!('value' in parsed) || hasMoved || (base !== null && !isChanged)}
            title="Ctrl S"
            onClick={save}
          >
            {base ? 'Save' : 'Create'}
          </Button>
        )}
        {base && isChanged && (
          <Button small disabled={isBusy} onClick={() => setText(baseText)}>
            Revert
          </Button>
        )}
        {base && mayWrite && (
          <>
            <Button small kind="ghost" onClick={duplicate}>
              Duplicate
            </Button>
            <Button small kind="ghost" onClick={() => void remove()}>
              Delete
            </Button>
          </>
        )}
        <CopyButton text={text} label="Copy the item as JSON" />
      </div>
      <div class="messages">
        {'wrong' in parsed && <p class="wrong">{parsed.wrong}</p>}
        {hasMoved && (
          <div class="notice warn row wrap">
            <span class="grow">An item cannot move to another partition key. Create it as a new one, and delete this one afterwards.</span>
            <Button small busy={isBusy} onClick={() => void create()}>
              Create as a new item
            </Button>
          </div>
        )}
        {error != null && <Problem error={error} />}
      </div>
      <div class="text">
        <Editor value={text} language="json" label="Item as JSON" readOnly={!mayWrite || isBusy} onChange={setText} />
      </div>
      <div class="bar status">
        <span role="status">{said}</span>
        {newKey !== null && newKey.length > 0 && (
          <span class="ellipsis" title="The partition key, taken from the item">
            Key <code>{keyText(newKey)}</code>
          </span>
        )}
        {base && <Facts item={base} />}
      </div>
      {conflict && (
        <Conflict
          mine={'value' in parsed ? layOut(text) : text}
          theirs={conflict.theirs ? layOut(ownText(conflict.theirs)) : null}
          onKeep={() => setConflict(null)}
          onTake={() => take(conflict.theirs)}
          onOverwrite={() => overwrite(conflict.theirs)}
        />
      )}
    </section>
  );
}

/** What the server keeps beside the item. */
function Facts({ item }: { item: Item }) {
  const at = item.value['_ts'];
  const ownMembers = members(ownText(item)).length;
  const hint = ['_rid', '_etag', '_self'].map((name) => `${name}: ${String(item.value[name] ?? '')}`).join('\n');
  return (
    <span class="ellipsis" title={hint}>
      {typeof at === 'number' && `changed ${ago(at * 1000)} · `}
      {bytes(new TextEncoder().encode(item.raw).length)} · {counted(ownMembers, 'member')}
    </span>
  );
}
