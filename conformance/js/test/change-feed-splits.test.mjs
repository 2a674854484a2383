// Change feeds of partitions that split and merge: readers of every kind go on, and so does who follows live.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ChangeFeedStartFrom as From } from "@azure/cosmos";

import { through, useServer } from "../lib/fixture.mjs";
import { ALL, drain, History, KEEPS_ALL, nextSecond, open } from "../lib/feed.mjs";
import { merge, split, until } from "../lib/partitions.mjs";

const context = useServer("--throttle", "off");

const PAGE_ITEMS = 7;
const CITIES = Array.from({ length: 16 }, (_, n) => `city ${n}`);
const CITY = CITIES[5];
const WRITERS = 4;
const WRITES_BETWEEN = 25;
const FOLLOW_POLL_MS = 5;

/** One reader: iterators that live on, and positions that a new client takes up each time. */
class Reader {
  constructor(container, name, starts, { from, city, all = false, resumable = true }) {
    this.container = container;
    this.name = name;
    this.scope = { from, city, all };
    this.resumable = resumable;
    this.options = { maxItemCount: PAGE_ITEMS, ...(all ? ALL : {}) };
    this.live = starts.map((start) => ({ iterator: open(container, start, this.options), seen: [] }));
    this.saved = undefined;
  }

  /** Reads one page, or all there is; the positions behind are what new clients take up. */
  async begin(pages) {
    for (const one of this.live) {
      for (let n = 0; n < pages; n += 1) {
        const page = await one.iterator.readNext();
        one.seen.push(...page.result);
        one.token = page.continuationToken;
        if (page.statusCode === 304) break;
      }
    }
    if (this.resumable) this.saved = this.live.map(({ seen, token }) => ({ seen: [...seen], token }));
    return this;
  }

  /** Reads on in both ways and checks everything seen so far. */
  async check(history, stranger) {
    for (const one of this.live) one.seen.push(...(await drain(one.iterator)).changes);
    this.#compare(history, "going on", this.live);
    if (!this.saved) return;
    for (const one of this.saved) {
      const { changes, token } = await drain(open(stranger, From.Continuation(one.token), this.options));
      one.seen.push(...changes);
      one.token = token;
    }
    this.#compare(history, "taken up", this.saved);
  }

  #compare(history, how, parts) {
    try {
      history.check(parts.flatMap(({ seen }) => seen), this.scope);
    } catch (error) {
      error.message = `${this.name}, ${how}: ${error.message}`;
      throw error;
    }
  }
}

/** Writes to all cities: new items, changed ones, deleted ones. */
async function write(history) {
  const { wave } = history;
  for (const city of CITIES) {
    await history.put(city, `item ${wave}`);
    await history.put(city, "always");
    if (history.has(city, `item ${wave - 2}`)) await history.remove(city, `item ${wave - 2}`);
  }
}

