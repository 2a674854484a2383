//! Highlighting of the query language: words, texts, numbers, parameters, comments.

import { LanguageSupport, StreamLanguage } from '@codemirror/language';
import type { StringStream } from '@codemirror/language';
import { CONSTANTS, FUNCTIONS, KEYWORDS, SYNONYMS } from './functions';

const keywords = new Set([...KEYWORDS, 'UDF', 'RANK']);
const constants = new Set(CONSTANTS.map((word) => word.toUpperCase()));
const functions = new Set([...FUNCTIONS.map((one) => one.name), ...SYNONYMS]);

interface State {
  /** Whether a dot stands before: what follows is a property, whatever it is called. */
  afterDot: boolean;
}

function token(stream: StringStream, state: State): string | null {
  if (stream.eatSpace()) return null;
  const { afterDot } = state;
  state.afterDot = false;
  if (stream.match('--')) {
    stream.skipToEnd();
    return 'comment';
  }
  if (stream.match(/^@[A-Za-z_]\w*/)) return 'variableName.special';
  if (stream.match(/^(?:0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/)) return 'number';
  if (stream.match(/^'(?:[^'\\]|\\.)*'?/) || stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
  const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
  if (word) {
    const upper = word[0].toUpperCase();
    if (afterDot) return 'propertyName';
    if (functions.has(upper) && stream.match(/^\s*\(/, false)) return 'variableName.function';
    if (keywords.has(upper)) return 'keyword';
    return constants.has(upper) ? 'atom' : 'variableName';
  }
  const character = stream.next();
  if (character === '.') {
    state.afterDot = true;
    return 'operator';
  }
  return character && '()[]{},:'.includes(character) ? 'punctuation' : 'operator';
}

const language = StreamLanguage.define<State>({
  name: 'cosmos-sql',
  startState: () => ({ afterDot: false }),
  copyState: (state) => ({ ...state }),
  token,
  languageData: {
    commentTokens: { line: '--' },
    closeBrackets: { brackets: ['(', '[', '{', "'", '"'] },
  },
});

export function sql(): LanguageSupport {
  return new LanguageSupport(language);
}
