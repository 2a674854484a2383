//! Names as they stand in commands and scripts. Names come from the data: whatever is in one, it stays one word.

/** What a terminal could take for keys when it is pasted; a line's end is not among it within quotes. */
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

/** Returns a text as one word of a shell. */
export function word(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!CONTROL.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `$'${text.replace(/[\\'\u0000-\u001f\u007f-\u009f]/g, escape)}'`;
}

/** Returns a text as a literal of jq, of JavaScript and of queries. */
export function literal(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const isPlain = (name: string) => /^[A-Za-z_]\w*$/.test(name);

/** Returns the names of a path: `/author/name` has two. */
export function names(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

/** Returns a path as jq writes it: `.author.name`. */
export function jqPath(path: string): string {
  const steps = names(path).map((name, at) => (isPlain(name) ? `.${name}` : `${at === 0 ? '.' : ''}[${literal(name)}]`));
  return steps.join('');
}

/** Returns a path as queries and JavaScript write it, behind the name of the item: `c.author.name`. */
export function memberPath(item: string, path: string): string {
  return item + names(path).map((name) => (isPlain(name) ? `.${name}` : `[${literal(name)}]`)).join('');
}

/** Returns names as a part of the name of a container, of a file or of a function; a name that has none of the letters is left out. */
export function plain(...parts: string[]): string {
  return parts.map((part) => part.replace(/[^A-Za-z0-9_-]+/g, '')).filter((part) => part !== '').join('-').replace(/^-+/, '');
}

/** Returns names as one of JavaScript: `createComment`. */
export function camel(begin: string, name: string): string {
  const rest = name.replace(/[^A-Za-z0-9_]/g, '');
  return begin + rest.slice(0, 1).toUpperCase() + rest.slice(1);
}
