//! A text with a language. A plain field shows until the library is there, and what was typed into it stays.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { SqlNames } from './completion';
import './editor.css';
import type { Language, Made, Mark } from './setup';

export interface EditorProps {
  value: string;
  language: Language;
  /** What a screen reader calls it. */
  label: string;
  onChange?: (text: string) => void;
  readOnly?: boolean;
  /** Control and Enter, or Command and Enter. */
  onRun?: () => void;
  /** How many lines it has at least; without, it fills what it is in. */
  minLines?: number;
  /** Places to underline. */
  marks?: readonly Mark[];
  /** What completion of queries knows of the container. */
  names?: () => SqlNames | null;
}

const NO_MARKS: readonly Mark[] = [];

export function Editor(props: EditorProps) {
  const { value, language, label, readOnly = false, minLines, marks = NO_MARKS } = props;
  const host = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const made = useRef<Made | null>(null);
  const [isReady, setReady] = useState(false);
  // The library calls back long after the render that made it.
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    let isGone = false;
    void (async () => {
      const setup = await import('./setup');
      const javascript = await setup.grammarOf(language);
      if (isGone || !host.current) return;
      const field = plain.current;
      const hadFocus = field !== null && document.activeElement === field;
      // What is hidden takes no focus, and the next render is too late for it.
      host.current.hidden = false;
      made.current = setup.make({
        parent: host.current,
        text: latest.current.value,
        selection: hadFocus ? { from: field.selectionStart, to: field.selectionEnd } : null,
        language,
        label,
        readOnly: latest.current.readOnly ?? false,
        names: () => latest.current.names?.() ?? null,
        onChange: (text) => latest.current.onChange?.(text),
        onRun: latest.current.onRun ? () => latest.current.onRun?.() : null,
        javascript,
      });
      setReady(true);
    })();
    return () => {
      isGone = true;
      made.current?.destroy();
      made.current = null;
    };
  }, [language, label]);

  // At once, before the next key: later, an older text would replace what was typed meanwhile.
  useLayoutEffect(() => made.current?.setText(value), [value, isReady]);
  useLayoutEffect(() => made.current?.setReadOnly(readOnly), [readOnly, isReady]);
  useEffect(() => made.current?.setMarks(marks), [marks, isReady]);

  const style = minLines === undefined ? undefined : { minHeight: `${minLines * 1.55 * 13 + 14}px` };
  return (
    <div class={`editor${minLines === undefined ? ' editor-fills' : ''}`} style={style}>
      <div class="editor-host" ref={host} hidden={!isReady} />
      {!isReady && (
        <textarea
          ref={plain}
          class="editor-plain"
          aria-label={label}
          value={value}
          readOnly={readOnly}
          spellcheck={false}
          onInput={(event) => props.onChange?.(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && props.onRun) {
              event.preventDefault();
              props.onRun();
            }
          }}
        />
      )}
    </div>
  );
}
