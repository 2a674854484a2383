//! JSON as text: cut into its parts, and laid out, without a number or an order being changed on the way. A number of an item
//! may have more digits than a number of a script can hold.

/** Returns where white space ends. */
function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  return at;
}

function skipString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Returns where the value ends that begins at `from`. The text is known to be JSON. */
function skipValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return skipString(text, from);
  if (first === '{' || first === '[') {
    let depth = 0;
    let at = from;
    while (at < text.length) {
      const character = text[at];
      if (character === '"') {
        at = skipString(text, at);
        continue;
      }
      if (character === '{' || character === '[') depth += 1;
      if (character === '}' || character === ']') depth -= 1;
      at += 1;
      if (depth === 0) return at;
    }
    return at;
  }
  let at = from;
  while (at < text.length && !',}] \t\r\n'.includes(text.charAt(at))) at += 1;
  return at;
}

/** Returns the elements of an array, each as its text. */
export function elements(array: string): string[] {
  const found: string[] = [];
  let at = skipSpace(array, skipSpace(array, 0) + 1);
  while (at < array.length && array[at] !== ']') {
    const end = skipValue(array, at);
    found.push(array.slice(at, end));
    at = skipSpace(array, end);
    if (array[at] === ',') at = skipSpace(array, at + 1);
  }
  return found;
}

export interface Member {
  name: string;
  /** The name as the text has it, with its quotes. */
  rawName: string;
  raw: string;
}

/** Returns the members of an object, each with its value as text. */
export function members(object: string): Member[] {
  const found: Member[] = [];
  let at = skipSpace(object, skipSpace(object, 0) + 1);
  while (at < object.length && object[at] === '"') {
    const nameEnd = skipString(object, at);
    const rawName = object.slice(at, nameEnd);
    const begin = skipSpace(object, skipSpace(object, nameEnd) + 1);
    const end = skipValue(object, begin);
    found.push({ name: JSON.parse(rawName) as string, rawName, raw: object.slice(begin, end) });
    at = skipSpace(object, end);
    if (object[at] === ',') at = skipSpace(object, at + 1);
  }
  return found;
}

/** Returns the text of what an object has at a path; undefined where there is nothing. */
export function rawAt(object: string, path: readonly string[]): string | undefined {
  let at: string | undefined = object;
  for (const name of path) {
    if (!at?.startsWith('{')) return undefined;
    at = members(at).find((one) => one.name === name)?.raw;
  }
  return at;
}

/** Returns the elements of one member of an object, which is an array; none if it has no such member. */
export function elementsOf(object: string, member: string): string[] {
  const found = members(object).find((one) => one.name === member);
  return found ? elements(found.raw) : [];
}

/** Returns an object's text without some of its members. */
export function without(object: string, names: ReadonlySet<string>): string {
  const kept = members(object).filter((one) => !names.has(one.name));
  return `{${kept.map((one) => `${one.rawName}:${one.raw}`).join(',')}}`;
}

/** Returns an object's text with one member set, at its place or else as the first. */
export function withMember(object: string, name: string, raw: string): string {
  const all = members(object);
  const rawName = JSON.stringify(name);
  const isThere = all.some((one) => one.name === name);
  const set = isThere
    ? all.map((one) => (one.name === name ? { ...one, raw } : one))
    : [{ name, rawName, raw }, ...all];
  return `{${set.map((one) => `${one.rawName}:${one.raw}`).join(',')}}`;
}

/** Lays out a text over lines. Short arrays of plain values stay on one. */
export function layOut(text: string, indent = ''): string {
  const at = skipSpace(text, 0);
  const raw = text.slice(at, skipValue(text, at));
  const deeper = `${indent}  `;
  if (raw.startsWith('{')) {
    const all = members(raw);
    if (all.length === 0) return '{}';
    const lines = all.map((one) => `${deeper}${one.rawName}: ${layOut(one.raw, deeper)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }
  if (raw.startsWith('[')) {
    const all = elements(raw);
    if (all.length === 0) return '[]';
    const short = `[${all.join(', ')}]`;
    if (short.length <= 80 && all.every((one) => !/^[[{]/.test(one))) return short;
    return `[\n${all.map((one) => deeper + layOut(one, deeper)).join(',\n')}\n${indent}]`;
  }
  return raw;
}
