//! Throughput at creation: none of its own, a fixed rate, or one that follows the load.

import type { Throughput } from '../../api/resources';
import { Choice, Field, Input } from '../../ui/Field';

export interface ThroughputChoice {
  kind: 'none' | 'manual' | 'autoscale';
  manual: string;
  most: string;
}

/** Returns what a choice says, or what is wrong with it. */
export function readThroughput(choice: ThroughputChoice): { value: Throughput } | { wrong: string } {
  if (choice.kind === 'none') return { value: null };
  const isManual = choice.kind === 'manual';
  const amount = Number(isManual ? choice.manual : choice.most);
  const [least, step] = isManual ? [400, 100] : [1000, 1000];
  if (!Number.isInteger(amount) || amount < least || amount % step !== 0) {
    return { wrong: `At least ${least}, in steps of ${step}.` };
  }
  return { value: isManual ? { manual: amount } : { autoscaleMax: amount } };
}

export interface ThroughputFieldProps {
  label: string;
  none: readonly [string, string];
  choice: ThroughputChoice;
  onChange(choice: ThroughputChoice): void;
}

export function ThroughputField({ label, none, choice, onChange }: ThroughputFieldProps) {
  const read = readThroughput(choice);
  const wrong = 'wrong' in read ? read.wrong : null;
  return (
    <div class="stack">
      <Choice
        label={label}
        value={choice.kind}
        onChange={(kind) => onChange({ ...choice, kind })}
        options={[
          ['none', ...none],
          ['manual', 'Manual', 'A fixed rate. What comes faster is refused with 429 and can be repeated.'],
          ['autoscale', 'Autoscale', 'Follows the load between a tenth of the maximum and the maximum.'],
        ]}
      />
      {choice.kind === 'manual' && (
        <Field label="Request units per second" error={wrong} help="Each 6,000 RU/s begun get a physical partition.">
          <Input type="number" min={400} step={100} value={choice.manual} onInput={(manual) => onChange({ ...choice, manual })} />
        </Field>
      )}
      {choice.kind === 'autoscale' && (
        <Field label="Most request units per second" error={wrong} help="Each 10,000 RU/s begun get a physical partition.">
          <Input type="number" min={1000} step={1000} value={choice.most} onInput={(most) => onChange({ ...choice, most })} />
        </Field>
      )}
    </div>
  );
}
