//! What stands in the place of the tree for those who came with a resource token: it lists nothing, so that its container has
//! to be named.

import { useState } from 'preact/hooks';

import { Button } from '../ui/Button';
import { Field, Input } from '../ui/Field';
import { href, navigate, route } from './state';

const KEY = 'armilla.opened';

function kept(): [string, string][] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    return Array.isArray(list) ? (list as [string, string][]) : [];
  } catch {
    return [];
  }
}

export function TokenTree({ onGo }: { onGo?(): void }) {
  const [database, setDatabase] = useState('');
  const [container, setContainer] = useState('');
  const [opened, setOpened] = useState(kept);
  const here = route.value;
  const go = () => {
    if (!database || !container) return;
    const next: [string, string][] = [[database, container], ...opened.filter(([d, c]) => d !== database || c !== container)];
    setOpened(next);
    sessionStorage.setItem(KEY, JSON.stringify(next));
    navigate({ kind: 'container', database, container, view: 'items', rest: [] });
    onGo?.();
  };
  return (
    <form
      class="token-tree stack"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <h2>Open a container</h2>
      <p class="help">A resource token cannot list what there is: name the container that it is for.</p>
      <Field label="Database">
        <Input value={database} onInput={setDatabase} />
      </Field>
      <Field label="Container">
        <Input value={container} onInput={setContainer} />
      </Field>
      <Button kind="primary" type="submit" disabled={!database || !container}>
        Open
      </Button>
      {opened.length > 0 && (
        <ul>
          {opened.map(([d, c]) => (
            <li key={`${d}/${c}`}>
              <a
                href={href({ kind: 'container', database: d, container: c, view: 'items', rest: [] })}
                aria-current={here.kind === 'container' && here.database === d && here.container === c ? 'page' : undefined}
                onClick={() => onGo?.()}
              >
                {d} / {c}
              </a>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
