// Clients that read, write and query without a pause, each checking every answer against what it wrote itself.
//
// A worker owns its items: their `owner` is its name, and nobody else touches them. So it knows at any moment what a
// read, a query over all partitions or a count must answer, whatever happens to the physical partitions meanwhile.
// The Python suite has the same in load.py, and the same queries of `still` items, which nobody changes.

import assert from "node:assert/strict";

import { withoutSystemProperties } from "./fixture.mjs";

const CITIES_PER_WORKER = 12;
const ITEMS_PER_WORKER_MAX = 150;
const PAGE_ITEMS = 40;

const PAUSED_QUERIES = {
  plain: "SELECT VALUE c.n FROM c WHERE c.owner = 'still'",
  order: "SELECT VALUE c.n FROM c WHERE c.owner = 'still' ORDER BY c.n DESC",
  "order by text": "SELECT VALUE c.n FROM c WHERE c.owner = 'still' ORDER BY c.city",
  top: "SELECT TOP 150 VALUE c.n FROM c WHERE c.owner = 'still' ORDER BY c.n",
  offset: "SELECT VALUE c.n FROM c WHERE c.owner = 'still' ORDER BY c.n OFFSET 35 LIMIT 120",
};

const WEIGHTS = {
  create: 6,
  read: 8,
  readDeleted: 1,
  replace: 4,
  upsert: 3,
  patch: 3,
  delete: 2,
  batch: 2,
  bulk: 1,
  queryCity: 2,
  queryAll: 1,
  count: 1,
};
const BAG = Object.entries(WEIGHTS).flatMap(([name, weight]) => Array(weight).fill(name));

/** Names an item inside its container. */
export const keyOf = ({ city, id }) => `${city}/${id}`;

