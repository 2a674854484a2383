//! Unique keys of a new container.

import { Button } from '../../ui/Button';
import { Input } from '../../ui/Field';

export interface UniqueKeysProps {
  /** Each a list of paths, divided by commas. */
  keys: readonly string[];
  onChange(keys: string[]): void;
}

/** Returns the member of the definition. */
export function readUniqueKeys(keys: readonly string[]): { paths: string[] }[] {
  const lists = keys.map((one) => one.split(',').map((path) => path.trim()).filter(Boolean));
  return lists.filter((one) => one.length > 0).map((paths) => ({ paths: paths.map((path) => (path.startsWith('/') ? path : `/${path}`)) }));
}

export function UniqueKeys({ keys, onChange }: UniqueKeysProps) {
  return (
    <section class="paths">
      <h3>Unique keys</h3>
      <p class="help">
        No two items of one logical partition have the same values here. Several paths, divided by commas, are unique together.
        They cannot be changed later.
      </p>
      {keys.map((key, at) => (
        <div class="row" key={at}>
          <Input
            aria-label={`Paths of unique key ${at + 1}`}
            class="mono"
            placeholder="/email"
            value={key}
            onInput={(text) => onChange(keys.map((one, index) => (index === at ? text : one)))}
          />
          <Button kind="ghost" small aria-label={`Remove unique key ${at + 1}`} onClick={() => onChange(keys.filter((_, index) => index !== at))}>
            ✕
          </Button>
        </div>
      ))}
      {keys.length < 10 && (
        <Button small onClick={() => onChange([...keys, ''])}>
          Add a unique key
        </Button>
      )}
    </section>
  );
}
