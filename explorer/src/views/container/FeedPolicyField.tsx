//! What the change feed keeps of a container's items.

import { Checkbox, Field, Input } from '../../ui/Field';

export interface FeedChoice {
  isOn: boolean;
  minutes: string;
  previousImages: boolean;
}

export interface FeedPolicy {
  retentionDuration?: number;
  previousImages?: boolean;
}

export function feedChoice(policy: FeedPolicy | undefined): FeedChoice {
  const minutes = policy?.retentionDuration ?? 0;
  return { isOn: minutes > 0, minutes: String(minutes || 10), previousImages: policy?.previousImages === true };
}

/** Returns the member of the definition, undefined for none, or what is wrong. */
export function readFeed(choice: FeedChoice): { value: FeedPolicy | undefined } | { wrong: string } {
  if (!choice.isOn) return { value: undefined };
  const minutes = Number(choice.minutes);
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > 43_200) return { wrong: 'Whole minutes from 1 to 43,200, which are 30 days.' };
  return { value: { retentionDuration: minutes, ...(choice.previousImages ? { previousImages: true } : {}) } };
}

export function FeedPolicyField({ choice, onChange, disabled = false }: { choice: FeedChoice; onChange(choice: FeedChoice): void; disabled?: boolean }) {
  const read = readFeed(choice);
  return (
    <div class="stack">
      <Checkbox
        label="The change feed keeps all versions and deletes"
        help="Without it the feed tells the newest version of each item, and nothing of deletes."
        checked={choice.isOn}
        disabled={disabled}
        onChange={(isOn) => onChange({ ...choice, isOn })}
      />
      {choice.isOn && (
        <>
          <Field label="Minutes for which versions are kept" error={'wrong' in read ? read.wrong : null}>
            <Input
              type="number"
              min={1}
              max={43_200}
              value={choice.minutes}
              disabled={disabled}
              onInput={(minutes) => onChange({ ...choice, minutes })}
            />
          </Field>
          <Checkbox
            label="Tell what a replaced item was before"
            help="Deletes always tell what they deleted. Images of replaces take more storage."
            checked={choice.previousImages}
            disabled={disabled}
            onChange={(previousImages) => onChange({ ...choice, previousImages })}
          />
        </>
      )}
    </div>
  );
}
