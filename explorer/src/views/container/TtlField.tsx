//! The time to live of a container's items.

import { Choice, Field, Input } from '../../ui/Field';
import { duration } from '../../ui/format';

export interface TtlChoice {
  kind: 'off' | 'own' | 'seconds';
  seconds: string;
}

export function ttlChoice(ttl: number | undefined): TtlChoice {
  if (ttl === undefined) return { kind: 'off', seconds: '86400' };
  return ttl === -1 ? { kind: 'own', seconds: '86400' } : { kind: 'seconds', seconds: String(ttl) };
}

/** Returns the member of the definition, undefined for none, or what is wrong. */
export function readTtl(choice: TtlChoice): { value: number | undefined } | { wrong: string } {
  if (choice.kind === 'off') return { value: undefined };
  if (choice.kind === 'own') return { value: -1 };
  const seconds = Number(choice.seconds);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 2_147_483_647) return { wrong: 'A whole number from 1 to 2,147,483,647.' };
  return { value: seconds };
}

export function TtlField({ choice, onChange, disabled }: { choice: TtlChoice; onChange(choice: TtlChoice): void; disabled?: boolean }) {
  const read = readTtl(choice);
  const seconds = Number(choice.seconds);
  return (
    <div class="stack">
      <Choice
        label="Time to live"
        value={choice.kind}
        disabled={disabled ?? false}
        onChange={(kind) => onChange({ ...choice, kind })}
        options={[
          ['off', 'Off', 'Items stay until they are deleted, whatever their ttl says.'],
          ['own', 'As each item says', 'An item with the member ttl expires so many seconds after its last write; others stay.'],
          ['seconds', 'For all items', 'Items without a ttl of their own expire so many seconds after their last write.'],
        ]}
      />
      {choice.kind === 'seconds' && (
        <Field
          label="Seconds after the last write"
          error={'wrong' in read ? read.wrong : null}
          help={'value' in read ? `That is ${ttlText(seconds)}.` : undefined}
        >
          <Input
            type="number"
            min={1}
            value={choice.seconds}
            disabled={disabled ?? false}
            onInput={(text) => onChange({ ...choice, seconds: text })}
          />
        </Field>
      )}
    </div>
  );
}

/** A time to live in words. */
export function ttlText(seconds: number): string {
  if (seconds < 86_400) return duration(seconds * 1000);
  const days = seconds / 86_400;
  return `${Number.isInteger(days) ? days : days.toFixed(1)} ${days === 1 ? 'day' : 'days'}`;
}
