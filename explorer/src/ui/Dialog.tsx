import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { Button } from './Button';

import './dialog.css';

export interface DialogProps {
  title: string;
  /** Without it the dialog cannot be closed: it has to be answered. */
  onClose?(): void;
  children: ComponentChildren;
  footer?: ComponentChildren;
  /** For forms and texts that need room. */
  wide?: boolean;
  /** What Enter in one of its fields does. */
  onSubmit?(): void;
}

/** What is answered before anything else. The browser keeps the focus inside; afterwards it is where it was. */
export function Dialog({ title, onClose, children, footer, wide, onSubmit }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isLeaving = useRef(false);
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      isLeaving.current = true;
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClose={() => {
        // A browser closes it at the second Escape, whatever was said at the first.
        if (isLeaving.current) return;
        if (onClose) onClose();
        else element.current?.showModal();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <header>
          <h2 id={id}>{title}</h2>
          {onClose && (
            <Button kind="ghost" small aria-label="Close" onClick={onClose}>
              ✕
            </Button>
          )}
        </header>
        <div class="content">{children}</div>
        {footer && <footer>{footer}</footer>}
      </form>
    </dialog>
  );
}
