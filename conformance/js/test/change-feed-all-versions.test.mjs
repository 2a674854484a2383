// The change feed of all versions and deletes: what a change says, where it may start, and what expired by itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ChangeFeedStartFrom as From } from "@azure/cosmos";

import { connect, refused, through, useServer } from "../lib/fixture.mjs";
import { ALL, drain, expectNothing, KEEPS_ALL, open } from "../lib/feed.mjs";
import { until } from "../lib/partitions.mjs";
import { makeFolder, Server } from "../lib/server.mjs";

const context = useServer();

const TWO_RANGES = 20_000;
const EXPIRY_MS_MAX = 15_000;

const operations = (changes) =>
  changes.map(({ metadata, current }) => `${metadata.operationType} ${metadata.id ?? current.id}`);

/** Writes an item in three versions and deletes it. */
async function live(container, city, id = "1") {
  const { resource: created } = await container.items.create({ id, city, n: 1 });
  const { resource: replaced } = await container.item(id, city).replace({ id, city, n: 2 });
  const { resource: patched } = await container.item(id, city).patch([{ op: "incr", path: "/n", value: 1 }]);
  await container.item(id, city).delete();
  return [created, replaced, patched];
}

test("every version comes, and the delete", async (t) => {
  const container = await context.makeContainer(t, KEEPS_ALL);
  const iterator = open(container, From.Now(), ALL);
  const token = await expectNothing(iterator);
  const versions = await live(container, "Oslo");
  const { changes } = await drain(iterator);
  assert.deepEqual(changes.map(({ metadata }) => metadata.operationType), ["create", "replace", "replace", "delete"]);
  assert.deepEqual(changes.slice(0, 3).map(({ current }) => current), versions);
  const [create, replace, patch, gone] = changes.map(({ metadata }) => metadata);
  assert.deepEqual([replace, patch, gone].map(({ lsn }) => lsn), [1, 2, 3].map((n) => create.lsn + n));
  assert.deepEqual(
    [replace, patch, gone].map(({ previousImageLSN }) => previousImageLSN),
    [create.lsn, replace.lsn, patch.lsn],
  );
  assert.ok(!create.previousImageLSN);
  for (const [n, { _ts }] of versions.entries()) assert.equal(changes[n].metadata.crts, _ts);
  assert.ok(gone.crts >= versions[2]._ts);
  assert.equal(gone.id, "1");
  assert.deepEqual(gone.partitionKey, { city: "Oslo" });
  assert.ok(!gone.timeToLiveExpired);
  assert.deepEqual(changes[3].current ?? {}, {});
  assert.deepEqual(changes[3].previous, versions[2]);
  for (const change of changes.slice(0, 3)) assert.equal(change.previous, undefined);

  // The same again from the position, in pages, in another client.
  const stranger = through(context.connect(), container);
  const again = await drain(open(stranger, From.Continuation(token), { ...ALL, maxItemCount: 1 }));
  assert.equal(again.pages.length, 4);
  assert.deepEqual(again.changes, changes);
  // Latest versions are read from the same container: of a deleted item there is none.
  await expectNothing(open(container, From.Beginning()));
});

test("previous images where the container has them", async (t) => {
  const changeFeedPolicy = { ...KEEPS_ALL.changeFeedPolicy, previousImages: true };
  const container = await context.makeContainer(t, { changeFeedPolicy });
  assert.deepEqual((await container.read()).resource.changeFeedPolicy, changeFeedPolicy);
  const iterator = open(container, From.Now(), ALL);
  await expectNothing(iterator);
  const versions = await live(container, "Oslo");
  const { changes } = await drain(iterator);
  assert.deepEqual(changes.map(({ previous }) => previous), [undefined, ...versions]);
});

test("keys of deletes, hierarchical and nested", async (t) => {
  for (const [partitionKey, members, key, named] of [
    [
      { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 },
      { tenant: "a", user: 5 },
      ["a", 5],
      { tenant: "a", user: 5 },
    ],
    [{ paths: ["/address/city"], kind: "Hash", version: 2 }, { address: { city: null } }, null, { city: null }],
    [{ paths: ["/id"], kind: "Hash", version: 2 }, {}, "1", { id: "1" }],
  ]) {
    const container = await context.makeContainer(t, { ...KEEPS_ALL, partitionKey });
    const iterator = open(container, From.Now(), ALL);
    await expectNothing(iterator);
    await container.items.create({ id: "1", ...members });
    await container.item("1", key).delete();
    const [, gone] = (await drain(iterator)).changes;
    assert.deepEqual([gone.metadata.id, gone.metadata.partitionKey], ["1", named]);
  }
});

test("it starts now or at a position, and only where versions are kept", async (t) => {
  const kept = await context.makeContainer(t, KEEPS_ALL);
  await live(kept, "Oslo");
  for (const start of [From.Beginning(), From.Time(new Date(0)), From.Beginning("Oslo")]) {
    await refused(open(kept, start, ALL).readNext(), 400);
  }
  const plain = await context.makeContainer(t);
  await refused(open(plain, From.Now(), ALL).readNext(), 400);
  await refused(open(plain, From.Now("Oslo"), ALL).readNext(), 400);

  // Versions are kept from the moment on at which the container is told to: what was before is gone.
  const gone = await expectNothing(open(plain, From.Beginning()));
  await plain.items.create({ id: "before", city: "Oslo" });
  const early = (await drain(open(plain, From.Beginning()))).token;
  const { resource: definition } = await plain.read();
  await plain.replace({ ...definition, ...KEEPS_ALL });
  const iterator = open(plain, From.Now(), ALL);
  await expectNothing(iterator);
  await live(plain, "Oslo", "after");
  assert.equal((await drain(iterator)).changes.length, 4);
  assert.equal((await drain(open(plain, From.Continuation(early), ALL))).changes.length, 4);
  await refused(open(plain, From.Continuation(gone), ALL).readNext(), 400);
  assert.deepEqual((await drain(open(plain, From.Continuation(gone)))).changes.map(({ id }) => id), ["before"]);
});

