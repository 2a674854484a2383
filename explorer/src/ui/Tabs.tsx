import { useRef } from 'preact/hooks';

import './parts.css';

export interface TabsProps<K extends string> {
  /** What the tabs are of, for readers of screens. */
  label: string;
  tabs: readonly (readonly [K, string])[];
  active: K;
  onChange(tab: NoInfer<K>): void;
}

/** Tabs; the arrow keys go from one to the next. */
export function Tabs<K extends string>({ label, tabs, active, onChange }: TabsProps<K>) {
  const list = useRef<HTMLDivElement>(null);
  const step = (event: KeyboardEvent) => {
    const at = tabs.findIndex(([key]) => key === active);
    const to =
      event.key === 'ArrowRight'
        ? (at + 1) % tabs.length
        : event.key === 'ArrowLeft'
          ? (at - 1 + tabs.length) % tabs.length
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? tabs.length - 1
              : -1;
    const tab = tabs[to];
    if (!tab) return;
    event.preventDefault();
    onChange(tab[0]);
    const button = list.current?.children[to];
    if (button instanceof HTMLElement) button.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={step}>
      {tabs.map(([key, title]) => (
        <button
          type="button"
          role="tab"
          key={key}
          aria-selected={key === active}
          tabIndex={key === active ? 0 : -1}
          onClick={() => onChange(key)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
