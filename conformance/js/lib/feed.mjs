// Reading change feeds, and what every reader of one must have seen.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { ChangeFeedMode, ChangeFeedPolicy, ChangeFeedRetentionTimeSpan } from "@azure/cosmos";

/** What a container needs to keep all versions and deletes. */
export const KEEPS_ALL = { changeFeedPolicy: new ChangeFeedPolicy(ChangeFeedRetentionTimeSpan.fromMinutes(60)) };

/** The option that asks for them. */
export const ALL = { changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes };

const SECOND_MS = 1000;

/** Opens a change feed from a start, or from what the SDK takes for one. */
export function open(container, changeFeedStartFrom, options = {}) {
  const start = changeFeedStartFrom === undefined ? {} : { changeFeedStartFrom };
  return container.items.getChangeFeedIterator({ ...start, ...options });
}

/** Reads pages until the server says that nothing is new; returns them, their changes and the position behind. */
export async function drain(iterator) {
  const pages = [];
  for (;;) {
    const page = await iterator.readNext();
    assert.equal(page.count, page.result.length);
    assert.ok(page.headers.etag, "a page has a position");
    assert.ok(page.sessionToken, "a page has a session token");
    assert.ok(Number(page.headers["x-ms-request-charge"]) > 0, "a page has a price");
    if (page.statusCode === 304) {
      assert.deepEqual(page.result, []);
      return { pages, changes: pages.flatMap(({ result }) => result), token: page.continuationToken };
    }
    assert.equal(page.statusCode, 200);
    assert.ok(page.count > 0, "a page that is not the end has changes");
    pages.push(page);
  }
}

/** Expects that nothing is new; returns the position. */
export async function expectNothing(iterator) {
  const { changes, token } = await drain(iterator);
  assert.deepEqual(changes, []);
  return token;
}

/** Waits for the next whole second and returns it: what was written before has an earlier time stamp. */
export async function nextSecond() {
  const next = (Math.floor(Date.now() / SECOND_MS) + 1) * SECOND_MS;
  while (Date.now() <= next) await sleep(next - Date.now() + 1);
  return new Date(next);
}

const keyOf = ({ city, id }) => `${city}/${id}`;

/** Returns what a change of either mode says about an item: its key, its version, what was done and when. */
function sightOf(change) {
  const { metadata } = change;
  if (metadata === undefined) {
    return { key: keyOf(change), version: change.version, lsn: change._lsn, kind: undefined };
  }
  const { operationType: kind, lsn } = metadata;
  if (kind === "delete") {
    return { key: keyOf({ id: metadata.id, city: metadata.partitionKey.city }), version: undefined, lsn, kind };
  }
  return { key: keyOf(change.current), version: change.current.version, lsn, kind };
}

/** Writes items `{id, city, version}` and remembers every write; versions are given once. */
export class History {
  #version = 0;
  #writes = new Map();
  wave = 0;

  constructor(container) {
    this.container = container;
  }

  /** Creates or replaces an item. */
  async put(city, id, container = this.container) {
    this.#version += 1;
    const item = { id, city, version: this.#version };
    const { statusCode } = await container.items.upsert(item);
    this.#remember(item, statusCode === 201 ? "create" : "replace");
  }

  /** Deletes an item. */
  async remove(city, id, container = this.container) {
    await container.item(id, city).delete();
    this.#remember({ id, city, version: undefined }, "delete");
  }

  /** Whether the item is there now. */
  has(city, id) {
    return (this.#writes.get(keyOf({ city, id }))?.at(-1).kind ?? "delete") !== "delete";
  }

  #remember({ id, city, version }, kind) {
    const key = keyOf({ id, city });
    if (!this.#writes.has(key)) this.#writes.set(key, []);
    this.#writes.get(key).push({ kind, version, city, wave: this.wave });
  }

  /**
   * Checks what a reader has seen in all, from the first wave it was to see: in latest-version mode the newest state
   * of every item and no state twice, in all-versions mode every change; always in the order of the writes of a key.
   */
  check(changes, { from = 0, city = undefined, all = false } = {}) {
    const seen = new Map();
    for (const sight of changes.map(sightOf)) {
      const { key, lsn } = sight;
      if (!seen.has(key)) seen.set(key, []);
      assert.ok(lsn > (seen.get(key).at(-1)?.lsn ?? 0), `${key}: commit ${lsn} comes after a later one`);
      seen.get(key).push(sight);
    }
    for (const [key, written] of this.#writes) {
      const wanted = written.filter((write) => write.wave >= from && (city === undefined || write.city === city));
      const sights = seen.get(key) ?? [];
      seen.delete(key);
      if (all) {
        const outline = (list) => list.map(({ kind, version }) => `${kind} ${version ?? ""}`);
        assert.deepEqual(outline(sights), outline(wanted), key);
        continue;
      }
      const versions = wanted.filter(({ kind }) => kind !== "delete").map(({ version }) => version);
      const found = sights.map(({ version }) => version);
      assert.deepEqual(found.filter((version) => !versions.includes(version)), [], `${key} was not to be seen`);
      assert.deepEqual(found, [...new Set(found)].toSorted((a, b) => a - b), `${key} in the order of its writes`);
      if (wanted.length > 0 && wanted.at(-1).kind !== "delete") {
        assert.equal(found.at(-1), versions.at(-1), `${key}: its newest state was seen last`);
      }
    }
    assert.deepEqual([...seen.keys()], [], "nobody wrote these");
  }
}
