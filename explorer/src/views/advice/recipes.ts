//! From one model to another: what is to be done for a change, in steps, with commands and scripts that have the real names.
//!
//! The steps are those of the documentation, docs/modelling/changing-data.md, which says why they hold.

import { placeOf } from '../../api/advice';
import { copiedName, type Alteration, type Shortened } from '../../api/alterations';
import { keyPaths } from '../../api/keys';
import type { Container } from '../../api/resources';
import { href } from '../../shell/state';
import { settingsLink } from '../query/hints';
import { camel, jqPath, literal, memberPath, names, plain, word } from './words';

export interface Step {
  text: string;
  code?: { name: string; text: string };
  link?: { text: string; href: string };
}

/** What is known of the account that commands and scripts are for. */
export interface Known {
  /** The database of names that have none. */
  database: string;
  /** The address of the server. */
  endpoint: string;
  /** Containers by `database/container`. */
  definitions: ReadonlyMap<string, Container>;
  /** The member that says what an item is. */
  typeMember: string;
}

interface Place {
  database: string;
  container: string;
}

const SORT_MEMBERS = /\.(type|_type|kind|docType|entityType|discriminator|label)\s*(?:=|IN\b)/i;

/** Returns the member that says what an item is, read from what the server wrote about queries; `type` where nothing says it. */
export function typeMemberOf(lines: readonly string[]): string {
  return lines.map((line) => SORT_MEMBERS.exec(line)?.[1]).find((name) => name !== undefined) ?? 'type';
}

/** Returns what a change is, in a few words. */
export function titleOf(change: Alteration): string {
  switch (change.kind) {
    case 'key':
      return 'another partition key';
    case 'composite':
      return 'a composite index';
    case 'include':
      return 'more in the index';
    case 'exclude':
      return 'less in the index';
    case 'embed':
      return 'copies of what items refer to';
    case 'count':
      return 'a count that is kept';
    case 'copy':
      return 'copies under another key';
    case 'newest':
      return 'a list of the newest';
  }
}

/** Returns the steps of a change. */
export function recipeOf(change: Alteration, known: Known): Step[] {
  const place = placeOf(change.container, known.database);
  switch (change.kind) {
    case 'key':
      return otherKey(place, change.paths, known);
    case 'composite': {
      const paths = change.paths.map(({ path, order }) => ({ path, order: order ?? ('ascending' as const) }));
      const link = { text: 'Open the settings with it', href: settingsLink(place.database, place.container, { kind: 'composite', paths }) };
      return [{ text: `Put the index into the policy of ${place.container}. Items are indexed anew in the background.`, link }];
    }
    case 'include':
      return change.paths.map((path) => ({
        text: `Include ${path} in the index of ${place.container}. Items are indexed anew in the background.`,
        link: { text: 'Open the settings with it', href: settingsLink(place.database, place.container, { kind: 'path', path }) },
      }));
    case 'exclude':
      return [
        {
          text: `Add the paths to excludedPaths in the settings of ${place.container}. They can be put back at any time.`,
          code: { name: 'Elements of excludedPaths', text: JSON.stringify(change.paths.map((path) => ({ path })), null, 2) },
          link: { text: 'Open the settings', href: view(place, 'settings') },
        },
      ];
    case 'embed':
      return embedding(place, change, known);
    case 'count':
      return counting(place, change, known);
    case 'copy':
      return copying(place, change, known);
    case 'newest':
      return newestOf(place, change, known);
  }
}

function view({ database, container }: Place, name: 'settings' | 'scripts'): string {
  return href({ kind: 'container', database, container, view: name, rest: [] });
}

const last = (path: string) => names(path).at(-1) ?? '';

function otherKey(place: Place, paths: readonly string[], known: Known): Step[] {
  const target = { database: place.database, container: `${place.container}-by-${plain(...paths.map(last)) || 'key'}` };
  return [
    newContainer(
      target,
      `A partition key is for ever, so it is a new container. The import below makes ${target.container} with the key ${paths.join(', ')}; ` +
        'make it by hand first if it is to have an indexing policy, unique keys or a time to live.',
    ),
    {
      text:
        'Everything, and then what changed meanwhile, as often as it takes. The first round begins at the beginning, each further one ' +
        'where the last one ended. jq before 1.7 rounds integers of more than 15 digits.',
      code: { name: 'One round', text: round(place, target, paths, 'del(._lsn)', known) },
    },
    {
      text: 'When a round takes seconds, stop the writers, make one more, and compare: both lines are the same.',
      code: {
        name: 'Compare',
        text: [environment(known), ...[place, target].map((one) => `${exported(one)} | LC_ALL=C sort | sha256sum`)].join('\n'),
      },
    },
    {
      text:
        `Let readers and writers begin again at ${target.container}, and delete ${place.container} when nothing asks it any more. ` +
        'Deletes do not come by this feed: keep a list of them meanwhile, or mark items instead.',
    },
  ];
}

