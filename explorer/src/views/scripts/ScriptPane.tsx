//! One script: its text, saving and deleting it, and for procedures running it.

import { useEffect, useState } from 'preact/hooks';

import { ApiError } from '../../api/client';
import {
  createScript,
  deleteScript,
  replaceScript,
  type Script,
  type ScriptKind,
  type ScriptText,
  type TriggerOperation,
  type TriggerType,
} from '../../api/scripts';
import { Editor } from '../../editor/Editor';
import { can, useUnsaved } from '../../shell/state';
import { ago, Button, confirm, CopyButton, Field, Input, Problem, Select, toast } from '../../ui';
import { useGone } from '../../ui/useGone';
import { RunPane } from './RunPane';
import { template, triggerTemplate } from './templates';

interface ScriptPaneProps {
  database: string;
  container: string;
  kind: ScriptKind;
  /** Null for one that is being made. */
  stored: Script | null;
  /** Of the container's partition key; null until they are known. */
  keyPaths: string[] | null;
  /** Where the reader has left it meanwhile, only the list is to be shown anew. */
  onSaved(script: Script, isLeft: boolean): void;
  onDeleted(isLeft: boolean): void;
  onReload(): void;
  onDiscard(): void;
}

const TYPES: [TriggerType, string][] = [
  ['Pre', 'Before the write'],
  ['Post', 'After the write'],
];
const OPERATIONS: [TriggerOperation, string][] = [
  ['All', 'All writes'],
  ['Create', 'Create'],
  ['Replace', 'Replace'],
  ['Update', 'Update'],
  ['Upsert', 'Upsert'],
  ['Delete', 'Delete'],
];

export function ScriptPane(props: ScriptPaneProps) {
  const { database, container, kind, stored } = props;
  const [script, setScript] = useState<ScriptText>(() => (stored ? textOf(stored) : template(kind)));
  const [etag, setEtag] = useState(stored?._etag ?? '');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isNew = stored === null;
  const isChanged = isNew || JSON.stringify(script) !== JSON.stringify(textOf(stored));
  const isGone = useGone();
  const mayWrite = can('write');
  const isFixed = !mayWrite || isBusy;
  useUnsaved(mayWrite && isChanged, isNew ? 'the new script' : `the script ${script.id}`);

  // Read again: what was typed stays, and the next save replaces what was read.
  useEffect(() => setEtag(stored?._etag ?? ''), [stored]);

  const set = (change: Partial<ScriptText>) => setScript((old) => ({ ...old, ...change }));

  async function save() {
    if (!mayWrite || isBusy || script.id === '') return;
    setIsBusy(true);
    setError(null);
    try {
      const saved = isNew
        ? await createScript(database, container, kind, script)
        : await replaceScript(database, container, kind, script, etag);
      setEtag(saved._etag);
      toast(`${saved.id} was saved.`, 'good');
      props.onSaved(saved, isGone.current);
    } catch (cause) {
      setError(cause);
    } finally {
      setIsBusy(false);
    }
  }

  async function remove() {
    const isAgreed = await confirm({
      title: `Delete ${script.id}?`,
      text: 'The script is gone at once, for all who use it.',
      action: 'Delete',
      danger: true,
    });
    if (!isAgreed) return;
    setIsBusy(true);
    try {
      await deleteScript(database, container, kind, script.id);
      props.onDeleted(isGone.current);
    } catch (cause) {
      setError(cause);
      setIsBusy(false);
    }
  }

  function onKey(event: KeyboardEvent) {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return;
    // The browser would save the page.
    event.preventDefault();
    if (isChanged) void save();
  }

  function chooseType(triggerType: TriggerType) {
    const isUntouched = isNew && script.triggerType !== undefined && script.body === triggerTemplate(script.triggerType);
    set({ triggerType, ...(isUntouched && { body: triggerTemplate(triggerType) }) });
  }

  return (
    <article class="script" aria-label={isNew ? 'New script' : script.id} onKeyDown={onKey}>
      <header class="script-head">
        {isNew ? (
          <Field label="Name">
            <Input value={script.id} placeholder="name" autofocus readOnly={isBusy} onInput={(id) => set({ id })} />
          </Field>
        ) : (
          <div class="script-name">
            <h2 class="ellipsis">{script.id}</h2>
            <span class="dim small">saved {ago(stored._ts * 1000)}</span>
          </div>
        )}
        {script.triggerType && (
          <>
            <Field label="Runs">
              <Select value={script.triggerType} options={TYPES} disabled={isFixed} onChange={chooseType} />
            </Field>
            <Field label="On">
              <Select
                value={script.triggerOperation ?? 'All'}
                options={OPERATIONS}
                disabled={isFixed}
                onChange={(triggerOperation) => set({ triggerOperation })}
              />
            </Field>
          </>
        )}
        {mayWrite && (
          <div class="script-buttons">
            <Button kind="primary" title="Ctrl S" busy={isBusy} disabled={!isChanged || script.id === ''} onClick={() => void save()}>
              {isNew ? 'Create' : 'Save'}
            </Button>
            {isNew ? (
              <Button kind="ghost" onClick={props.onDiscard}>
                Discard
              </Button>
            ) : (
              <>
                {isChanged && (
                  <Button kind="ghost" disabled={isBusy} onClick={() => setScript(textOf(stored))}>
                    Undo changes
                  </Button>
                )}
                <Button kind="ghost" disabled={isBusy} onClick={() => void remove()}>
                  Delete…
                </Button>
              </>
            )}
          </div>
        )}
      </header>
      {error !== null && <Problem error={error} />}
      {error instanceof ApiError && error.status === 412 && (
        <div class="notice warn row">
          <span class="grow">Somebody else saved this script since it was read. Your text is still here.</span>
          <Button small onClick={() => { setError(null); props.onReload(); }}>
            Read the newest, keep my text
          </Button>
        </div>
      )}
      <div class="script-editor">
        <Editor
          language="javascript"
          label={isNew ? 'Text of the new script' : `Text of ${script.id}`}
          value={script.body}
          readOnly={isFixed}
          onChange={(body) => set({ body })}
        />
      </div>
      {kind === 'procedures' && stored && props.keyPaths && (
        <RunPane
          key={stored._rid}
          database={database}
          container={container}
          id={stored.id}
          isChanged={isChanged}
          paths={props.keyPaths}
        />
      )}
      {kind !== 'procedures' && stored && <Use kind={kind} script={stored} />}
    </article>
  );
}

function textOf({ id, body, triggerType, triggerOperation }: Script): ScriptText {
  return { id, body, ...(triggerType && { triggerType }), ...(triggerOperation && { triggerOperation }) };
}

/** How requests name a script that they use. */
function Use({ kind, script }: { kind: ScriptKind; script: Script }) {
  const text =
    kind === 'functions'
      ? `SELECT VALUE udf.${script.id}(c.id) FROM c`
      : `x-ms-documentdb-${script.triggerType === 'Post' ? 'post' : 'pre'}-trigger-include: ${script.id}`;
  return (
    <p class="script-use">
      <span class="dim">{kind === 'functions' ? 'In a query:' : 'A write runs it by this header, and by nothing else:'}</span>{' '}
      <code>{text}</code> <CopyButton text={text} label="Copy this line" />
    </p>
  );
}
