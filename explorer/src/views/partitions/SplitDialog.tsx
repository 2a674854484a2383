//! Asks where a partition is to be cut.

import { useState } from 'preact/hooks';

import type { ContainerPartitions, Partition } from '../../api/partitions';
import { Button, Dialog, Field, Input, Problem, ru } from '../../ui';
import { middle } from './arcs';

interface SplitDialogProps {
  container: ContainerPartitions;
  partition: Partition;
  onSplit(at: string | null): Promise<void>;
  onClose(): void;
}

export function SplitDialog({ container, partition, onSplit, onClose }: SplitDialogProps) {
  const [at, setAt] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const count = container.partitions.length;
  const share = container.throughput === null ? null : container.throughput / (count + 1);
  const isHex = /^(?:[0-9a-f]{2})*$/i.test(at);

  async function run() {
    setIsBusy(true);
    setError(null);
    try {
      await onSplit(at === '' ? null : at.toUpperCase());
      onClose();
    } catch (cause) {
      setError(cause);
      setIsBusy(false);
    }
  }

  return (
    <Dialog
      title={`Split partition ${partition.id}`}
      onClose={onClose}
      onSubmit={() => isHex && void run()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={!isHex}>
            Split
          </Button>
        </>
      }
    >
      <p>
        Partition {partition.id} becomes two, each with a part of its arc. Clients go on meanwhile; nothing they hold becomes
        invalid.
        {share !== null &&
          ` With ${count + 1} partitions, each has ${ru(share)} of the container’s ${ru(container.throughput ?? 0)} RU/s in every second.`}
      </p>
      <p class="note">One partition key always lies in one partition: if a single key makes it hot, a split does not help.</p>
      <Field
        label="Cut at the hash"
        help={`Hexadecimal digits inside the arc; left empty, the cut is in the middle${middleText(partition)}.`}
        error={isHex ? null : 'An even number of hexadecimal digits, such as 1FFF.'}
      >
        <Input value={at} onInput={(text) => setAt(text.trim())} class="mono" />
      </Field>
      {error !== null && <Problem error={error} />}
    </Dialog>
  );
}

function middleText(partition: Partition): string {
  const hash = middle(partition);
  return hash === null ? '' : `, ${hash.slice(0, 8)}…`;
}