test("readers from every start go on through splits and merges", { timeout: 60_000 }, async (t) => {
  const { server } = context;
  const container = await context.makeContainer(t, { ...KEEPS_ALL, partitionKey: "/city" });
  assert.deepEqual(await split(server, container), ["1", "2"]);
  const ranges = await container.getFeedRanges();
  const scopes = { container: [undefined], key: [CITY], "feed ranges": ranges };
  const readers = [];
  const add = async (name, start, pages, options) => {
    for (const [scope, parts] of Object.entries(scopes)) {
      const city = scope === "key" ? CITY : undefined;
      const reader = new Reader(container, `${name} of ${scope}`, parts.map(start), { city, ...options });
      readers.push(await reader.begin(pages));
    }
  };
  const history = new History(container);

  await add("all versions from now, wave 0", (part) => From.Now(part), Infinity, { from: 0, all: true });
  await write(history);
  const time = await nextSecond();
  history.wave = 1;
  await add("now, wave 1", (part) => From.Now(part), Infinity, { from: 1 });
  await write(history);
  await add("beginning, read to the end", (part) => From.Beginning(part), Infinity, { from: 0 });
  await add("beginning, one page read", (part) => From.Beginning(part), 1, { from: 0 });
  await add("beginning, nothing read", (part) => From.Beginning(part), 0, { from: 0, resumable: false });
  await add("time, read to the end", (part) => From.Time(time, part), Infinity, { from: 1 });
  // A position of this SDK does not say from which time on the ranges are to be read that it has not asked yet.
  await add("time, one page read", (part) => From.Time(time, part), 1, { from: 1, resumable: false });
  await add("all versions from now, wave 2", (part) => From.Now(part), Infinity, { from: 2, all: true });
  for (const reader of readers.slice(0, 3)) for (const { iterator, seen } of reader.live) {
    const page = await iterator.readNext();
    seen.push(...page.result);
  }

  for (const [change, expected] of [
    [() => split(server, container, { range: "1" }), ["3", "4", "2"]],
    [() => merge(server, container, "4", "2"), ["3", "5"]],
    [() => split(server, container, { range: "5" }), ["3", "6", "7"]],
    [() => merge(server, container, "3", "6"), ["8", "7"]],
    [() => merge(server, container, "8", "7"), ["9"]],
  ]) {
    history.wave += 1;
    assert.deepEqual(await change(), expected);
    await write(history);
    const stranger = through(context.connect(), container);
    for (const reader of readers) await reader.check(history, stranger);
    // Who starts only now reads the same.
    const late = new Reader(stranger, `beginning after ${expected}`, [From.Beginning()], { from: 0, resumable: false });
    await late.check(history, stranger);
    const since = new Reader(stranger, `time after ${expected}`, [From.Time(time)], { from: 1, resumable: false });
    await since.check(history, stranger);
  }
});

/** Follows a feed until told to stop and nothing is new; returns all it saw. */
async function follow(container, { all, saves, city }, stopped) {
  const options = { maxItemCount: 20, ...(all ? ALL : {}) };
  let iterator = open(container, From.Now(city), options);
  assert.equal((await iterator.readNext()).statusCode, 304);
  const seen = [];
  const run = async () => {
    for (;;) {
      const last = stopped();
      const page = await iterator.readNext();
      seen.push(...page.result);
      if (page.statusCode === 304 && last) return seen;
      if (page.statusCode === 304) await sleep(FOLLOW_POLL_MS);
      if (saves) iterator = open(container, From.Continuation(page.continuationToken), options);
    }
  };
  return { done: run(), seen };
}

test("who follows four writers through splits and merges misses nothing", { timeout: 60_000 }, async (t) => {
  const { server } = context;
  const container = await context.makeContainer(t, { ...KEEPS_ALL, partitionKey: "/city" });
  const history = new History(container);
  let writing = true;
  let reading = true;
  const followers = [];
  for (const all of [false, true]) {
    for (const [saves, city] of [[false], [true], [true, "writer 0 city 0"]]) {
      const client = through(context.connect(), container);
      followers.push({ all, city, ...(await follow(client, { all, saves, city }, () => !reading)) });
    }
  }
  for (const { done } of followers) done.catch(() => {});
  const counts = Array(WRITERS).fill(0);
  const writers = counts.map(async (_, writer) => {
    const mine = through(context.connect(), container);
    for (let n = 0; writing; n += 1) {
      const city = `writer ${writer} city ${n % 6}`;
      const id = `item ${n % 5}`;
      if (n % 7 === 6 && history.has(city, id)) await history.remove(city, id, mine);
      else await history.put(city, id, mine);
      counts[writer] += 1;
    }
  });
  for (const one of writers) one.catch(() => {});
  const everybodyWrites = () => {
    const before = [...counts];
    return until("the writers came to a halt", () => counts.every((count, n) => count >= before[n] + WRITES_BETWEEN));
  };
  await everybodyWrites();
  for (const change of [
    () => split(server, container),
    () => split(server, container, { range: "1" }),
    () => merge(server, container, "4", "2"),
    () => merge(server, container, "3", "5"),
  ]) {
    await change();
    await everybodyWrites();
  }
  writing = false;
  await Promise.all(writers);
  reading = false;
  for (const { all, city, done } of followers) history.check(await done, { all, city });
  t.diagnostic(`${counts.reduce((sum, one) => sum + one, 0)} writes, ${followers.map(({ seen }) => seen.length)} seen`);
});
