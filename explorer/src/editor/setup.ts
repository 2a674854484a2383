//! What stands behind an editor: the library, with everything the page uses of it. Loaded when the first editor shows.

import {
  acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab, temporarilySetTabFocusMode } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import {
  bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, indentUnit, type LanguageSupport,
} from '@codemirror/language';
import { linter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers,
} from '@codemirror/view';

import { completeSql, type SqlNames } from './completion';
import { sql } from './sql';
import { theme } from './theme';

export type Language = 'json' | 'sql' | 'javascript' | 'plain';

/** A place in the text that something is wrong with, counted in UTF-16 units. */
export interface Mark {
  from: number;
  to: number;
  message: string;
}

export interface Made {
  setText(text: string): void;
  setReadOnly(readOnly: boolean): void;
  setMarks(marks: readonly Mark[]): void;
  destroy(): void;
}

export interface Wishes {
  parent: HTMLElement;
  text: string;
  /** Where the cursor stood in what was shown before; none if nothing had the focus. */
  selection: { from: number; to: number } | null;
  language: Language;
  label: string;
  readOnly: boolean;
  names: () => SqlNames | null;
  onChange(text: string): void;
  onRun: (() => void) | null;
  /** JavaScript, where that is the language: its grammar is the largest part of all, so it comes by itself. */
  javascript: LanguageSupport | null;
}

/** Loads what only one of the languages needs. */
export async function grammarOf(language: Language): Promise<LanguageSupport | null> {
  return language === 'javascript' ? (await import('@codemirror/lang-javascript')).javascript() : null;
}

function languageOf(wishes: Wishes): Extension {
  switch (wishes.language) {
    case 'json':
      // An empty text is an editor that nobody has begun with, not a mistake.
      return [
        json(),
        linter((view) => (view.state.doc.toString().trim() === '' ? [] : jsonParseLinter()(view)), { delay: 350 }),
      ];
    case 'sql':
      return [sql(), autocompletion({ override: [completeSql(wishes.names)], icons: false })];
    case 'javascript':
      return [wishes.javascript ?? [], autocompletion({ icons: false })];
    case 'plain':
      return [];
  }
}

function readOnlyOf(readOnly: boolean): Extension {
  return [EditorState.readOnly.of(readOnly), EditorView.contentAttributes.of({ 'aria-readonly': String(readOnly) })];
}

/** Makes an editor. */
export function make(wishes: Wishes): Made {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
  const readOnly = new Compartment();
  const { onRun } = wishes;
  let isOwn = false;
  const view = new EditorView({
    parent: wishes.parent,
    state: EditorState.create({
      doc: wishes.text,
      selection: wishes.selection
        ? { anchor: wishes.selection.from, head: wishes.selection.to }
        : { anchor: 0 },
      extensions: [
        EditorView.cspNonce.of(nonce),
        onRun ? Prec.highest(keymap.of([{ key: 'Mod-Enter', run: (view) => (closeCompletion(view), onRun(), true) }])) : [],
        history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), search({ top: false }),
        highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(),
        lineNumbers(), codeFolding(), wishes.language === 'json' || wishes.language === 'javascript' ? foldGutter() : [],
        indentUnit.of('  '),
        EditorState.tabSize.of(2),
        EditorView.lineWrapping,
        keymap.of([
          // Tab takes a completion and indents; Escape before it leaves the editor instead.
          { key: 'Tab', run: acceptCompletion },
          ...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap,
          ...foldKeymap, ...lintKeymap, indentWithTab,
          { key: 'Escape', run: temporarilySetTabFocusMode },
        ]),
        languageOf(wishes),
        theme,
        readOnly.of(readOnlyOf(wishes.readOnly)),
        EditorView.contentAttributes.of({
          'aria-label': wishes.label,
          'aria-description': 'Tab indents. Press Escape and then Tab to leave the editor.',
          spellcheck: 'false',
          tabindex: '0',
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isOwn) wishes.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  if (wishes.selection) view.focus();
  return {
    setText(text) {
      if (text === view.state.doc.toString()) return;
      isOwn = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      isOwn = false;
    },
    setReadOnly(value) {
      view.dispatch({ effects: readOnly.reconfigure(readOnlyOf(value)) });
    },
    setMarks(marks) {
      const end = view.state.doc.length;
      const diagnostics = marks.map((mark) => {
        const to = Math.min(mark.to, end);
        // At the end of the text there is nothing to underline: the last character stands for it.
        const from = Math.max(0, Math.min(mark.from, to === mark.from ? to - 1 : to));
        return { from, to, severity: 'error' as const, message: mark.message };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    destroy: () => view.destroy(),
  };
}
