import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Button, type ButtonProps } from './Button';

import './parts.css';

export interface MenuItem {
  title: string;
  /** A line below the title. */
  hint?: string;
  /** Whether it is chosen; left out for what is not a choice. */
  checked?: boolean;
  danger?: boolean;
  disabled?: boolean;
  onClick(): void;
}

export interface MenuProps {
  label: string;
  /** What the button shows; the label if left out. */
  caption?: ComponentChildren;
  items: readonly MenuItem[];
  kind?: ButtonProps['kind'];
  small?: boolean;
  /** The list begins at the left edge of its button. */
  left?: boolean;
  /** The list stays open after a click: for choices of several. */
  keepOpen?: boolean;
}

/** A button with a list of commands or choices. */
export function Menu({ label, caption, items, kind = 'ghost', small, left, keepOpen }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const entries = () => [...(root.current?.querySelectorAll<HTMLButtonElement>('[role^=menuitem]:not(:disabled)') ?? [])];
  useEffect(() => {
    if (!isOpen) return;
    entries()[0]?.focus();
    const close = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [isOpen]);
  const keys = (event: KeyboardEvent) => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const to =
      event.key === 'ArrowDown' ? (at + 1) % all.length
      : event.key === 'ArrowUp' ? (at - 1 + all.length) % all.length
      : event.key === 'Home' ? 0
      : event.key === 'End' ? all.length - 1
      : null;
    if (to !== null) {
      event.preventDefault();
      all[to]?.focus();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      event.preventDefault();
      setOpen(false);
      button.current?.focus();
    } else if (event.key === 'Tab') {
      setOpen(false);
    }
  };
  return (
    <div class={left ? 'menu left' : 'menu'} ref={root}>
      <Button
        kind={kind}
        small={small ?? false}
        buttonRef={button}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={caption === undefined ? undefined : label}
        onClick={() => setOpen(!isOpen)}
      >
        {caption ?? label}
      </Button>
      {isOpen && (
        <div role="menu" aria-label={label} onKeyDown={keys}>
          {items.map((item) => (
            <button
              type="button"
              key={item.title}
              role={item.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
              aria-checked={item.checked}
              class={item.danger ? 'danger' : ''}
              disabled={item.disabled ?? false}
              tabIndex={-1}
              onClick={() => {
                if (!keepOpen) {
                  setOpen(false);
                  button.current?.focus();
                }
                item.onClick();
              }}
            >
              {item.checked !== undefined && (item.checked ? '✓ ' : '\u2003')}
              {item.title}
              {item.hint && <small>{item.hint}</small>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
