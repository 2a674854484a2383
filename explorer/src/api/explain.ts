//! Explained queries as a tree: what is done, from the result down to the index, with the price of each step.
//!
//! The server tells three things: the steps that rows pass, how items are found in each partition, and what each kind of
//! work cost. Here the kinds of work are put at the steps that do them; no price is divided or estimated.

import type { Explained, PartitionAccess, Price } from './query';

export interface Step {
  /** What is done, in a word or two. */
  name: string;
  /** Of what: conditions, paths, counts. */
  detail: string;
  /** Request units; null where the step has no price of its own. */
  charge: number | null;
  count: number | null;
  bytes: number | null;
  /** Why it costs what it does. */
  note: string;
  below: Step[];
}

const NAMES: Record<string, string> = {
  OneRow: 'One row without items',
  Items: 'Items',
  Filter: 'Filter',
  Join: 'Join',
  Group: 'Group',
  'Order by': 'Order by',
  Project: 'Project',
  Distinct: 'Distinct',
  Window: 'Window',
  'Rows of': 'Rows of',
};

const WORK: Record<string, { name: string; note: string }> = {
  'visit partitions': { name: 'Visit partitions', note: '2.08 RU for each physical partition, once' },
  'seek in indexes': { name: 'Seek in indexes', note: '0.39 RU for each predicate or order that an index serves, in each partition' },
  'load items by an index': { name: 'Load items by an index', note: '0.087 RU an item and 0.080 RU a KB' },
  'load items by a scan': { name: 'Load items by a scan', note: '0.020 RU an item and 0.0073 RU a KB' },
  'walk index entries': { name: 'Walk index entries', note: '0.0042 RU for each entry that did not lead to a row' },
  'aggregate rows': { name: 'Aggregate rows', note: '0.009 RU for each row that went into an aggregate' },
  join: { name: 'Join', note: '0.002 RU for each row that a join made' },
  'call functions': { name: 'Call functions', note: '0.01 RU for each call of a user-defined function' },
  compute: { name: 'Compute', note: '0.0001 RU for each step beyond 100,000' },
  'rest to the least charge': { name: 'Rest to the least charge', note: 'each page costs at least 1 RU' },
};

/** The kinds of work that finding items consists of; what is not here belongs to a step that rows pass. */
const FINDING = ['visit partitions', 'seek in indexes', 'load items by an index', 'load items by a scan', 'walk index entries'];

function step(name: string, detail = '', below: Step[] = []): Step {
  return { name, detail, charge: null, count: null, bytes: null, note: '', below };
}

/** Adds up what pages cost, kind by kind. */
export function addPrices(prices: readonly (readonly Price[])[]): Price[] {
  const sums = new Map<string, Price>();
  for (const price of prices.flat()) {
    const sum = sums.get(price.what) ?? { what: price.what, count: 0, charge: 0 };
    sum.count += price.count;
    sum.charge += price.charge;
    if (price.bytes !== undefined) sum.bytes = (sum.bytes ?? 0) + price.bytes;
    sums.set(price.what, sum);
  }
  return [...sums.values()].map((sum) => ({ ...sum, charge: Math.round(sum.charge * 100) / 100 }));
}

/** Puts pages of one query together: the plan of the first, the accesses of all, the sum of the prices. */
export function addPages(pages: readonly Explained[]): Explained | null {
  const [first] = pages;
  if (!first) return null;
  const most = pages.reduce((a, b) => (b.partitions.length > a.partitions.length ? b : a));
  const price = addPrices(pages.map((page) => page.price ?? []));
  return {
    plan: first.plan,
    partitions: most.partitions,
    rows: pages.reduce((sum, page) => sum + (page.rows ?? 0), 0),
    itemsLookedAt: pages.reduce((sum, page) => sum + (page.itemsLookedAt ?? 0), 0),
    price,
    charge: Math.round(price.reduce((sum, one) => sum + one.charge, 0) * 100) / 100,
  };
}

/** Returns the tree: its root is what comes out, its leaves are where items are found. */
export function explainTree(explained: Explained): Step[] {
  const left = new Map((explained.price ?? []).map((price) => [price.what, price]));
  const take = (what: string) => {
    const price = left.get(what);
    left.delete(what);
    return price ?? null;
  };
  const found = findItems(explained.partitions, take);
  const pipeline = nest(named(explained.plan), found, take);
  const rest = [...left.values()].map(priced);
  return [...pipeline, ...rest];
}