function copying(place: Place, change: Extract<Alteration, { kind: 'copy' }>, known: Known): Step[] {
  const target = { database: place.database, container: `${place.container}-by-${plain(last(change.key)) || 'key'}` };
  const sort = change.sort === null ? 'items' : `'${change.sort}' items`;
  return [
    newContainer(
      target,
      `The copies lie in ${target.container} with the key ${change.key}, which the worker makes if it is not there. ` +
        `A container that is there already and has that key will do: put its name in.`,
    ),
    {
      text:
        `A worker on the change feed of ${place.container} writes the copies, old ones and new ones alike. Run this once a minute; for ` +
        'copies that follow at once, take the change feed processor of an SDK. The position is kept only after the copies are ' +
        `acknowledged, so nothing is left out.${typeNote(change.sort, known)}`,
      code: { name: 'The worker', text: round(place, target, [change.key], copyFilter(change.sort, change.shortened, known), known) },
    },
    {
      text: `Let the query ask ${target.container}, with the value of ${change.key} as the partition key. The copies are late by as much as the worker.`,
    },
    {
      text: `Deletes do not come by this feed: mark ${sort} instead, or follow all versions and deletes.`,
      link: { text: 'What the change feed keeps', href: view(place, 'settings') },
    },
  ];
}

function newestOf(place: Place, change: Extract<Alteration, { kind: 'newest' }>, known: Known): Step[] {
  const target = { database: place.database, container: `${place.container}-newest` };
  const key = `/${known.typeMember}`;
  const stem = stemOf(target);
  const by = (item: string) => memberPath(item, change.order);
  const client = (one: Place) => `account.get_database_client(${literal(one.database)}).get_container_client(${literal(one.container)})`;
  const python = (path: string) => names(path).map((name) => `[${literal(name)}]`).join('');
  return [
    newContainer(target, `The ${change.count} lie in ${target.container} with the key ${key}: one logical partition.`),
    {
      text: `A post-trigger takes away what is beyond ${change.count}. Create it in ${target.container}, for all operations, as keepNewest.`,
      code: {
        name: 'keepNewest.js',
        text: `function keepNewest() {
  const max = ${change.count};
  const collection = getContext().getCollection();
  const written = getContext().getResponse().getBody();
  const query = ${literal(`SELECT * FROM c ORDER BY ${memberPath('c', change.order)} DESC`)};
  // The query does not see the item just written.
  collection.queryDocuments(collection.getSelfLink(), query, { pageSize: 2 * max }, (error, items) => {
    if (error) throw error;
    const all = items.filter((item) => item.id !== written.id).concat([written]);
    all.sort((a, b) => (${by('a')} < ${by('b')} ? 1 : -1));
    all.slice(max).forEach((item) => collection.deleteDocument(item._self));
  });
}`,
      },
    },
    {
      text:
        `A worker on the change feed of ${place.container} writes the copies and names the trigger. Run it again and again; the position is ` +
        `kept after the copies.${typeNote(change.sort, known)}`,
      code: {
        name: 'worker.py',
        text: [
          'import os',
          'from azure.cosmos import CosmosClient',
          '',
          `account = CosmosClient(${literal(known.endpoint)}, os.environ["ARMILLA_KEY"])`,
          `originals = ${client(place)}`,
          `newest = ${client(target)}`,
          `kept = ${literal(`${stem}.position`)}`,
          'start = {"continuation": open(kept).read()} if os.path.exists(kept) else {"start_time": "Beginning"}',
          'for item in originals.query_items_change_feed(**start):',
          `    if item.get(${literal(known.typeMember)}) == ${literal(change.sort)}:`,
          ...change.shortened.map(({ path, characters }) => `        item${python(path)} = item${python(path)}[:${characters}]`),
          '        newest.upsert_item(item, post_trigger_include="keepNewest")',
          'with open(kept, "w") as file:',
          '    file.write(originals.client_connection.last_response_headers["etag"])',
        ].join('\n'),
      },
    },
    { text: `Let the query ask ${target.container}, with ${literal(change.sort)} as the partition key. It stays as it is otherwise.` },
  ];
}

