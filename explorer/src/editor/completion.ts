//! What can be written at a place of a query: words, functions, aliases, parameters, and paths of the container's items.

import { type Completion, type CompletionContext, type CompletionResult, snippetCompletion } from '@codemirror/autocomplete';

import { CONSTANTS, FUNCTIONS, KEYWORDS } from './functions';

/** A property that items have, and those within it. An array's elements are the property `[]`. */
export interface PathNode {
  /** What values were seen there, as `number` or `text, null`. */
  type: string;
  children: Map<string, PathNode>;
}

/** What completion knows of a container. */
export interface SqlNames {
  root: PathNode;
  /** Names of user-defined functions. */
  functions: readonly string[];
}

const FIXED: Completion[] = [
  ...KEYWORDS.map((label) => ({ label, type: 'keyword', boost: 1 })),
  ...CONSTANTS.map((label) => ({ label, type: 'constant' })),
  ...FUNCTIONS.map((one) => {
    const template = one.call === '()' ? `${one.name}()` : `${one.name}(\${})`;
    return snippetCompletion(template, {
      label: one.name,
      type: 'function',
      detail: one.call,
      info: `${one.name}${one.call}\n${one.help}`,
    });
  }),
];

const WORD = /^[A-Za-z_]\w*$/;
/** A path that ends where the cursor is: an alias, steps, and what is written of the last step. */
const PATH = /([A-Za-z_]\w*)((?:\.\w+|\[\s*(?:\d+|"[^"]*"|'[^']*')\s*\])*)\.(\w*)$/;
const STEP = /\.(\w+)|\[\s*(?:(\d+)|"([^"]*)"|'([^']*)')\s*\]/g;

/** Returns the source of completions for an editor. */
export function completeSql(names: () => SqlNames | null) {
  return (context: CompletionContext): CompletionResult | null => {
    const text = context.state.doc.toString();
    const before = text.slice(Math.max(0, context.pos - 400), context.pos);
    const known = names();
    if (isInText(before)) return null;

    const path = PATH.exec(before);
    if (path) {
      const [, alias = '', steps = '', part = ''] = path;
      const options = alias.toLowerCase() === 'udf' && steps === ''
        ? (known?.functions ?? []).map((label) => ({ label, type: 'function', apply: `${label}(` }))
        : properties(follow(aliases(text, known).get(alias) ?? null, steps));
      const valid = unfinished(options.map((one) => one.label));
      if (options.length === 0 || (!context.explicit && part !== '' && !valid(part))) return null;
      return { from: context.pos - part.length, options, validFor: valid };
    }
    const parameter = /@\w*$/.exec(before);
    if (parameter) {
      const written = text.match(/@[A-Za-z_]\w*/g) ?? [];
      const others = [...new Set(written)].filter((name) => name !== parameter[0]);
      if (others.length === 0) return null;
      return { from: context.pos - parameter[0].length, options: others.map((label) => ({ label, type: 'variable' })) };
    }
    const word = context.matchBefore(/[A-Za-z_]\w*/);
    if (!word && !context.explicit) return null;
    const own = [...aliases(text, known)].map(([label, node]) => ({
      label, type: 'variable', detail: node ? node.type : 'alias', boost: 3,
    }));
    const udf = known && known.functions.length > 0 ? [{ label: 'udf', detail: 'user-defined functions' }] : [];
    const valid = unfinished([...own.map((one) => one.label), ...KEYWORDS, ...CONSTANTS]);
    if (word && !context.explicit && !valid(word.text)) return null;
    return { from: word?.from ?? context.pos, options: [...own, ...udf, ...FIXED], validFor: valid };
  };
}

/** Returns whether a word is still to be completed: where it is whole already, Enter shall begin a line and take nothing. */
function unfinished(labels: readonly string[]): (word: string) => boolean {
  const whole = new Set(labels.map((label) => label.toUpperCase()));
  return (word) => /^\w*$/.test(word) && !whole.has(word.toUpperCase());
}

/** Whether the end of a text is within a literal or a comment. */
function isInText(before: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const rest = line.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, '');
  return /['"]|--/.test(rest);
}

/** Returns what the aliases of a query stand for. */
function aliases(text: string, known: SqlNames | null): Map<string, PathNode | null> {
  const found = new Map<string, PathNode | null>();
  const root = known?.root ?? null;
  const whole = /\bFROM\s+([A-Za-z_]\w*)(?!\s+IN\b|\w)(?:\s+AS)?(?:\s+(?!WHERE\b|ORDER\b|GROUP\b|JOIN\b|OFFSET\b)([A-Za-z_]\w*))?/i
    .exec(text);
  if (whole) found.set(whole[2] ?? whole[1] ?? 'c', root);
  else if (!/\bFROM\b/i.test(text)) found.set('c', root);
  const elements = /([A-Za-z_]\w*)\s+IN\s+([A-Za-z_]\w*)((?:\.\w+|\["[^"]*"\])*)/gi;
  for (const [, alias = '', from = '', steps = ''] of text.matchAll(elements)) {
    const array = found.has(from) ? follow(found.get(from) ?? null, steps) : follow(root, steps);
    // `x IN (1, 2)` names a property before the word, and nothing with steps behind it.
    if (steps !== '' || found.has(from)) found.set(alias, array?.children.get('[]') ?? null);
  }
  return found;
}

function follow(node: PathNode | null, steps: string): PathNode | null {
  let at = node;
  for (const [, name, index, double, single] of steps.matchAll(STEP)) {
    at = at?.children.get(index === undefined ? (name ?? double ?? single ?? '') : '[]') ?? null;
  }
  return at;
}

/** Returns the properties of a node; those that need quotes replace the dot before them. */
function properties(node: PathNode | null): Completion[] {
  if (!node) return [];
  return [...node.children].filter(([name]) => name !== '[]').map(([name, child]) => ({
    label: name,
    type: 'property',
    detail: child.type,
    // What the server adds to every item comes last.
    boost: name.startsWith('_') ? -2 : 2,
    ...(WORD.test(name)
      ? {}
      : {
          apply: (view, _completion, from, to) => {
            const insert = `[${JSON.stringify(name)}]`;
            const start = from - 1;
            view.dispatch({ changes: { from: start, to, insert }, selection: { anchor: start + insert.length } });
          },
        } satisfies Partial<Completion>),
  }));
}
