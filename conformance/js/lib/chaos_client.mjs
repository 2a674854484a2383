// Clients with the JavaScript SDK for the Python suite's `cluster_chaos.py`: they read and write a few items through any
// node, and record everything; and probes, which ask every physical partition on and on, so that it is seen when it
// does not serve.
//
//     node chaos_client.mjs CONFIG.json
//
// What it says and may be told is in the Python suite's `cluster_clients.py`. Probes keep away from nodes that it is told
// to avoid (`avoid 0,2`; `avoid` alone for none). A write whose first attempt may have arrived is not sent again.

import { AsyncLocalStorage } from "node:async_hooks";
import { createWriteStream, readFileSync } from "node:fs";
import { Agent } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import { ChangeFeedStartFrom, CosmosClient } from "@azure/cosmos";
import { createDefaultHttpClient } from "@azure/core-rest-pipeline";

import { ALL, drain, open } from "./feed.mjs";
import { KEY } from "./server.mjs";

const FEED_PAUSE_MS = 400;
const FEED_END_MS_MAX = 60_000;
const PROBES_OPEN_MAX = 60;

// How often a client goes to another node although it has no reason to.
const WANDERS = 0.01;

// Answers that say that nothing was done.
const DEFINITE = new Set([304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 423, 424, 429, 449, 503]);

const WEIGHTS = {
  register: { read: 45, upsert: 15, replace: 10, cas: 30 },
  passing: { read: 30, create: 25, delete: 25, upsert: 10, replace: 10 },
  counter: { read: 25, increment: 65, run: 10 },
};
const PROCEDURE = "raise";

const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
const now = () => Number(process.hrtime.bigint());
const attempts = new AsyncLocalStorage();

class Repeated extends Error {}

/** Sends what changes something again only where the first answer was that nothing was done. */
class Once {
  #inner = createDefaultHttpClient();

  async sendRequest(request) {
    const attempt = attempts.getStore();
    if (attempt === undefined || request.method === "GET") return this.#inner.sendRequest(request);
    if (attempt.isOpen) throw new Repeated(`${request.method} again`);
    attempt.isOpen = true;
    try {
      const response = await this.#inner.sendRequest(request);
      attempt.isOpen = !DEFINITE.has(response.status);
      return response;
    } catch (error) {
      if (error.code === "ECONNREFUSED") attempt.isOpen = false;
      throw error;
    }
  }
}

