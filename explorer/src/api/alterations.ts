//! Changes of a data model that can be tried, as the options of `armilla advise` write them.

import type { CompositePath } from './resources';

/** A text of which a copy has the beginning. */
export interface Shortened {
  path: string;
  characters: number;
}

export type Alteration =
  | { kind: 'key'; container: string; paths: string[] }
  | { kind: 'composite'; container: string; paths: CompositePath[] }
  | { kind: 'exclude' | 'include'; container: string; paths: string[] }
  /** Items get copies of members of what they refer to. */
  | { kind: 'embed'; container: string; sort: string | null; reference: string; source: string; members: string[] }
  /** Items of one sort keep the number of items of another. */
  | { kind: 'count'; container: string; sort: string; member: string; counted: string }
  /** Items are copied into a container of another key. */
  | { kind: 'copy'; container: string; sort: string | null; key: string; shortened: Shortened[] }
  /** The newest are copied into a container of one key. */
  | { kind: 'newest'; container: string; sort: string; order: string; count: number; shortened: Shortened[] };

/** Returns the option that tries a change. */
export function optionOf(change: Alteration): string {
  const cuts = (shortened: readonly Shortened[]) => shortened.map((one) => `,${one.path}<${one.characters}`).join('');
  const host = (container: string, sort: string | null) => (sort === null ? container : `${container}.${sort}`);
  switch (change.kind) {
    case 'key':
      return `--try-key ${change.container}:${change.paths.join(',')}`;
    case 'composite':
      return `--try-index ${change.container}:${change.paths.map((one) => (one.order === 'descending' ? '-' : '+') + one.path).join(',')}`;
    case 'exclude':
    case 'include':
      return `--try-index ${change.container}:${change.kind}=${change.paths.join(',')}`;
    case 'embed':
      return `--try-embed ${host(change.container, change.sort)}:${change.reference}=${change.source}:${change.members.join(',')}`;
    case 'count':
      return `--try-count ${change.container}:${change.sort}.${change.member}=${change.counted}`;
    case 'copy':
      return `--try-copy ${host(change.container, change.sort)}:${change.key}${cuts(change.shortened)}`;
    case 'newest':
      return `--try-newest ${host(change.container, change.sort)}:${change.order},${change.count}${cuts(change.shortened)}`;
  }
}

/** Reads an option as the server writes it; null for what this page does not know. */
export function parseOption(option: string): Alteration | null {
  const [name, value] = cutAt(option, ' ') ?? [option, ''];
  const [host, rest] = cutAt(value, ':') ?? ['', ''];
  if (host === '' || rest === '') return null;
  switch (name) {
    case '--try-key':
      return { kind: 'key', container: host, paths: rest.split(',') };
    case '--try-index':
      return index(host, rest);
    case '--try-embed': {
      const [reference, from] = cutAt(rest, '=') ?? ['', ''];
      const [source, members] = cutAt(from, ':') ?? ['', ''];
      return members === '' ? null : { kind: 'embed', ...sortOf(host), reference, source, members: members.split(',') };
    }
    case '--try-count': {
      const [owner, counted] = cutAt(rest, '=') ?? ['', ''];
      const [sort, member] = cutAt(owner, '.') ?? ['', ''];
      return member === '' ? null : { kind: 'count', container: host, sort, member, counted };
    }
    case '--try-copy': {
      const [key = '', ...cuts] = rest.split(',');
      return { kind: 'copy', ...sortOf(host), key, shortened: cuts.map(shortened) };
    }
    case '--try-newest': {
      const { container, sort } = sortOf(host);
      const [order = '', count = '', ...cuts] = rest.split(',');
      return sort === null ? null : { kind: 'newest', container, sort, order, count: Number(count), shortened: cuts.map(shortened) };
    }
    default:
      return null;
  }
}

function index(container: string, text: string): Alteration {
  for (const kind of ['exclude', 'include'] as const) {
    if (text.startsWith(`${kind}=`)) return { kind, container, paths: text.slice(kind.length + 1).split(',') };
  }
  const paths = text.split(',').map((one): CompositePath => ({
    path: one.replace(/^[+-]/, ''),
    order: one.startsWith('-') ? 'descending' : 'ascending',
  }));
  return { kind: 'composite', container, paths };
}

/** Takes the sort of items off, which stands behind the last dot. */
function sortOf(host: string): { container: string; sort: string | null } {
  const at = host.lastIndexOf('.');
  return at > 0 && at < host.length - 1
    ? { container: host.slice(0, at), sort: host.slice(at + 1) }
    : { container: host, sort: null };
}

function shortened(text: string): Shortened {
  const [path, characters] = cutAt(text, '<') ?? [text, '0'];
  return { path, characters: Number(characters) };
}

function cutAt(text: string, mark: string): [string, string] | null {
  const at = text.indexOf(mark);
  return at < 0 ? null : [text.slice(0, at), text.slice(at + mark.length)];
}

/** Returns what a copy of a member is called: `/userId` and `/username` give `userUsername`, as the server has it. */
export function copiedName(reference: string, member: string): string {
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const base = last(reference);
  const end = ['Id', '_id', 'ID', 'Ref'].find((one) => base.endsWith(one)) ?? '';
  const [first = '', ...others] = last(member);
  return base.slice(0, base.length - end.length) + first.toUpperCase() + others.join('');
}
