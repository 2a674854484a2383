//! Another throughput, with what it would mean before it is asked for.

import { useState } from 'preact/hooks';

import { changeThroughput, type Kind, type ThroughputState, type Wanted } from '../../api/offers';
import type { ContainerPartitions } from '../../api/partitions';
import { Button, bytes, Choice, confirm, count, counted, Field, Input, Problem, toast } from '../../ui';
import { useUnsaved } from '../../shell/state';
import { arc } from '../partitions/arcs';
import { minimumOf, preview, STEP, type Preview } from './preview';
import { Strip } from './Strip';

interface ChangeProps {
  state: ThroughputState;
  container: ContainerPartitions;
  onChanged(state: ThroughputState): void;
}

const KINDS = [
  ['manual', 'Manual', 'The same in every second.'],
  ['autoscale', 'Autoscale', 'Up to a maximum; counted is what an hour was busy enough for, at least a tenth.'],
] as const;

/** Hours of a month, as the service's price calculator has it. */
const MONTH_HOURS = 730;

export function Change({ state, container, onChanged }: ChangeProps) {
  const [kind, setKind] = useState<Kind>(state.kind);
  const [text, setText] = useState(String(state.value));
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const wanted: Wanted = { kind, value: text.trim() === '' ? Number.NaN : Number(text) };
  const isChanged = kind !== state.kind || wanted.value !== state.value;
  useUnsaved(isChanged && !isBusy, 'the throughput');
  const partitionRu = container.limits.physicalPartitionRu;
  const arcs = container.partitions.map((partition) => ({ ...arc(partition), isNew: false }));
  const shown = preview(state, wanted, arcs, partitionRu);

  function choose(next: Kind) {
    setKind(next);
    if (next === state.kind) setText(String(state.value));
    else setText(String(Math.max(minimumOf(state, next), Math.ceil(state.value / STEP[next]) * STEP[next])));
  }

  async function apply() {
    if (shown.splits > 0) {
      const isAgreed = await confirm({
        title: `Make ${counted(shown.splits, 'split')}?`,
        text:
          `${container.partitions.length} physical partitions become ${shown.pieces.length}. Clients go on meanwhile, and until it is ` +
          'done the throughput cannot be changed again. Lowering the throughput later does not merge them.',
        action: 'Change the throughput',
      });
      if (!isAgreed) return;
    }
    setIsBusy(true);
    setError(null);
    try {
      const changed = await changeThroughput(state, wanted);
      setText(String(changed.value));
      toast(changed.isPending ? 'Changed: partitions are being made for it.' : 'The throughput was changed.', 'good');
      onChanged(changed);
    } catch (cause) {
      setError(cause);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <section class="card throughput-change">
      <h2>Change it</h2>
      {state.owner === 'database' && (
        <p class="notice warn">This changes the throughput of the database, and of every container that shares it.</p>
      )}
      <div class="throughput-form">
        <div class="stack">
          <Choice label="Kind" value={kind} options={KINDS} onChange={choose} disabled={isBusy || state.isPending} />
          <Field
            label={kind === 'manual' ? 'RU/s' : 'Maximum RU/s'}
            help={`At least ${count(shown.minimum)}, in steps of ${count(STEP[kind])}. ${whyMinimum(state)}`}
            error={isChanged ? shown.problem : null}
          >
            <Input
              type="number"
              value={text}
              min={shown.minimum}
              step={STEP[kind]}
              disabled={isBusy || state.isPending}
              onInput={setText}
            />
          </Field>
          <div class="row">
            <Button
              kind="primary"
              busy={isBusy}
              disabled={!isChanged || shown.problem !== null || state.isPending}
              onClick={() => void apply()}
            >
              Apply
            </Button>
            {isChanged && (
              <Button
                kind="ghost"
                onClick={() => {
                  setKind(state.kind);
                  setText(String(state.value));
                  setError(null);
                }}
              >
                Discard
              </Button>
            )}
          </div>
        </div>
        <Outcome preview={shown} wanted={wanted} container={container} state={state} partitionRu={partitionRu} />
      </div>
      {error !== null && <Problem error={error} />}
    </section>
  );
}

function whyMinimum(state: ThroughputState): string {
  return `It follows from the most that was ever provisioned, ${count(state.highestEver)} RU/s, and from what is stored, ${bytes(state.storedKb * 1024)}.`;
}

interface OutcomeProps {
  preview: Preview;
  wanted: Wanted;
  container: ContainerPartitions;
  state: ThroughputState;
  partitionRu: number;
}

function Outcome({ preview: shown, wanted, container, state, partitionRu }: OutcomeProps) {
  const isPossible = shown.problem === null;
  const [least, most] = shown.hourly;
  const hour = least === most ? count(most) : `${count(least)} to ${count(most)}`;
  const month = least === most ? count(most * MONTH_HOURS) : `${count(least * MONTH_HOURS)} to ${count(most * MONTH_HOURS)}`;
  return (
    <div class="throughput-outcome" aria-live="polite">
      <h3>What it would mean</h3>
      {isPossible ? (
        <>
          <Strip pieces={shown.pieces} share={shown.share} />
          <dl class="throughput-facts">
            <dt>Each partition</dt>
            <dd>
              {count(shown.share)} RU/s in every second
              {state.owner === 'database' && ', shared with the other containers of the database'}
            </dd>
            <dt>Partitions</dt>
            <dd>{partitionsText(shown, container.partitions.length)}</dd>
            <dt>RU/s-hours</dt>
            <dd>
              {hour} for each hour, {month} for a month of {MONTH_HOURS} hours
              {wanted.kind === 'autoscale' && '; by the busiest five seconds of each hour'}
            </dd>
          </dl>
          <p class="note">
            A physical partition of this server serves at most {count(partitionRu)} RU/s.
          </p>
        </>
      ) : (
        <p class="note">Nothing: the server would refuse it.</p>
      )}
    </div>
  );
}

function partitionsText(shown: Preview, now: number): string {
  if (shown.splits === 0) return `${counted(now, 'partition')}, as now: it holds from the running second on`;
  return `${now} become ${shown.pieces.length} by ${counted(shown.splits, 'split')}, the widest arcs first`;
}
