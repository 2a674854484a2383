//! Whether two texts ask the same with other values: the server writes a recorded query in its own way, with `@1` for each
//! constant, all operators in parentheses and strings quoted as in JSON.
//!
//! Both texts are brought to the same words here. Parentheses are left out, so a text that differs in nothing else is taken for
//! the same; what cannot be told apart from another is no harm, since the answer only says which line is shown.

const WORDS = new Set(
  (
    'SELECT DISTINCT TOP VALUE AS FROM IN JOIN WHERE AND OR NOT BETWEEN LIKE ESCAPE EXISTS ARRAY ALL FIRST LAST GROUP BY ORDER ASC DESC ' +
    'RANK OFFSET LIMIT TRUE FALSE NULL UNDEFINED LET UDF'
  ).split(' '),
);

/** Behind these a number says how many, and stays. */
const COUNTS = new Set(['TOP', 'OFFSET', 'LIMIT']);

/** A value that one asks with. */
const ANY = '@';

const TOKEN =
  /\s+|--[^\r\n]*|\/\*[\s\S]*?\*\/|(?<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<parameter>@\w+)|(?<number>(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?))|(?<name>[A-Za-z_]\w*)|(?<sign><=|>=|!=|<>|\?\?|\|\||<<|>>>|>>|.)/gsu;

/** Tells whether two texts differ in their values alone. */
export function isSameShape(text: string, other: string): boolean {
  return shape(text).join(' ') === shape(other).join(' ');
}

interface Token {
  kind: 'text' | 'parameter' | 'number' | 'name' | 'sign';
  text: string;
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  for (const { groups = {} } of text.matchAll(TOKEN)) {
    for (const kind of ['text', 'parameter', 'number', 'name', 'sign'] as const) {
      const part = groups[kind];
      if (part !== undefined) found.push({ kind, text: part });
    }
  }
  return found;
}

/** Whether something ends here that a bracket or a minus behind it belongs to. */
function isOperand(words: readonly string[]): boolean {
  const before = words.at(-1);
  return before !== undefined && !WORDS.has(before) && (before === ANY || before === ']' || before === ')' || /[\p{L}\p{N}_]/u.test(before));
}

function shape(text: string): string[] {
  const all = tokens(text);
  const words: string[] = [];
  const open: string[] = [];
  for (let at = 0; at < all.length; at += 1) {
    const one = all[at];
    if (!one) break;
    const next = all[at + 1]?.text;
    if (one.kind === 'parameter') words.push(ANY);
    else if (one.kind === 'text') words.push(next === ':' && open.at(-1) === '{' ? unquoted(one.text) : ANY);
    else if (one.kind === 'number') words.push(COUNTS.has(words.at(-1) ?? '') ? one.text : ANY);
    else if (one.kind === 'name') words.push(WORDS.has(one.text.toUpperCase()) && words.at(-1) !== '.' ? one.text.toUpperCase() : one.text);
    else if (one.text === '[' && isOperand(words)) {
      // A property or a position: `c["a"]` is `c.a`.
      const inner = all[at + 1];
      if (all[at + 2]?.text === ']' && inner && (inner.kind === 'text' || inner.kind === 'number')) {
        words.push('.', inner.kind === 'text' ? unquoted(inner.text) : inner.text);
        at += 2;
      } else {
        words.push('[');
        open.push('[');
      }
    } else if (one.text === '[' || (one.text === '(' && words.at(-1) === 'IN')) {
      // A list of constants is one value.
      const end = endOfConstants(all, at);
      if (end === null) {
        words.push(one.text);
        open.push(one.text);
      } else {
        words.push(ANY);
        at = end;
      }
    } else if (one.text === '-' && !isOperand(words) && all[at + 1]?.kind === 'number') {
      // The number that follows is the value.
    } else {
      if ('[({'.includes(one.text)) open.push(one.text);
      if ('])}'.includes(one.text)) open.pop();
      words.push(one.text === '<>' ? '!=' : one.text);
    }
  }
  return words.filter((word) => !['(', ')', 'AS', 'ASC'].includes(word));
}

/** Returns where a list ends that has constants and parameters alone; null for another. */
function endOfConstants(all: readonly Token[], from: number): number | null {
  let depth = 0;
  for (let at = from; at < all.length; at += 1) {
    const one = all[at];
    if (!one) return null;
    if (one.text === '[' || one.text === '(') depth += 1;
    else if (one.text === ']' || one.text === ')') depth -= 1;
    else if (one.kind === 'name' && !/^(?:true|false|null)$/i.test(one.text)) return null;
    else if (one.kind === 'sign' && one.text !== ',' && one.text !== '-') return null;
    if (depth === 0) return at;
  }
  return null;
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, '$1');
}
