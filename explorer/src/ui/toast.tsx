//! Short news of what was done.

import { signal } from '@preact/signals';

import { Button } from './Button';

import './dialog.css';

export type ToastKind = 'plain' | 'good' | 'bad';

interface Toast {
  number: number;
  text: string;
  kind: ToastKind;
}

const toasts = signal<Toast[]>([]);
let next = 0;

const drop = (number: number) => {
  toasts.value = toasts.value.filter((one) => one.number !== number);
};

/** Says something in the corner for some seconds; what went wrong stays until it is closed. */
export function toast(text: string, kind: ToastKind = 'plain'): void {
  const number = next++;
  toasts.value = [...toasts.value.slice(-3), { number, text, kind }];
  if (kind !== 'bad') setTimeout(() => drop(number), 5000);
}

/** Where the news appears: the shell has one of these. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div class={`toast ${one.kind}`} key={one.number}>
          <span>{one.text}</span>
          <Button kind="ghost" small aria-label="Close" onClick={() => drop(one.number)}>
            ✕
          </Button>
        </div>
      ))}
    </div>
  );
}
