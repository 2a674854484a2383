import type { ComponentChildren, ButtonHTMLAttributes, Ref } from 'preact';

import { Spinner } from './Spinner';

import './controls.css';

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'ref'> {
  kind?: 'primary' | 'plain' | 'danger' | 'ghost';
  /** Shows that it is at work, and takes no further click. */
  busy?: boolean;
  small?: boolean;
  buttonRef?: Ref<HTMLButtonElement>;
  children?: ComponentChildren;
}

export function Button({ kind = 'plain', busy, small, buttonRef, class: given, disabled, children, ...rest }: ButtonProps) {
  const names = ['button', kind, small ? 'compact' : '', typeof given === 'string' ? given : ''];
  return (
    <button
      type="button"
      ref={buttonRef ?? null}
      {...rest}
      class={names.filter(Boolean).join(' ')}
      disabled={busy ? true : (disabled ?? false)}
      aria-busy={busy ?? false}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}
