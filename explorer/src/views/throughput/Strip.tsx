//! The ring laid out as a strip: the arcs that there would be, and what each would have.

import { count } from '../../ui';
import type { Piece } from './preview';

/** Below this part of the ring a number does not fit. */
const ROOM = 0.1;

export function Strip({ pieces, share }: { pieces: Piece[]; share: number }) {
  const made = pieces.filter((piece) => piece.isNew).length;
  return (
    <div
      class="strip"
      role="img"
      aria-label={`${pieces.length} partitions on the ring, ${made} of them new, each with ${count(share)} RU/s`}
    >
      {pieces.map((piece) => (
        <span key={piece.from} class={piece.isNew ? 'strip-piece new' : 'strip-piece'} style={{ flexGrow: piece.to - piece.from }}>
          {piece.to - piece.from >= ROOM && count(share)}
        </span>
      ))}
    </div>
  );
}