function embedding(place: Place, change: Extract<Alteration, { kind: 'embed' }>, known: Known): Step[] {
  const source = placeOf(change.source, known.database);
  const copies = change.members.map((member) => ({ member, name: copiedName(change.reference, member) }));
  const list = copies.map((one) => one.name).join(', ');
  const stem = stemOf(place);
  const sourceFile = `${stem}.source.jsonl`;
  const filled = copies.map(({ member, name }) => `${literal(name)}: $found${jqPath(member)}`).join(', ');
  const filter =
    `($source | INDEX(.id)) as $by | inputs | ${ofSort(change.sort, known)}$by[${jqPath(change.reference)} | tostring] as $found | ` +
    `select($found != null) | . + ({${filled}} | with_entries(select(.value != null)))`;
  const differs = copies.map(({ name }, at) => `NOT IS_DEFINED(${memberPath('c', name)}) OR ${memberPath('c', name)} != @copy${at}`).join(' OR ');
  const isSort = change.sort === null ? '' : ` AND ${memberPath('c', known.typeMember)} = ${literal(change.sort)}`;
  const query = `SELECT * FROM c WHERE ${memberPath('c', change.reference)} = @id${isSort} AND (${differs})`;
  const parameters = copies.map(({ name }, at) => `{ name: "@copy${at}", value: ${memberPath('copies', name)} }`).join(', ');
  return [
    { text: `Readers first: they take ${list} where it is there, and read ${source.container} where it is not. Then writers put it into what they write.` },
    {
      text:
        `Then the items that are there. An import writes whole items, so let nothing else write to ${place.container} meanwhile. Only ` +
        `items that find theirs in ${source.container} are written.${typeNote(change.sort, known)}`,
      code: {
        name: 'Fill in',
        text: [
          environment(known),
          `${exported(source)} ${sourceFile} &&`,
          `  ${exported(place)} ${stem}.jsonl &&`,
          `  jq -nc --slurpfile source ${sourceFile} ${word(filter)} ${stem}.jsonl > ${stem}.shaped.jsonl &&`,
          `  ${imported(place)} ${stem}.shaped.jsonl`,
        ].join('\n'),
      },
    },
    {
      text:
        `A worker on the change feed of ${source.container} puts the copies right when the original changes: it asks which logical ` +
        'partitions have some, and calls this procedure for each, again while it answers that there is more.',
      code: {
        name: 'updateCopies.js',
        text: `function updateCopies(id, copies) {
  const collection = getContext().getCollection();
  const found = {
    query: ${literal(query)},
    parameters: [{ name: "@id", value: id }, ${parameters}],
  };
  let changed = 0;
  const isAccepted = collection.queryDocuments(collection.getSelfLink(), found, { pageSize: 100 }, (error, items) => {
    if (error) throw error;
    for (const item of items) {
      Object.assign(item, copies);
      const isAccepted = collection.replaceDocument(item._self, item, (error) => {
        if (error) throw error;
      });
      if (!isAccepted) return answer(true);
      changed += 1;
    }
    answer(items.length === 100);
  });
  if (!isAccepted) answer(true);

  function answer(more) {
    getContext().getResponse().setBody({ changed, more });
  }
}`,
      },
      link: { text: `Scripts of ${place.container}`, href: view(place, 'scripts') },
    },
    { text: 'When all items have it, readers stop reading the other container.' },
  ];
}

