import type { ComponentChildren } from 'preact';

import './parts.css';

/** Nothing is there: says so, and what could be done. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children}
    </div>
  );
}
