import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

import './table.css';

export interface Column<R> {
  key: string;
  title: string;
  /** A width of CSS grid: "120px", "minmax(80px, 1fr)". */
  width?: string;
  align?: 'left' | 'right';
  /** What the cell shows: text, or elements. */
  render(row: R, index: number): ComponentChildren;
}

export interface TableProps<R> {
  /** What the rows are, for readers of screens. */
  label: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  /** A row was chosen: by a click, or by Enter or the arrow keys. */
  onRow?(row: R, index: number): void;
  /** The row that is chosen. */
  selected?: number | null;
  /** The end is near: more rows may be loaded. */
  onEnd?(): void;
  /** Stands below the last row. */
  foot?: ComponentChildren;
  rowHeight?: number;
}

/** Rows beyond the visible ones that are there already, so that scrolling shows no gaps. */
const AROUND = 12;

/** A table of which only the rows exist that are seen: it may have a million. */
export function Table<R>({ label, columns, rows, onRow, selected = null, onEnd, foot, rowHeight = 28 }: TableProps<R>) {
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });

  useLayoutEffect(() => {
    const element = root.current;
    if (!element) return;
    const read = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener('scroll', read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', read);
    };
  }, []);

  // Where there are fewer rows than before, the place that was scrolled to may be beyond the last.
  const lastView = Math.max(0, rows.length - Math.ceil(view.height / rowHeight));
  const first = Math.max(0, Math.min(lastView, Math.floor(view.top / rowHeight)) - AROUND);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + AROUND);
  const isNearEnd = last >= rows.length;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, rows.length, view.top]);

  const show = (index: number) => {
    const element = root.current;
    if (!element) return;
    const head = rowHeight;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight + head > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight + head - element.clientHeight;
    }
  };

  const keys = (event: KeyboardEvent) => {
    if (!onRow || event.target !== root.current || rows.length === 0) return;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 2);
    const at = selected ?? -1;
    const to =
      event.key === 'ArrowDown' ? at + 1
      : event.key === 'ArrowUp' ? at - 1
      : event.key === 'PageDown' ? at + page
      : event.key === 'PageUp' ? at - page
      : event.key === 'Home' ? 0
      : event.key === 'End' ? rows.length - 1
      : event.key === 'Enter' && at >= 0 ? at
      : null;
    if (to === null) return;
    event.preventDefault();
    const index = Math.min(rows.length - 1, Math.max(0, to));
    const row = rows[index];
    if (row === undefined) return;
    onRow(row, index);
    show(index);
  };

  const template = columns.map((column) => column.width ?? 'minmax(80px, 1fr)').join(' ');
  const cells = (row: R, index: number) =>
    columns.map((column) => (
      <div role="gridcell" key={column.key} class={column.align === 'right' ? 'cell number' : 'cell'}>
        {column.render(row, index)}
      </div>
    ));
  return (
    <div
      class="table"
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={selected !== null && selected >= first && selected < last ? `${id}-${selected}` : undefined}
      tabIndex={0}
      ref={root}
      onKeyDown={keys}
    >
      <div class="head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template, height: `${rowHeight}px` }}>
        {columns.map((column) => (
          <div role="columnheader" key={column.key} class={column.align === 'right' ? 'cell number' : 'cell'} title={column.title}>
            {column.title}
          </div>
        ))}
      </div>
      <div role="presentation" style={{ height: `${first * rowHeight}px` }} />
      {rows.slice(first, last).map((row, offset) => {
        const index = first + offset;
        return (
          <div
            role="row"
            id={`${id}-${index}`}
            key={index}
            aria-rowindex={index + 2}
            aria-selected={onRow ? index === selected : undefined}
            class={onRow ? 'line chosen-by-click' : 'line'}
            style={{ gridTemplateColumns: template, height: `${rowHeight}px` }}
            onClick={() => onRow?.(row, index)}
          >
            {cells(row, index)}
          </div>
        );
      })}
      <div role="presentation" style={{ height: `${(rows.length - last) * rowHeight}px` }} />
      {foot && (
        <div class="foot" role="row">
          <div role="gridcell">{foot}</div>
        </div>
      )}
    </div>
  );
}