function counting(place: Place, change: Extract<Alteration, { kind: 'count' }>, known: Known): Step[] {
  const { sort, member, counted } = change;
  const name = camel('create', counted);
  const host = memberPath('host', member);
  const stem = stemOf(place);
  const definition = known.definitions.get(`${place.database}/${place.container}`);
  const key = `([${definition ? keyPaths(definition).map(jqPath).join(', ') : ''}] | tojson)`;
  const type = jqPath(known.typeMember);
  const fill = [
    environment(known),
    `${exported(place)} ${stem}.jsonl &&`,
    `  jq -nc ${word(`reduce (inputs | select(${type} == ${literal(counted)}) | ${key}) as $key ({}; .[$key] += 1)`)} ${stem}.jsonl > ${stem}.counts.json &&`,
    `  jq -c --slurpfile counts ${stem}.counts.json ${word(`select(${type} == ${literal(sort)}) | ${jqPath(member)} = ($counts[0][${key}] // 0)`)} ${stem}.jsonl > ${stem}.shaped.jsonl &&`,
    `  ${imported(place)} ${stem}.shaped.jsonl`,
  ].join('\n');
  return [
    {
      text:
        `A procedure adds a '${counted}' item and counts it in one transaction, under the partition key that both have. Where there is no ` +
        `count yet, it counts what is there.${typeNote(sort, known)}`,
      code: {
        name: `${name}.js`,
        text: `function ${name}(hostId, item) {
  const collection = getContext().getCollection();
  collection.readDocument(collection.getAltLink() + "/docs/" + hostId, (error, host) => {
    if (error) throw error;
    if (typeof ${host} === "number") return keep(host, ${host} + 1);
    const counted = {
      query: ${literal(`SELECT VALUE COUNT(1) FROM c WHERE ${memberPath('c', known.typeMember)} = @sort`)},
      parameters: [{ name: "@sort", value: ${literal(counted)} }],
    };
    collection.queryDocuments(collection.getSelfLink(), counted, (error, counts) => {
      if (error) throw error;
      keep(host, counts[0] + 1);
    });
  });

  function keep(host, count) {
    ${host} = count;
    collection.replaceDocument(host._self, host, (error) => {
      if (error) throw error;
      collection.createDocument(collection.getSelfLink(), item, (error) => {
        if (error) throw error;
      });
    });
  }
}`,
      },
      link: { text: `Scripts of ${place.container}`, href: view(place, 'scripts') },
    },
    { text: `Let writers call it in place of a create, with the key of the '${sort}' item; and in the same way for what is deleted. What is created past it is not counted.` },
    // Items are counted by their partition key: without it there is nothing to count by.
    ...(definition
      ? [
          {
            text: `Then every '${sort}' item gets its count. An import writes whole items, so let nothing else write to ${place.container} meanwhile.`,
            code: { name: 'Fill in', text: fill },
          },
        ]
      : []),
    { text: `When all have it, readers take ${member} from the item and count no more.` },
  ];
}

function newContainer({ database }: Place, text: string): Step {
  return { text, link: { text: `New container in ${database}`, href: href({ kind: 'new-container', database }) } };
}

function typeNote(sort: string | null, known: Known): string {
  return sort === null ? '' : ` Here it is the member '${known.typeMember}' that says what an item is.`;
}

function ofSort(sort: string | null, known: Known): string {
  return sort === null ? '' : `select(${jqPath(known.typeMember)} == ${literal(sort)}) | `;
}

function copyFilter(sort: string | null, shortened: readonly Shortened[], known: Known): string {
  const cuts = shortened.map(({ path, characters }) => ` | (${jqPath(path)} | strings) |= .[:${characters}]`).join('');
  return `${ofSort(sort, known)}del(._lsn)${cuts}`;
}

/** Files are called after the container, without what a shell would take for more. */
function stemOf({ container }: Place): string {
  return plain(container) || 'items';
}

function environment(known: Known): string {
  return `export ARMILLA_ENDPOINT=${word(known.endpoint)}`;
}

function exported({ database, container }: Place): string {
  return `armilla export --database ${word(database)} --container ${word(container)}`;
}

function imported({ database, container }: Place): string {
  return `armilla import --database ${word(database)} --container ${word(container)}`;
}

/** What has changed since the last round goes into another container: a position is kept once all of it was imported. */
function round(from: Place, to: Place, paths: readonly string[], filter: string, known: Known): string {
  const stem = stemOf(to);
  const create = paths.map((path) => ` --create ${word(path)}`).join('');
  return [
    environment(known),
    `if [ -e ${stem}.position ]; then cp ${stem}.position ${stem}.next; else rm -f ${stem}.next; fi`,
    `armilla feed ${word(from.database)} ${word(from.container)} --once --state ${stem}.next > ${stem}.part.jsonl &&`,
    `  jq -c ${word(filter)} ${stem}.part.jsonl > ${stem}.jsonl &&`,
    `  ${imported(to)}${create} ${stem}.jsonl &&`,
    `  mv ${stem}.next ${stem}.position`,
  ].join('\n');
}