function priced(price: Price): Step {
  const work = WORK[price.what] ?? { name: price.what, note: '' };
  return { ...step(work.name), charge: price.charge, count: price.count, bytes: price.bytes ?? null, note: work.note };
}

/** Nests the steps of a plan, written from the source on, so that each is above where its rows come from. */
function nest(lines: readonly string[], source: Step[], take: (what: string) => Price | null): Step[] {
  let below: Step[] = source;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const name = Object.keys(NAMES).find((word) => line.startsWith(word)) ?? '';
    const detail = line.slice(name.length).replace(/^:?\s*/, '');
    const one = step(NAMES[name] ?? line, name === '' ? '' : detail, below);
    if (name === 'Rows of') {
      const inner: string[] = [];
      while ((lines[index + 1] ?? '').startsWith('  ')) {
        index += 1;
        inner.push((lines[index] ?? '').slice(2));
      }
      one.name = 'Rows of a subquery';
      one.below = nest(inner, source, take);
    }
    if (name === 'Window') one.detail = windowText(detail);
    if (name === 'Group') attach(one, take('aggregate rows'));
    if (name === 'Join') attach(one, take('join'));
    if (/\budf\./.test(detail)) attach(one, take('call functions'));
    below = [one];
  }
  return below;
}

/** Writes the keys and aggregates of a group where later steps name them by number. */
function named(lines: readonly string[]): string[] {
  let names = new Map<string, string>();
  return lines.map((line) => {
    const group = /^\s*Group(?: by (.*?))?(?:: ((?:[A-Z]+\(.*)))?$/.exec(line);
    if (group) {
      const [, keys = '', aggregates = ''] = group;
      names = new Map([
        ...split(keys).map((key, index) => [`key(${index})`, key] as const),
        ...split(aggregates).map((one, index) => [`aggregate(${index})`, one] as const),
      ]);
      return line;
    }
    return line.replace(/\b(?:key|aggregate)\(\d+\)/g, (name) => names.get(name) ?? name);
  });
}

/** Splits a list at its commas, not at those within brackets or texts. */
function split(list: string): string[] {
  const parts: string[] = [];
  let [depth, isText, from] = [0, false, 0];
  for (let at = 0; at < list.length; at += 1) {
    const character = list[at] ?? '';
    if (character === '"' && list[at - 1] !== '\\') isText = !isText;
    else if (!isText && '([{'.includes(character)) depth += 1;
    else if (!isText && ')]}'.includes(character)) depth -= 1;
    else if (!isText && depth === 0 && character === ',') {
      parts.push(list.slice(from, at).trim());
      from = at + 1;
    }
  }
  const last = list.slice(from).trim();
  return last === '' ? parts : [...parts, last];
}

function windowText(detail: string): string {
  const offset = /offset=(\d+)/.exec(detail)?.[1] ?? '0';
  const limit = /limit=(\d+)/.exec(detail)?.[1];
  return [offset === '0' ? '' : `without the first ${offset}`, limit ? `at most ${limit} rows` : ''].filter(Boolean).join(', ');
}

function attach(to: Step, price: Price | null): void {
  if (!price) return;
  const { charge, count, bytes, note } = priced(price);
  Object.assign(to, { charge, count, bytes, note });
}

function findItems(partitions: readonly PartitionAccess[], take: (what: string) => Price | null): Step[] {
  if (partitions.length === 0) return FINDING.map(take).filter((price) => price !== null).map(priced);
  // Estimates differ from partition to partition: accesses are told apart without them.
  const kinds = new Map<string, PartitionAccess[]>();
  for (const partition of partitions) {
    const kind = partition.access.map((line) => line.replace(ENTRIES, '')).join('\n');
    kinds.set(kind, [...(kinds.get(kind) ?? []), partition]);
  }
  const ways = [...kinds.values()].flatMap((alike) => {
    const way = accessTree(alike[0]?.access ?? []);
    if (alike.length > 1) way.forEach(withoutEstimates);
    const entries = alike.reduce((sum, one) => sum + entriesIn(one.access), 0);
    const estimate = alike.length > 1 && entries > 0 ? `about ${entries.toLocaleString('en')} entries` : '';
    if (kinds.size > 1) return [step(`In ${alike.length} of ${partitions.length} partitions`, estimate, way)];
    const source = way[0] && leaf(way[0]);
    if (source && estimate) source.detail = `${source.detail} · ${estimate}`;
    return way;
  });
  const visit = take('visit partitions');
  const top = visit ? priced(visit) : step('Visit partitions');
  const items = partitions.reduce((sum, one) => sum + (one.items ?? 0), 0);
  if (!visit) top.detail = [String(partitions.length), items > 0 ? `with ${items.toLocaleString('en')} items` : ''].filter(Boolean).join(' ');
  const seeks = take('seek in indexes');
  if (seeks) ways.map(leaf).filter((source) => source.name === 'Scan').forEach((source) => {
    source.note = 'quicker here than the index, and charged as if the index were used';
  });
  const work = [seeks, ...FINDING.map(take)].filter((price) => price !== null).map(priced);
  top.below = [...ways, ...work];
  return [top];
}

/** Returns where the rows of a step come from in the end. */
function leaf(one: Step): Step {
  const [below] = one.below;
  return below ? leaf(below) : one;
}

const ENTRIES = / \((\d+) entr(?:y|ies)\)/g;

function entriesIn(lines: readonly string[]): number {
  return lines.flatMap((line) => [...line.matchAll(ENTRIES)]).reduce((sum, match) => sum + Number(match[1]), 0);
}

function withoutEstimates(one: Step): void {
  one.detail = one.detail.replace(ENTRIES, '');
  one.below.forEach(withoutEstimates);
}

const ACCESSES: readonly [start: string, name: string, note: string][] = [
  ['Nothing', 'Nothing can match', ''],
  ['PointRead', 'Read one item', 'by its id and partition key'],
  ['Scan in the order of insertion', 'Scan', 'items are looked at one after the other'],
  ['Scan in the order of keys', 'Scan', 'items are looked at in the order of partition keys'],
  ['IndexSeek', 'Seek', 'one value in an index'],
  ['IndexRange', 'Range', 'a part of an index'],
  ['IndexScan', 'Index scan', 'every value of the index is tested'],
  ['Stream', 'Stream', 'items in the order of an index'],
  ['Values of', 'Values of the index', 'no item is loaded'],
  ['Walk', 'Walk', 'through an index in the order that is asked for'],
  ['Sort by', 'Sort', 'the rows are put in order after they are found'],
  ['Sort', 'Sort', 'the rows are put in order after they are found'],
  ['CountItems', 'Count all items', 'the number is known'],
  ['CountEntries', 'Count in the index', 'no item is loaded'],
  ['Count', 'Count', 'no item is loaded'],
  ['Highest of', 'Highest value', 'read at the end of an index'],
  ['Lowest of', 'Lowest value', 'read at the start of an index'],
  ['DistinctValues', 'Different values', 'of an index, no item is loaded'],
  ['And', 'Both of', 'items that all of the indexes name'],
  ['Or', 'Either of', 'items that one of the indexes names'],
  ['Filter', 'Check', 'on each item that is found below'],
];

/** Returns the lines of an access as a tree. */
function accessTree(lines: readonly string[]): Step[] {
  const roots: Step[] = [];
  const open: { indent: number; below: Step[] }[] = [{ indent: -1, below: roots }];
  for (const line of lines) {
    const indent = line.length - line.trimStart().length;
    const text = line.trim();
    const known = ACCESSES.find(([start]) => text === start || text.startsWith(`${start} `) || text.startsWith(`${start}(`));
    const one = known ? { ...step(known[1], plainly(text.slice(known[0].length))), note: known[2] } : step(text);
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    open.at(-1)?.below.push(one);
    open.push({ indent, below: one.below });
  }
  // A condition that is left to check takes what the lines before it find.
  const [first, ...conditions] = roots;
  let top = first;
  for (const condition of conditions) {
    if (top) condition.below = [top];
    top = condition;
  }
  return top ? [top] : [];
}

/** Leaves out the words for kinds of ranges within a text: what is looked for says which kind it is. */
function plainly(text: string): string {
  return text.trim().replace(/\bIndex(?:Seek|Range|Scan) /g, '');
}

/** Returns whether some partition was searched without an index though a filter was there. */
export function scansForFilter(explained: Explained): boolean {
  return explained.partitions.some((one) =>
    one.access.some((line) => line.trimStart().startsWith('Scan ')) && one.access.some((line) => line.startsWith('Filter ')));
}
