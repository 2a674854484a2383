//! Somebody else has written the item meanwhile: both sides, and what can be done.

import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { diff, type DiffLine } from './diff';

export interface ConflictProps {
  mine: string;
  /** What the server has now; null if the item was deleted. */
  theirs: string | null;
  onOverwrite(): void;
  onTake(): void;
  onKeep(): void;
}

export function Conflict({ mine, theirs, onOverwrite, onTake, onKeep }: ConflictProps) {
  const [left, right] = diff(mine, theirs ?? '');
  return (
    <Dialog
      title="The item was changed meanwhile"
      wide
      onClose={onKeep}
      footer={
        <>
          <Button onClick={onKeep}>Keep editing</Button>
          <Button onClick={onTake}>{theirs === null ? 'Accept that it is deleted' : 'Take theirs, lose mine'}</Button>
          <Button kind="danger" onClick={onOverwrite}>
            {theirs === null ? 'Create it again' : 'Overwrite with mine'}
          </Button>
        </>
      }
    >
      <p>
        {theirs === null
          ? 'Somebody has deleted this item since it was read here. Nothing was saved.'
          : 'Somebody has written this item since it was read here. Nothing was saved. Lines that differ are marked.'}
      </p>
      <div class="sides">
        <Side title="Yours" lines={left} />
        {theirs !== null && <Side title="On the server now" lines={right} />}
      </div>
    </Dialog>
  );
}

function Side({ title, lines }: { title: string; lines: readonly DiffLine[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <pre tabIndex={0} aria-label={title}>
        {lines.map((line, at) => (
          <div key={at} class={line.isOther ? 'other' : ''}>
            {line.text || ' '}
          </div>
        ))}
      </pre>
    </section>
  );
}