/** A small generator of pseudo-random numbers, so that choices follow from the seed. */
function generator(seed) {
  let state = [...seed].reduce((sum, letter) => Math.imul(sum ^ letter.codePointAt(0), 16_777_619), 2_166_136_261);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A file of JSON lines. */
class Recorder {
  constructor(kind) {
    this.lines = createWriteStream(join(config.folder, `${kind}-${config.name}.jsonl`));
  }

  add(record) {
    const told = Object.entries(record).filter(([, value]) => value !== undefined && value !== null);
    this.lines.write(`${JSON.stringify(Object.fromEntries(told))}\n`);
  }

  end() {
    return new Promise((resolve) => this.lines.end(resolve));
  }
}

const agent = new Agent({ ca: readFileSync(config.certificate), keepAlive: true });

/** Returns the container through each of the nodes, for clients of a patience. */
function containers(requestTimeout) {
  return config.endpoints.map((endpoint) => {
    const client = new CosmosClient({
      endpoint,
      key: KEY,
      agent,
      httpClient: new Once(),
      connectionPolicy: {
        enableEndpointDiscovery: false,
        requestTimeout,
        retryOptions: { maxRetryAttemptCount: 0, fixedRetryIntervalInMilliseconds: 0, maxWaitTimeInSeconds: 0 },
      },
    });
    return client.database(config.database).container(config.container);
  });
}

const patient = config.read_seconds.map((seconds) => containers(seconds * 1_000));
const operations = new Recorder("operations");
let isStopped = false;

/** Does one thing through one node and records it; returns whether the node is worth staying with. */
async function one(container, record, item, etag) {
  const attempt = { isOpen: false };
  record.invoked = now();
  let isFine = true;
  try {
    await attempts.run(attempt, () => work(container, record, item, etag));
    record.outcome = "ok";
  } catch (error) {
    const status = typeof error.code === "number" ? error.code : 0;
    record.status = status;
    record.sub_status = error.substatus ?? 0;
    record.error = String(error.message ?? error).slice(0, 300);
    if (status > 0) record.outcome = DEFINITE.has(status) ? "failed" : "unknown";
    else record.outcome = attempt.isOpen ? "unknown" : "failed";
    isFine = record.outcome === "failed" && status > 0 && status !== 503;
  }
  record.returned = now();
  operations.add(record);
  return isFine;
}

async function work(container, record, { pk, id }, etag) {
  const { kind, value } = record;
  const body = { id, pk, v: value };
  let answer;
  if (kind === "read") {
    answer = await container.item(id, pk).read();
    record.status = answer.statusCode;
    if (answer.statusCode === 404) {
      if (answer.substatus) throw Object.assign(new Error("not found"), { code: 404, substatus: answer.substatus });
      record.seen = undefined;
      return;
    }
    record.seen = answer.resource.v;
    record.count = answer.resource.n;
    record.etag = answer.resource._etag;
    return;
  }
  if (kind === "upsert") answer = await container.items.upsert(body);
  else if (kind === "replace") answer = await container.item(id, pk).replace(body);
  else if (kind === "cas") {
    const accessCondition = { type: "IfMatch", condition: etag };
    answer = await container.item(id, pk).replace(body, { accessCondition });
  } else if (kind === "create") answer = await container.items.create(body);
  else if (kind === "delete") answer = await container.item(id, pk).delete();
  else if (kind === "increment") {
    const changes = [
      { op: "incr", path: "/n", value: 1 },
      { op: "set", path: "/v", value },
    ];
    answer = await container.item(id, pk).patch(changes);
    record.count = answer.resource.n;
  } else {
    answer = await container.scripts.storedProcedure(PROCEDURE).execute(pk, [id, value]);
    record.count = answer.resource.n;
    record.etag = answer.resource.etag;
  }
  record.status = answer.statusCode ?? 200;
  const token = answer.headers["x-ms-session-token"];
  if (token) record.lsn = Number(token.split(":")[1].split("#")[1]);
  record.etag ??= answer.resource?._etag;
}

/** One client: does one thing after the other, at one node. */
async function client(number) {
  const name = `${config.name}-${number}`;
  const random = generator(`${config.seed} ${name}`);
  const below = (bound) => Math.floor(random() * bound);
  const mine = patient[number % patient.length];
  const seen = new Map();
  let node = below(mine.length);
  for (let count = 1; !isStopped; count += 1) {
    await sleep(random() * 2 * config.pause_ms);
    const move = () => (node = (node + 1 + below(mine.length - 1)) % mine.length);
    if (random() < WANDERS) move();
    const item = config.items[below(config.items.length)];
    const bag = Object.entries(WEIGHTS[item.kind]).flatMap(([kind, weight]) => Array(weight).fill(kind));
    let kind = bag[below(bag.length)];
    const key = `${item.pk}/${item.id}`;
    const last = seen.get(key);
    if (kind === "cas" && last === undefined) kind = "read";
    const record = { client: name, item: key, kind, node };
    if (kind !== "read" && kind !== "delete") record.value = `${name}:${count}`;
    if (kind === "cas") record.expected = last.value;
    const isFine = await one(mine[node], record, item, last?.etag);
    const state = kind === "read" ? record.seen : record.value;
    if (record.outcome === "ok" && state !== undefined) seen.set(key, { value: state, etag: record.etag });
    else if (record.outcome === "ok") seen.delete(key);
    if (!isFine) move();
  }
}

let avoided = new Set();

/** Asks one physical partition on and on, whether it has answered before or not. */
async function probe({ pk, id }, number) {
  let turn = number;
  let open = 0;
  let isWriting = false;
  const all = new Set();
  await sleep((config.probe_ms * number) / config.probes.length);
  for (let count = 1; !isStopped; count += 1) {
    await sleep(config.probe_ms);
    const nodes = config.endpoints.map((_, node) => node).filter((node) => !avoided.has(node));
    if (open >= PROBES_OPEN_MAX || nodes.length === 0) continue;
    turn += 1;
    const node = nodes[turn % nodes.length];
    // Only one write at a time: of many, all orders would have to be looked at.
    const kind = isWriting || count % 2 === 0 ? "read" : "upsert";
    const name = `probe-${number}`;
    const record = { client: name, item: `${pk}/${id}`, kind, node };
    if (kind === "upsert") {
      record.value = `${name}:${count}`;
      isWriting = true;
    }
    open += 1;
    const done = one(patient.at(-1)[node], record, { pk, id }).finally(() => {
      open -= 1;
      all.delete(done);
      if (kind === "upsert") isWriting = false;
    });
    all.add(done);
  }
  await Promise.all(all);
}

/** Reads the change feed again and again, from where it was, at any node. */
class FeedReader {
  #random = generator(`${config.seed} ${config.name} feed`);
  #versions = new Recorder("feed");
  #token;
  #isEnding = false;
  failures = 0;
  wrong = null;

  async begin() {
    if ((await this.#read()) !== 0) this.wrong = "there were changes before there was a client";
    this.running = undefined;
  }

  start() {
    this.running = this.#run();
  }

  async #read() {
    const container = patient[0][Math.floor(this.#random() * config.endpoints.length)];
    const { Continuation, Now } = ChangeFeedStartFrom;
    const start = this.#token === undefined ? Now() : Continuation(this.#token);
    const { changes, token } = await drain(open(container, start, ALL));
    this.#token = token;
    for (const { metadata, current } of changes) {
      const { operationType: kind, lsn, previousImageLSN } = metadata;
      const of = { lsn, kind, previous_lsn: previousImageLSN || undefined };
      if (kind === "delete") this.#versions.add({ item: `${metadata.partitionKey.pk}/${metadata.id}`, ...of });
      else {
        const { pk, id, v: value, n: count, _etag: etag } = current;
        this.#versions.add({ item: `${pk}/${id}`, ...of, value, count, etag });
      }
    }
    return changes.length;
  }

  async #try() {
    try {
      return await this.#read();
    } catch (error) {
      if (error.code === 400) this.wrong = `the feed refuses a position: ${error.message}`;
      this.failures += 1;
      return -1;
    }
  }

  async #run() {
    while (!this.#isEnding) {
      await sleep(FEED_PAUSE_MS);
      await this.#try();
    }
    const deadline = Date.now() + FEED_END_MS_MAX;
    while ((await this.#try()) !== 0) {
      if (Date.now() > deadline) {
        this.wrong = "the feed does not come to an end";
        return;
      }
    }
  }

  async end() {
    this.#isEnding = true;
    await this.running;
    await this.#versions.end();
  }
}

const reader = new FeedReader();
await reader.begin();
const clients = [];
console.log(`ready ${process.hrtime.bigint()}`);
for await (const line of createInterface({ input: process.stdin })) {
  const [word, argument] = line.split(" ");
  if (word === "go") {
    reader.start();
    for (let number = 0; number < config.clients; number += 1) clients.push(client(number));
    for (const [number, item] of config.probes.entries()) clients.push(probe(item, number));
  } else if (word === "avoid") {
    avoided = new Set(argument ? argument.split(",").map(Number) : []);
  } else if (word === "stop") {
    isStopped = true;
    await Promise.all(clients);
    await operations.end();
    console.log("stopped []");
  } else if (word === "end") {
    await reader.end();
    console.log(`ended ${JSON.stringify({ failures: reader.failures, wrong: reader.wrong })}`);
    break;
  }
}
agent.destroy();
process.exit(0);
