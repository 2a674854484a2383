//! The scripts of a container: stored procedures, triggers, functions.

import { useEffect, useState } from 'preact/hooks';

import { listScripts, type Script, type ScriptKind } from '../../api/scripts';
import { keyPaths } from '../../api/keys';
import { readContainer } from '../../api/resources';
import { can, mayLeave, navigate, replace, type Route } from '../../shell/state';
import type { ViewProps } from '../../shell/views';
import { Button, counted, Empty, Problem, Spinner, Tabs } from '../../ui';
import { ScriptPane } from './ScriptPane';
import './scripts.css';

const KINDS: [ScriptKind, string][] = [
  ['procedures', 'Procedures'],
  ['triggers', 'Triggers'],
  ['functions', 'Functions'],
];

const WORDS: Record<ScriptKind, { one: string; what: string }> = {
  procedures: { one: 'stored procedure', what: 'Stored procedures run in the server, in one transaction on one partition key.' },
  triggers: { one: 'trigger', what: 'Triggers run before or after a write that names them, in its transaction.' },
  functions: { one: 'function', what: 'Functions are called by queries, as udf.name(…).' },
};

export default function Scripts({ database, container, rest }: ViewProps) {
  const kind = KINDS.find(([word]) => word === rest[0])?.[0] ?? 'procedures';
  const chosen = rest[1] ?? null;
  const [list, setList] = useState<{ kind: ScriptKind; scripts: Script[] } | null>(null);
  const [paths, setPaths] = useState<string[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isCreating, setIsCreating] = useState(false);
  const [turn, setTurn] = useState(0);

  useEffect(() => {
    const aborter = new AbortController();
    setError(null);
    listScripts(database, container, kind, aborter.signal).then(
      (scripts) => setList({ kind, scripts: scripts.sort((a, b) => a.id.localeCompare(b.id)) }),
      (cause: unknown) => aborter.signal.aborted || setError(cause),
    );
    return () => aborter.abort();
  }, [database, container, kind, turn]);

  useEffect(() => {
    const aborter = new AbortController();
    readContainer(database, container, aborter.signal).then(
      (answer) => setPaths(keyPaths(answer.container)),
      (cause: unknown) => aborter.signal.aborted || setError(cause),
    );
    return () => aborter.abort();
  }, [database, container]);

  // Another script was chosen, by the list or by the address.
  useEffect(() => setIsCreating(false), [kind, chosen]);

  const place = (toKind: ScriptKind, id?: string): Route => ({
    kind: 'container',
    database,
    container,
    view: 'scripts',
    rest: id === undefined ? [toKind] : [toKind, id],
  });
  const scripts = list?.kind === kind ? list.scripts : null;
  const script = scripts?.find((one) => one.id === chosen);

  const begin = async () => {
    if (await mayLeave()) setIsCreating(true);
  };
  /** Shows a script in the list as it is now, or takes it away. The others stay as they were read: one may be edited. */
  const put = (rid: string, now: Script | null) =>
    setList((old) => old && { ...old, scripts: old.scripts.flatMap((one) => (one._rid !== rid ? [one] : now ? [now] : [])) });
  const saved = (now: Script, isLeft: boolean) => {
    if (isLeft) {
      put(now._rid, now);
      return;
    }
    setIsCreating(false);
    setTurn((count) => count + 1);
    replace(place(kind, now.id));
  };
  const deleted = (isLeft: boolean) => {
    if (isLeft) {
      if (script) put(script._rid, null);
      return;
    }
    setTurn((count) => count + 1);
    replace(place(kind));
  };

  return (
    <div class="scripts">
      <nav class="scripts-list" aria-label="Scripts">
        <Tabs label="Kinds of scripts" tabs={KINDS} active={kind} onChange={(next) => navigate(place(next))} />
        <p class="scripts-what">{WORDS[kind].what}</p>
        {can('write') && (
          <Button small disabled={isCreating} onClick={() => void begin()}>
            New {WORDS[kind].one}
          </Button>
        )}
        {!scripts && error === null && <Spinner label="Reading the list" />}
        {scripts && (
          <ul>
            {scripts.map((one) => (
              <li key={one.id}>
                <button
                  type="button"
                  class="scripts-entry"
                  aria-current={one.id === chosen && !isCreating ? 'true' : undefined}
                  onClick={() => navigate(place(kind, one.id))}
                >
                  <span class="ellipsis">{one.id}</span>
                  {one.triggerType && (
                    <span class="badge">
                      {one.triggerType} {one.triggerOperation}
                    </span>
                  )}
                </button>
              </li>
            ))}
          </ul>
        )}
        {scripts && <p class="scripts-what">{counted(scripts.length, WORDS[kind].one)}</p>}
      </nav>
      <div class="scripts-main">
        {error !== null && <Problem error={error} />}
        {isCreating || script ? (
          <ScriptPane
            key={`${kind}/${isCreating ? '' : (script?._rid ?? '')}`}
            database={database}
            container={container}
            kind={kind}
            stored={isCreating ? null : (script ?? null)}
            keyPaths={paths}
            onSaved={saved}
            onDeleted={deleted}
            onReload={() => setTurn((count) => count + 1)}
            onDiscard={() => setIsCreating(false)}
          />
        ) : (
          scripts && (
            <Empty title={chosen === null ? `Choose a ${WORDS[kind].one}` : `There is no ${WORDS[kind].one} of this name`}>
              {chosen ?? (scripts.length === 0 ? 'There is none yet.' : 'Its text and what can be done with it appear here.')}
            </Empty>
          )
        )}
      </div>
    </div>
  );
}
