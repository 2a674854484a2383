//! Keys that work everywhere but where text is typed.

import { useEffect } from 'preact/hooks';

import type { ContainerView } from './route';
import { navigate, route } from './state';
import { containerViews } from './views';

const VIEW_KEYS: Record<string, ContainerView> = {
  i: 'items',
  q: 'query',
  s: 'settings',
  p: 'partitions',
};

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function useShortcuts(on: { onHelp(): void; onTree(): void }): void {
  useEffect(() => {
    let begun = 0;
    const keys = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      const isSecond = Date.now() - begun < 1000;
      begun = 0;
      if (isSecond) {
        if (!second(event.key, on.onTree)) return;
      } else if (event.key === 'g') {
        begun = Date.now();
      } else if (event.key === '?') {
        on.onHelp();
      } else if (event.key === '/') {
        on.onTree();
        requestAnimationFrame(() => document.querySelector<HTMLElement>('.tree input[type=search]')?.focus());
      } else {
        return;
      }
      event.preventDefault();
    };
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, []);
}

function second(key: string, onTree: () => void): boolean {
  if (key === 'h') {
    navigate({ kind: 'home' });
    return true;
  }
  if (key === 't') {
    onTree();
    requestAnimationFrame(() => document.querySelector<HTMLElement>('[role=tree]')?.focus());
    return true;
  }
  const view = VIEW_KEYS[key];
  const here = route.value;
  if (!view || here.kind !== 'container' || !containerViews.has(view)) return false;
  navigate({ ...here, view, rest: [] });
  return true;
}