/** A small generator of pseudo-random numbers, so that a run can be repeated. */
function generator(seed) {
  let state = [...seed].reduce((sum, letter) => Math.imul(sum ^ letter.codePointAt(0), 16_777_619), 2_166_136_261);
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** One client with the items it owns. */
export class Worker {
  #random;
  #made = 0;
  #deleted = [];

  constructor(container, name) {
    this.container = container;
    this.name = name;
    this.items = new Map();
    this.done = 0;
    this.#random = generator(name);
  }

  /** Works until told to stop. */
  async run(signal) {
    while (!signal.aborted) await this.step();
  }

  /** Does one thing and checks the answer. */
  async step() {
    let action = BAG[this.#random(BAG.length)];
    if (this.items.size === 0) action = "create";
    else if (this.items.size >= ITEMS_PER_WORKER_MAX && action === "create") action = "delete";
    await this[action]();
    this.done += 1;
  }

  /** Reads every item by its key, and every deleted one that must not come back. */
  async checkOneByOne() {
    for (const item of this.items.values()) await this.#checkRead(item);
    for (const item of this.#deleted) if (!this.items.has(keyOf(item))) await this.#checkMissing(item);
  }

  #fresh() {
    this.#made += 1;
    return {
      id: `item ${this.#made}`,
      city: `${this.name} city ${this.#random(CITIES_PER_WORKER)}`,
      owner: this.name,
      n: this.#made * 1000,
      text: "x".repeat(this.#random(400)),
    };
  }

  #any() {
    return [...this.items.values()][this.#random(this.items.size)];
  }

  #keep(answered, item) {
    assert.deepEqual(withoutSystemProperties(answered), item, this.name);
    this.items.set(keyOf(item), item);
  }

  async #checkRead(item) {
    const { resource, statusCode } = await this.container.item(item.id, item.city).read();
    assert.equal(statusCode, 200, `${this.name}: ${keyOf(item)}`);
    assert.deepEqual(withoutSystemProperties(resource), item, this.name);
  }

  async #checkMissing(item) {
    const { resource, statusCode, substatus } = await this.container.item(item.id, item.city).read();
    assert.deepEqual([resource, statusCode, substatus ?? 0], [undefined, 404, 0], `${this.name}: ${keyOf(item)}`);
  }

  async create() {
    const item = this.#fresh();
    this.#keep((await this.container.items.create(item)).resource, item);
  }

  async read() {
    await this.#checkRead(this.#any());
  }

  async readDeleted() {
    for (const item of this.#deleted.slice(-1)) await this.#checkMissing(item);
  }

  async replace() {
    const item = this.#any();
    const changed = { ...item, n: item.n + 1 };
    this.#keep((await this.container.item(item.id, item.city).replace(changed)).resource, changed);
  }

  async upsert() {
    const item = this.#any();
    const changed = { ...item, n: item.n + 1, text: "y".repeat(this.#random(200)) };
    this.#keep((await this.container.items.upsert(changed)).resource, changed);
  }

  async patch() {
    const item = this.#any();
    const { resource } = await this.container.item(item.id, item.city).patch([{ op: "incr", path: "/n", value: 1 }]);
    this.#keep(resource, { ...item, n: item.n + 1 });
  }

  async delete() {
    const item = this.#any();
    await this.container.item(item.id, item.city).delete();
    this.items.delete(keyOf(item));
    this.#deleted.push(item);
  }

  async batch() {
    const item = this.#any();
    const changed = { ...item, n: item.n + 1 };
    const made = { ...this.#fresh(), city: item.city };
    const { code, result } = await this.container.items.batch(
      [
        { operationType: "Create", resourceBody: made },
        { operationType: "Replace", id: item.id, resourceBody: changed },
        { operationType: "Read", id: made.id },
      ],
      item.city,
    );
    assert.equal(code, 200, JSON.stringify(result));
    this.#keep(result[0].resourceBody, made);
    this.#keep(result[1].resourceBody, changed);
    assert.deepEqual(withoutSystemProperties(result[2].resourceBody), made, this.name);
  }

  // Names range ids, so it is the one that meets 410 when a range is gone.
  async bulk() {
    const made = [this.#fresh(), this.#fresh(), this.#fresh()];
    const operations = made.map((resourceBody) => ({
      operationType: "Create",
      partitionKey: resourceBody.city,
      resourceBody,
    }));
    const results = await this.container.items.executeBulkOperations(operations);
    for (const [n, item] of made.entries()) {
      assert.equal(results[n].error, undefined, `${this.name}: ${results[n].error?.message}`);
      this.#keep(results[n].response.resourceBody, item);
    }
  }

  async queryCity() {
    const { city } = this.#any();
    const { resources } = await this.container.items.query("SELECT * FROM c", { partitionKey: city }).fetchAll();
    const wanted = [...this.items.values()].filter((item) => item.city === city);
    const byId = (a, b) => (a.id < b.id ? -1 : 1);
    assert.deepEqual(resources.map(withoutSystemProperties).toSorted(byId), wanted.toSorted(byId), this.name);
  }

  async queryAll() {
    const query = {
      query: "SELECT c.city, c.id, c.n FROM c WHERE c.owner = @me ORDER BY c.n",
      parameters: [{ name: "@me", value: this.name }],
    };
    const { resources } = await this.container.items.query(query, { maxItemCount: PAGE_ITEMS }).fetchAll();
    const wanted = [...this.items.values()].map(({ city, id, n }) => ({ city, id, n }));
    assert.deepEqual(resources, wanted.toSorted((a, b) => a.n - b.n), this.name);
  }

  async count() {
    const query = {
      query: "SELECT VALUE COUNT(1) FROM c WHERE c.owner = @me",
      parameters: [{ name: "@me", value: this.name }],
    };
    const { resources } = await this.container.items.query(query).fetchAll();
    assert.deepEqual(resources, [this.items.size], this.name);
  }
}

/** Runs workers at the same time; `stop` lets them finish and throws what failed. */
export function startCrowd(workers) {
  const controller = new AbortController();
  const running = workers.map((worker) =>
    worker.run(controller.signal).catch((error) => {
      controller.abort();
      throw error;
    }),
  );
  // Failures are thrown by `stop`; until then nobody waits for them.
  for (const one of running) one.catch(() => {});
  return {
    workers,
    failed: () => controller.signal.aborted,
    stop: async () => {
      controller.abort();
      await Promise.all(running);
    },
  };
}

/** Creates items that nobody changes. */
export async function makeStill(container, count) {
  const operations = Array.from({ length: count }, (_, n) => {
    const city = `still ${n % 60}`;
    return {
      operationType: "Create",
      partitionKey: city,
      resourceBody: { id: String(n), city, owner: "still", n, text: "z".repeat(n % 300) },
    };
  });
  const results = await container.items.executeBulkOperations(operations);
  assert.deepEqual([...new Set(results.map(({ response }) => response?.statusCode))], [201]);
  return operations.map(({ resourceBody }) => resourceBody);
}

/** Reads the first page of some queries; the function it returns reads the rest and checks the whole. */
export async function pauseQueries(container) {
  const options = { maxItemCount: PAGE_ITEMS };
  const pages = new Map();
  for (const [title, query] of Object.entries(PAUSED_QUERIES)) {
    const { resources, continuationToken } = await container.items.query(query, options).fetchNext();
    assert.ok(resources.length > 0 && continuationToken, title);
    pages.set(title, { resources, continuationToken });
  }
  return async (other) => {
    for (const [title, query] of Object.entries(PAUSED_QUERIES)) {
      const { resources: first, continuationToken } = pages.get(title);
      const { resources: rest } = await other.items.query(query, { ...options, continuationToken }).fetchAll();
      const { resources: whole } = await other.items.query(query, options).fetchAll();
      const order = (rows) => (title === "plain" ? rows.toSorted((a, b) => a - b) : rows);
      assert.ok(rest.length > 0, title);
      assert.deepEqual(order([...first, ...rest]), order(whole), title);
    }
  };
}
