import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

import './parts.css';

export interface SplitProps {
  /** What the line between divides, for readers of screens. */
  label: string;
  /** Under which the size is kept. */
  name: string;
  first: ComponentChildren;
  second: ComponentChildren;
  /** One above the other instead of beside. */
  down?: boolean;
  /** Share of the first pane at the beginning, between 0 and 1. */
  initial?: number;
  /** Shows one pane alone; the other is kept as it is. */
  only?: 'first' | 'second' | null;
  /** Smallest size of either pane, in pixels. */
  least?: number;
}

/** Two panes with a line between that is dragged, or moved with the arrow keys. */
export function Split({ label, name, first, second, down, only = null, initial = 0.5, least = 120 }: SplitProps) {
  const key = `armilla.split.${name}`;
  const [share, setShare] = useState(() => {
    const kept = Number(localStorage.getItem(key));
    return kept > 0 && kept < 1 ? kept : initial;
  });
  const root = useRef<HTMLDivElement>(null);
  const set = (wanted: number) => {
    const box = root.current?.getBoundingClientRect();
    const size = box ? (down ? box.height : box.width) : 0;
    const edge = size > 0 ? Math.min(0.5, least / size) : 0.1;
    const next = Math.min(1 - edge, Math.max(edge, wanted));
    setShare(next);
    localStorage.setItem(key, next.toFixed(4));
  };
  const drag = (event: PointerEvent) => {
    const line = event.currentTarget as HTMLElement;
    event.preventDefault();
    line.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent) => {
      const box = root.current?.getBoundingClientRect();
      if (!box) return;
      set(down ? (moved.clientY - box.top) / box.height : (moved.clientX - box.left) / box.width);
    };
    const end = () => {
      line.removeEventListener('pointermove', move);
      line.removeEventListener('pointerup', end);
      line.removeEventListener('pointercancel', end);
    };
    line.addEventListener('pointermove', move);
    line.addEventListener('pointerup', end);
    line.addEventListener('pointercancel', end);
  };
  const keys = (event: KeyboardEvent) => {
    const [less, more] = down ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight'];
    if (event.key === less) set(share - 0.03);
    else if (event.key === more) set(share + 0.03);
    else return;
    event.preventDefault();
  };
  const size = only ? '100%' : `calc(${(share * 100).toFixed(2)}% - 1px)`;
  return (
    <div class={down ? 'split down' : 'split'} ref={root}>
      <div class={only === 'first' ? 'pane rest' : 'pane'} hidden={only === 'second'} style={down ? { height: size } : { width: size }}>
        {first}
      </div>
      <div
        role="separator"
        hidden={only !== null}
        tabIndex={0}
        aria-label={label}
        aria-orientation={down ? 'horizontal' : 'vertical'}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
        onPointerDown={drag}
        onKeyDown={keys}
        onDblClick={() => set(initial)}
      />
      <div class="pane rest" hidden={only === 'first'}>
        {second}
      </div>
    </div>
  );
}
