//! The buttons that split and merge, and how far it is.

import { useState } from 'preact/hooks';

import type { ContainerPartitions, Partition } from '../../api/partitions';
import { Button, confirm, Problem } from '../../ui';
import { SplitDialog } from './SplitDialog';
import type { Reshape, Reshaping } from './reshape';

interface ButtonsProps {
  container: ContainerPartitions;
  partition: Partition;
  reshaping: Reshaping;
}

export function ReshapeButtons({ container, partition, reshaping }: ButtonsProps) {
  const [isSplitting, setIsSplitting] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isBusy = reshaping.current?.state.is === 'running' || partition.status === 'splitting';
  const place = container.partitions.indexOf(partition);
  const neighbours = [container.partitions[place - 1], container.partitions[place + 1]].filter((one) => one !== undefined);

  async function mergeWith(neighbour: Partition) {
    const isAgreed = await confirm({
      title: `Merge ${partition.id} with ${neighbour.id}?`,
      text:
        `Partitions ${partition.id} and ${neighbour.id} become one, with one share of the throughput instead of two. ` +
        'Clients go on meanwhile. Lowering the throughput never merges by itself.',
      action: 'Merge',
    });
    if (!isAgreed) return;
    const pair: [Partition, Partition] =
      partition.minInclusive < neighbour.minInclusive ? [partition, neighbour] : [neighbour, partition];
    try {
      setError(null);
      await reshaping.merge([pair[0].id, pair[1].id]);
    } catch (cause) {
      setError(cause);
    }
  }

  return (
    <>
      <div class="reshape-buttons">
        <Button disabled={isBusy} onClick={() => setIsSplitting(true)}>
          Split…
        </Button>
        {neighbours.map((neighbour) => (
          <Button key={neighbour.id} disabled={isBusy} onClick={() => void mergeWith(neighbour)}>
            Merge with {neighbour.id}…
          </Button>
        ))}
      </div>
      {error !== null && <Problem error={error} />}
      {isSplitting && (
        <SplitDialog
          container={container}
          partition={partition}
          onSplit={(at) => reshaping.split(partition.id, at)}
          onClose={() => setIsSplitting(false)}
        />
      )}
    </>
  );
}

/** Tells of the change that runs or ran last. */
export function ReshapeStatus({ reshape, onDismiss }: { reshape: Reshape; onDismiss(): void }) {
  const { state, ranges } = reshape;
  const names = ranges.join(' and ');
  return (
    <div class={`reshape-status ${state.is}`} role="status">
      {state.is === 'running' && (
        <>
          <span>
            {reshape.kind === 'split' ? `Splitting ${names}` : `Merging ${names}`}
            {state.percent !== null && `: ${state.percent} %`}
          </span>
          <progress
            aria-label={`Progress of ${names}`}
            max={100}
            {...(state.percent !== null && { value: state.percent })}
          />
        </>
      )}
      {state.is === 'done' && (
        <span>
          {names} became {state.into.join(' and ')}, seen after {state.seconds.toFixed(1)} s.
        </span>
      )}
      {state.is === 'failed' && <span>It did not work: {state.why}</span>}
      {state.is !== 'running' && (
        <Button kind="ghost" onClick={onDismiss}>
          Dismiss
        </Button>
      )}
    </div>
  );
}
