// Time to live: expired items are gone at once for everybody, and only where the container says so.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ChangeFeedStartFrom as From } from "@azure/cosmos";

import { refused, useServer } from "../lib/fixture.mjs";
import { drain, open } from "../lib/feed.mjs";
import { figures, split, until } from "../lib/partitions.mjs";
import { readAll, register } from "../lib/scripts.mjs";

const context = useServer();

const EXPIRY_MS_MAX = 5_000;
const PURGE_MS_MAX = 15_000;

const item = (id, members = {}) => ({ id, city: "Oslo", ...members });

/** Waits until items that live for a second have expired: no read after this may find one. */
async function expire(container, ...ids) {
  for (const id of ids) {
    const gone = async () => (await container.item(id, "Oslo").read()).statusCode === 404;
    await until(`${id} is still there`, gone, EXPIRY_MS_MAX);
  }
}

test("the item's time beats the container's, and every write starts it anew", async (t) => {
  const container = await context.makeContainer(t, { defaultTtl: 2 });
  const { resource: first } = await container.items.create(item("default"));
  await container.items.create(item("own", { ttl: 1 }));
  await container.items.create(item("long", { ttl: 3600 }));
  await container.items.create(item("never", { ttl: -1 }));
  await container.items.create(item("renewed"));
  for (let n = 0; n < 3; n += 1) {
    const { statusCode } = await container.item("default", "Oslo").read();
    if (Date.now() <= (first._ts + 2) * 1000) assert.equal(statusCode, 200, "an item lives at least as long as it may");
    await container.item("renewed", "Oslo").patch([{ op: "add", path: "/n", value: n }]);
    await sleep(600);
  }
  await expire(container, "own", "default");
  const found = (await readAll(container)).map(({ id }) => id);
  assert.deepEqual(found.toSorted(), ["long", "never", "renewed"]);
  await container.item("long", "Oslo").patch([{ op: "set", path: "/ttl", value: 1 }]);
  await expire(container, "long", "renewed");
  assert.deepEqual((await readAll(container)).map(({ id }) => id), ["never"]);
});

test("nobody finds an expired item", async (t) => {
  const container = await context.makeContainer(t, {
    defaultTtl: -1,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] },
  });
  const count = await register(container, () => {
    const collection = getContext().getCollection();
    collection.queryDocuments(collection.getSelfLink(), "SELECT * FROM c", (error, items) => {
      if (error) throw error;
      getContext().getResponse().setBody(items.map(({ id }) => id));
    });
  });
  const verbs = ["read", "replace", "patch", "delete", "upsert", "create", "batch", "queried"];
  for (const id of verbs) await container.items.create(item(id, { ttl: 1, email: id, n: 1 }));
  await container.items.create(item("kept", { email: "kept", n: 2 }));
  await expire(container, ...verbs);

  const missing = (id) => container.item(id, "Oslo");
  assert.equal((await missing("read").read()).resource, undefined);
  await refused(missing("replace").replace(item("replace")), 404);
  await refused(missing("patch").patch([{ op: "incr", path: "/n", value: 1 }]), 404);
  await refused(missing("delete").delete(), 404);
  const batch = await container.items.batch([{ operationType: "Read", id: "batch" }], "Oslo");
  assert.deepEqual(batch.result.map(({ statusCode }) => statusCode), [404]);

  for (const [query, rows] of [
    ["SELECT VALUE c.id FROM c", ["kept"]],
    ["SELECT VALUE COUNT(1) FROM c", [1]],
    ["SELECT VALUE c.id FROM c WHERE c.n = 1", []],
    ["SELECT VALUE c.id FROM c ORDER BY c.n", ["kept"]],
    ["SELECT VALUE MIN(c.n) FROM c", [2]],
    ["SELECT VALUE SUM(c.n) FROM c", [2]],
    ["SELECT DISTINCT VALUE c.n FROM c", [2]],
    ["SELECT VALUE c.id FROM c WHERE c.id = 'queried' AND c.city = 'Oslo'", []],
  ]) {
    for (const options of [{}, { partitionKey: "Oslo" }]) {
      const { resources } = await container.items.query(query, options).fetchAll();
      assert.deepEqual(resources, rows, query);
    }
  }
  assert.deepEqual((await readAll(container)).map(({ id }) => id), ["kept"]);
  assert.deepEqual(await count(), ["kept"]);
  for (const start of [From.Beginning(), From.Beginning("Oslo"), From.Time(new Date(0))]) {
    assert.deepEqual((await drain(open(container, start))).changes.map(({ id }) => id), ["kept"]);
  }

  // Names and unique values are free again.
  assert.equal((await container.items.create(item("create", { email: "read" }))).statusCode, 201);
  assert.equal((await container.items.upsert(item("upsert", { email: "upsert" }))).statusCode, 201);
  const created = await container.items.batch(
    [{ operationType: "Create", resourceBody: item("batch", { email: "batch" }) }],
    "Oslo",
  );
  assert.equal(created.code, 200);
  const left = (await readAll(container)).map(({ id }) => id);
  assert.deepEqual(left.toSorted(), ["batch", "create", "kept", "upsert"]);
});

test("nothing expires before the container has it switched on, then all of it, after a split too", async (t) => {
  const container = await context.makeContainer(t);
  for (let n = 0; n < 30; n += 1) await container.items.create({ id: "short", city: `city ${n}`, ttl: 1 });
  await container.items.create(item("plain"));
  const before = await readAll(container);
  await sleep(2_500);
  assert.deepEqual(await readAll(container), before);
  const held = async () => {
    const { partitions } = await figures(context.server, container);
    return partitions.reduce((sum, { items }) => sum + items, 0);
  };
  assert.equal(await held(), 31);
  assert.equal((await split(context.server, container)).length, 2);
  assert.equal(await held(), 31);

  const { resource: definition } = await container.read();
  await container.replace({ ...definition, defaultTtl: -1 });
  assert.deepEqual((await readAll(container)).map(({ id }) => id), ["plain"]);
  await until("the expired items are still stored", async () => (await held()) === 1, PURGE_MS_MAX);
  assert.deepEqual((await readAll(container)).map(({ id }) => id), ["plain"]);
  assert.deepEqual((await drain(open(container, From.Beginning()))).changes.map(({ id }) => id), ["plain"]);
});
