// Items of every type on four physical partitions, and a second reading of the query language to compare with.

import { fresh } from "./fixture.mjs";

// 40 keys, enough for every one of four physical partitions.
export const DEVICE_COUNT = 40;
export const ITEM_COUNT = 240;

const WIDE_THROUGHPUT = 40_000;
const WORDS = ["apple", "Apricot", "banana", "cherry", "cherry pie", "date", "Elder", "fig"];
const MIXED = [undefined, null, false, true, -7.25, 0, 3, "", "B", "a", "zebra", "é", [1, 2], { k: 1 }];

/** Returns the items, in the order in which they are created. */
export function items() {
  return Array.from({ length: ITEM_COUNT }, (_, n) => {
    const mixed = MIXED[n % MIXED.length];
    return {
      id: `item ${n}`,
      device: `device ${n % DEVICE_COUNT}`,
      n,
      half: n / 2,
      band: n % 7,
      word: WORDS[n % WORDS.length],
      nested: { x: n % 5 },
      tags: Array.from({ length: n % 4 }, (_, k) => `tag ${k}`),
      ...(mixed === undefined ? {} : { mixed }),
    };
  });
}

/** Makes a container of four physical partitions and creates the items in it. */
export async function fill(database) {
  const { container } = await database.containers.create({
    id: fresh("queries"),
    partitionKey: { paths: ["/device"], kind: "Hash", version: 2 },
    throughput: WIDE_THROUGHPUT,
    indexingPolicy: {
      indexingMode: "consistent",
      includedPaths: [{ path: "/*" }],
      excludedPaths: [{ path: '/"_etag"/?' }],
      compositeIndexes: [
        [
          { path: "/band", order: "ascending" },
          { path: "/n", order: "descending" },
        ],
      ],
    },
  });
  for (const item of items()) await container.items.create(item);
  return container;
}

/** Returns all rows of a query. */
export async function run(container, query, options = {}) {
  return (await container.items.query(query, options).fetchAll()).resources;
}

/** Returns the rows of every page that had some, and what all pages cost. */
export async function readPages(container, query, options) {
  const iterator = container.items.query(query, options);
  const pages = [];
  let charge = 0;
  while (iterator.hasMoreResults()) {
    const page = await iterator.fetchNext();
    charge += page.requestCharge ?? 0;
    if (page.resources?.length > 0) pages.push(page.resources);
  }
  return { pages, charge: Math.round(charge * 100) / 100 };
}

/** Returns the place of a value in the order of types. */
export function typeRank(value) {
  if (value === undefined) return 0;
  if (value === null) return 1;
  if (typeof value === "boolean") return value ? 3 : 2;
  if (typeof value === "number") return 4;
  if (typeof value === "string") return 5;
  return Array.isArray(value) ? 6 : 7;
}

/** Compares two values as ORDER BY does; arrays and objects are equal among themselves. */
export function compare(a, b) {
  const rank = typeRank(a);
  if (rank !== typeRank(b)) return rank - typeRank(b);
  if (rank !== 4 && rank !== 5) return 0;
  return a < b ? -1 : a > b ? 1 : 0;
}

export const numbers = (from, to) => Array.from({ length: to - from }, (_, n) => from + n);
export const ascending = (rows) => rows.toSorted((a, b) => a - b);