test("of keys and feed ranges", async (t) => {
  const container = await context.makeContainer(t, { ...KEEPS_ALL, throughput: TWO_RANGES });
  const ranges = await container.getFeedRanges();
  const readers = {
    container: open(container, From.Now(), { ...ALL, maxItemCount: 3 }),
    key: open(container, From.Now("city 7"), ALL),
    first: open(container, From.Now(ranges[0]), ALL),
    second: open(container, From.Now(ranges[1]), ALL),
  };
  for (const reader of Object.values(readers)) await expectNothing(reader);
  for (let n = 0; n < 16; n += 1) await live(container, `city ${n}`);
  const counts = {};
  for (const [name, reader] of Object.entries(readers)) counts[name] = (await drain(reader)).changes.length;
  const { first, second, ...rest } = counts;
  assert.deepEqual(rest, { container: 64, key: 4 });
  assert.ok(first > 0 && second > 0);
  assert.equal(first + second, 64);
});

test("a transaction is never cut by a page", async (t) => {
  const container = await context.makeContainer(t, KEEPS_ALL);
  const token = await expectNothing(open(container, From.Now(), ALL));
  const item = (id, n) => ({ id, city: "Oslo", n });
  for (let n = 0; n < 4; n += 1) {
    const { code } = await container.items.batch(
      [
        { operationType: "Upsert", resourceBody: item("a", n) },
        { operationType: "Create", resourceBody: item(`b ${n}`, n) },
        { operationType: "Create", resourceBody: item(`c ${n}`, n) },
        ...(n === 0 ? [] : [{ operationType: "Delete", id: `b ${n - 1}` }]),
      ],
      "Oslo",
    );
    assert.equal(code, 200);
    await container.items.upsert(item("alone", n));
  }
  for (const maxItemCount of [1, 2, 5]) {
    const { pages, changes } = await drain(open(container, From.Continuation(token), { ...ALL, maxItemCount }));
    const commits = pages.map(({ result }) => new Set(result.map(({ metadata }) => metadata.lsn)).size);
    assert.equal(commits.reduce((sum, size) => sum + size, 0), 8, "every commit lies in one page");
    assert.equal(changes.length, 4 * 4 - 1 + 4);
    assert.deepEqual(operations(changes.slice(0, 3)).toSorted(), ["create a", "create b 0", "create c 0"]);
    const last = changes.slice(-5, -1);
    assert.deepEqual(operations(last).toSorted(), ["create b 3", "create c 3", "delete b 2", "replace a"]);
  }
});

test("what expires is a delete that says so", async (t) => {
  const container = await context.makeContainer(t, { ...KEEPS_ALL, defaultTtl: -1 });
  const iterator = open(container, From.Now(), ALL);
  await expectNothing(iterator);
  const { resource: short } = await container.items.create({ id: "short", city: "Oslo", ttl: 1 });
  await container.items.create({ id: "long", city: "Oslo", ttl: 3600 });
  await container.items.create({ id: "deleted", city: "Oslo", ttl: 3600 });
  await container.item("deleted", "Oslo").delete();
  const seen = [];
  await until(
    "the expired item never came",
    async () => {
      seen.push(...(await drain(iterator)).changes);
      return seen.length >= 5;
    },
    EXPIRY_MS_MAX,
  );
  const creations = ["create short", "create long", "create deleted"];
  assert.deepEqual(operations(seen), [...creations, "delete deleted", "delete short"]);
  const [deleted, expired] = seen.slice(-2);
  assert.ok(!deleted.metadata.timeToLiveExpired);
  assert.equal(expired.metadata.timeToLiveExpired, true);
  assert.deepEqual(expired.metadata.partitionKey, { city: "Oslo" });
  assert.deepEqual(expired.previous, short);
  assert.ok(expired.metadata.crts > short._ts + 1);
  await expectNothing(iterator);
});

test("positions outlive restarts", async (t) => {
  const folder = await makeFolder();
  t.after(folder.remove);
  let server = await Server.start(folder.path);
  t.after(() => server.process.kill("SIGKILL"));
  let { client, close } = connect(server);
  const { database } = await client.databases.create({ id: "d" });
  const { container } = await database.containers.create({ id: "c", partitionKey: "/city", ...KEEPS_ALL });
  const token = await expectNothing(open(container, From.Now(), ALL));
  const ofKey = await expectNothing(open(container, From.Now("Oslo"), ALL));
  await live(container, "Oslo");
  await live(container, "Bergen");
  const { changes } = await drain(open(container, From.Continuation(token), ALL));
  assert.equal(changes.length, 8);
  close();
  assert.equal(await server.stop("SIGKILL"), "SIGKILL");

  server = await Server.start(folder.path);
  ({ client, close } = connect(server));
  const again = client.database("d").container("c");
  assert.deepEqual((await drain(open(again, From.Continuation(token), ALL))).changes, changes);
  assert.deepEqual((await drain(open(again, From.Continuation(ofKey), ALL))).changes, changes.slice(0, 4));
  close();
  assert.equal(await server.stop(), 0);
  assert.deepEqual(server.complaints(), []);
});
