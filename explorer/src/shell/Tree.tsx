//! The tree at the left: databases, their containers, and what there is to see of each.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { Button } from '../ui/Button';
import { Problem } from '../ui/Problem';
import { Spinner } from '../ui/Spinner';
import { databases, loadDatabases, refresh, wantContainers } from './account';
import { can, navigate, route } from './state';
import { filter, keyOf, loadBelow, nodes, open, reveal, setOpen, type TreeNode } from './tree-nodes';

import './tree.css';

/** The height of a line; the stylesheet has the same. */
const LINE = 26;

/** Lines beyond the visible ones that are there already. */
const AROUND = 10;

export function Tree({ onGo }: { onGo?(): void }) {
  const list = databases.value;
  const lines = nodes();
  const here = keyOf(route.value);
  const [active, setActive] = useState<string | null>(here);
  const [view, setView] = useState({ top: 0, height: 800 });
  const root = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: '', at: 0 });
  const brought = useRef('');

  useEffect(() => {
    if (!list.value && !list.isBusy) void loadDatabases();
    for (const key of open.value) loadBelow(key);
  }, []);
  useEffect(() => {
    reveal(route.value);
    if (here) setActive(here);
  }, [here]);
  useEffect(() => {
    // A container is found wherever it lies: for that, all of them have to be known.
    if (filter.value.trim() === '') return;
    const timer = setTimeout(() => void loadAll(), 250);
    return () => clearTimeout(timer);
  }, [filter.value, list.value]);
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

  const at = lines.findIndex((line) => line.key === active);
  const bring = (index: number) => {
    const element = root.current;
    if (!element) return;
    const top = index * LINE;
    if (top < element.scrollTop) element.scrollTop = top;
    if (top + LINE > element.scrollTop + element.clientHeight) element.scrollTop = top + LINE - element.clientHeight;
  };
  const focus = (index: number) => {
    const line = lines[Math.min(lines.length - 1, Math.max(0, index))];
    if (!line) return;
    setActive(line.key);
    bring(lines.indexOf(line));
  };
  const hereAt = lines.findIndex((line) => line.key === here);
  useLayoutEffect(() => {
    // Once for each place and filter: who scrolls on is left alone when lists come in.
    const wanted = `${here} ${filter.value}`;
    if (hereAt < 0 || brought.current === wanted) return;
    brought.current = wanted;
    bring(hereAt);
  }, [here, hereAt, filter.value]);
  const go = (line: TreeNode) => {
    setActive(line.key);
    if (!line.route) return;
    if (line.isOpen === false) setOpen(line.key, true);
    navigate(line.route);
    if (line.kind !== 'database') onGo?.();
  };
  const find = (key: string) => {
    const now = Date.now();
    typed.current = { text: now - typed.current.at > 800 ? key : typed.current.text + key, at: now };
    const from = typed.current.text.length > 1 ? at : at + 1;
    const order = [...lines.slice(Math.max(0, from)), ...lines.slice(0, Math.max(0, from))];
    const hit = order.find((line) => line.label.toLowerCase().startsWith(typed.current.text.toLowerCase()));
    if (hit) focus(lines.indexOf(hit));
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const line = lines[at];
    const parent = () => {
      for (let index = at - 1; index >= 0; index -= 1) if ((lines[index]?.level ?? 0) < (line?.level ?? 0)) return index;
      return at;
    };
    const page = Math.max(1, Math.floor(view.height / LINE) - 1);
    switch (event.key) {
      case 'ArrowDown': focus(at + 1); break;
      case 'ArrowUp': focus(at - 1); break;
      case 'PageDown': focus(at + page); break;
      case 'PageUp': focus(at - page); break;
      case 'Home': focus(0); break;
      case 'End': focus(lines.length - 1); break;
      case 'ArrowRight':
        if (line?.isOpen === false) setOpen(line.key, true);
        else if (line?.isOpen) focus(at + 1);
        break;
      case 'ArrowLeft':
        if (line?.isOpen) setOpen(line.key, false);
        else if (line) focus(parent());
        break;
      case 'Enter':
      case ' ':
        if (line) go(line);
        break;
      default:
        if (event.key.length !== 1 || event.key === '?' || event.key === '/') return;
        find(event.key);
    }
    event.preventDefault();
    event.stopPropagation();
  };

  // A filter may leave fewer lines than were scrolled over.
  const lastView = Math.max(0, lines.length - Math.ceil(view.height / LINE));
  const first = Math.max(0, Math.min(lastView, Math.floor(view.top / LINE)) - AROUND);
  const last = Math.min(lines.length, Math.ceil((view.top + view.height) / LINE) + AROUND);
  return (
    <div class="tree">
      <div class="tools">
        <input
          class="input"
          type="search"
          aria-label="Filter by name"
          placeholder="Filter by name"
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') {
              event.preventDefault();
              root.current?.focus();
              if (at < 0) focus(0);
            }
          }}
        />
        <Button kind="ghost" title="Load the lists again" aria-label="Load the lists again" onClick={() => void refresh()}>
          ↻
        </Button>
        {can('manage') && (
          <Button kind="ghost" title="New database" aria-label="New database" onClick={() => navigate({ kind: 'new-database' })}>
            +
          </Button>
        )}
      </div>
      {list.error != null && <Problem error={list.error} />}
      {!list.value && list.isBusy && <Spinner label="Loading databases" />}
      {list.value && lines.length === 0 && (
        <p class="nothing">{filter.value ? 'Nothing has a name like that.' : 'There are no databases yet.'}</p>
      )}
      <div
        class="lines"
        role="tree"
        aria-label="Databases and containers"
        tabIndex={0}
        ref={root}
        aria-activedescendant={at >= first && at < last ? `tree-${at}` : undefined}
        onKeyDown={keys}
        onFocus={() => at < 0 && lines[0] && setActive(lines[0].key)}
      >
        <div role="presentation" style={{ height: `${first * LINE}px` }} />
        {lines.slice(first, last).map((line, offset) => (
          <Line
            key={line.key}
            line={line}
            id={`tree-${first + offset}`}
            isActive={line.key === active}
            isHere={line.key === here}
            onGo={() => go(line)}
          />
        ))}
        <div role="presentation" style={{ height: `${(lines.length - last) * LINE}px` }} />
      </div>
    </div>
  );
}

async function loadAll(): Promise<void> {
  for (const { id } of databases.value.value ?? []) {
    if (filter.value.trim() === '') return;
    await wantContainers(id);
  }
}

interface LineProps {
  line: TreeNode;
  id: string;
  isActive: boolean;
  isHere: boolean;
  onGo(): void;
}

function Line({ line, id, isActive, isHere, onGo }: LineProps) {
  const names = ['line', line.kind, isActive ? 'active' : '', isHere ? 'here' : ''];
  return (
    <div
      role="treeitem"
      id={id}
      class={names.filter(Boolean).join(' ')}
      aria-level={line.level}
      aria-expanded={line.isOpen ?? undefined}
      aria-selected={isHere}
      aria-posinset={line.position}
      aria-setsize={line.size}
      style={{ paddingLeft: `${(line.level - 1) * 14 + 4}px` }}
      title={line.label}
      onClick={onGo}
    >
      <span
        class="fold"
        aria-hidden="true"
        onClick={(event) => {
          if (line.isOpen === null) return;
          event.stopPropagation();
          setOpen(line.key, !line.isOpen);
        }}
      >
        {line.isOpen === null ? '' : line.isOpen ? '▾' : '▸'}
      </span>
      <span class="name">{line.label}</span>
    </div>
  );
}
