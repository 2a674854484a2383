// Physical partitions that split and merge by command, as this SDK meets them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { serve, through, useServer, withoutSystemProperties } from "../lib/fixture.mjs";
import { figures, merge, split } from "../lib/partitions.mjs";
import { DEVICE_COUNT, ITEM_COUNT, items, readPages, run } from "../lib/queries.mjs";
import { readAll } from "../lib/scripts.mjs";

const context = useServer();

const QUERIES = {
  filter: "SELECT * FROM c WHERE c.n >= 150",
  scan: "SELECT VALUE c.n FROM c WHERE LOWER(c.word) = 'fig'",
  order: "SELECT VALUE c.n FROM c WHERE c.n < 80 ORDER BY c.n DESC",
  "order of every type": "SELECT c.id, c.mixed FROM c ORDER BY c.mixed",
  top: "SELECT TOP 45 VALUE c.n FROM c ORDER BY c.n",
  offset: "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 7 LIMIT 61",
  distinct: "SELECT DISTINCT VALUE c.word FROM c",
  groups: "SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band",
  join: "SELECT c.n, t FROM c JOIN t IN c.tags WHERE c.n < 60",
};
const RANGE_ID = "x-ms-documentdb-partitionkeyrangeid";

async function fill(container) {
  const operations = items().map((resourceBody) => ({
    operationType: "Create",
    partitionKey: resourceBody.device,
    resourceBody,
  }));
  const results = await container.items.executeBulkOperations(operations);
  assert.deepEqual([...new Set(results.map(({ response }) => response?.statusCode))], [201]);
}

/** Compares rows in the order of the query; where it has none, and among rows equal in it, in any order. */
function assertSameRows(name, found, wanted) {
  const text = (rows) => rows.map((row) => JSON.stringify(row));
  assert.deepEqual(text(found).toSorted(), text(wanted).toSorted(), name);
  if (name === "order of every type") found = found.map(({ mixed }) => mixed);
  if (name === "order of every type") wanted = wanted.map(({ mixed }) => mixed);
  if (/ORDER BY/.test(QUERIES[name])) assert.deepEqual(text(found), text(wanted), name);
}

async function wideContainer(t, throughput = 20_000) {
  const container = await context.makeContainer(t, { partitionKey: "/device", throughput });
  await fill(container);
  return container;
}

/** Lowers the throughput to what one partition serves; two are merged only then. */
async function lower(container) {
  const { _self } = (await container.read()).resource;
  const offers = (await context.client.offers.readAll().fetchAll()).resources;
  const offer = offers.find(({ resource }) => resource === _self);
  await context.client.offer(offer.id).replace({ ...offer, content: { ...offer.content, offerThroughput: 10_000 } });
}

test("items, their rids and their etags outlive splits and merges", async (t) => {
  const container = await wideContainer(t, 10_000);
  const before = (await readAll(container)).toSorted((a, b) => a.n - b.n);
  assert.equal(before.length, ITEM_COUNT);
  assert.deepEqual(await split(context.server, container), ["1", "2"]);
  assert.deepEqual(await split(context.server, container, { range: "2" }), ["1", "3", "4"]);
  const check = async () => {
    assert.deepEqual((await readAll(container)).toSorted((a, b) => a.n - b.n), before);
    for (const item of before) assert.deepEqual((await container.item(item.id, item.device).read()).resource, item);
  };
  await check();
  const { resources } = await container.readPartitionKeyRanges().fetchAll();
  const parents = Object.fromEntries(resources.map((one) => [one.id, one.parents]));
  assert.deepEqual(parents, { 1: ["0"], 3: ["0", "2"], 4: ["0", "2"] });
  assert.deepEqual(await merge(context.server, container, "1", "3"), ["5", "4"]);
  await check();
  for (const { id, device, _etag } of before.slice(0, 20)) {
    const condition = { accessCondition: { type: "IfMatch", condition: _etag } };
    const body = { id, device, changed: true };
    assert.equal((await container.item(id, device).replace(body, condition)).statusCode, 200);
  }
});

for (const step of ["split", "merge"]) {
  test(`paused queries go on after a ${step}`, async (t) => {
    const container = await wideContainer(t);
    const whole = {};
    const paused = {};
    for (const [name, query] of Object.entries(QUERIES)) {
      whole[name] = await run(container, query);
      paused[name] = await container.items.query(query, { maxItemCount: 6 }).fetchNext();
    }
    if (step === "split") {
      await split(context.server, container, { range: "0" });
      await split(context.server, container, { range: "1" });
    } else {
      await lower(container);
      await merge(context.server, container, "0", "1");
    }
    const stranger = through(context.connect(), container);
    for (const [name, query] of Object.entries(QUERIES)) {
      const { resources, continuationToken } = paused[name];
      for (const who of [container, stranger]) {
        const found = [...resources];
        if (continuationToken) {
          const { pages } = await readPages(who, query, { maxItemCount: 6, continuationToken });
          found.push(...pages.flat());
        }
        assertSameRows(name, found, whole[name]);
      }
    }
  });
}

for (const step of ["split", "merge"]) {
  test(`an iterator goes on in the middle of a ${step}`, async (t) => {
    const container = await wideContainer(t);
    if (step === "merge") await lower(container);
    const query = "SELECT VALUE c.n FROM c ORDER BY c.n";
    const iterator = container.items.query(query, { maxItemCount: 25 });
    const rows = [];
    for (let page = 0; iterator.hasMoreResults(); page += 1) {
      rows.push(...((await iterator.fetchNext()).resources ?? []));
      if (page === 1 && step === "split") await split(context.server, container, { range: "0" });
      if (page === 3 && step === "split") await split(context.server, container, { range: "1" });
      if (page === 2 && step === "merge") await merge(context.server, container, "0", "1");
    }
    assert.deepEqual(rows, Array.from({ length: ITEM_COUNT }, (_, n) => n));
  });
}

test("queries that the SDK merges find the children", async (t) => {
  const { server, connect } = await serve(t, "--cross-partition-queries", "plan");
  const { database } = await connect().databases.create({ id: "d" });
  const { container } = await database.containers.create({ id: "c", partitionKey: "/device", throughput: 20_000 });
  await fill(container);
  const before = {};
  // This SDK does not merge values of several types.
  const { "order of every type": _, ...queries } = QUERIES;
  for (const [name, query] of Object.entries(queries)) before[name] = await run(container, query);
  await split(server, container, { range: "0" });
  await split(server, container, { range: "1" });
  // A client that has kept the old ranges asks for them for ever; see conformance/README.md.
  const fresh = through(connect(), container);
  for (const [name, query] of Object.entries(queries)) {
    assertSameRows(name, await run(fresh, query), before[name]);
  }
});

test("bulk of a client that knows the old ranges", async (t) => {
  const container = await context.makeContainer(t, { partitionKey: "/device", throughput: 20_000 });
  const stale = through(context.connect(), container);
  const create = (id) =>
    Array.from({ length: DEVICE_COUNT }, (_, n) => ({
      operationType: "Create",
      partitionKey: `device ${n}`,
      resourceBody: { id, device: `device ${n}` },
    }));
  const code = (one) => one.response?.statusCode ?? one.statusCode ?? one.error;
  const codes = (results) => [...new Set(results.map(code))];
  assert.deepEqual(codes(await stale.items.bulk(create("first"))), [201]);
  assert.deepEqual(codes(await stale.items.executeBulkOperations(create("second"))), [201]);
  await split(context.server, container, { range: "0" });
  assert.deepEqual(codes(await stale.items.bulk(create("third"))), [201]);
  await split(context.server, container, { range: "1" });
  assert.deepEqual(codes(await stale.items.executeBulkOperations(create("fourth"))), [201]);
  await merge(context.server, container, "3", "4");
  assert.deepEqual(codes(await stale.items.executeBulkOperations(create("fifth"))), [201]);
  const found = (await readAll(container)).map(withoutSystemProperties);
  assert.equal(found.length, 5 * DEVICE_COUNT);
  assert.equal(new Set(found.map(({ id, device }) => `${device}/${id}`)).size, found.length);
});

test("sessions from before are honoured by the children", async (t) => {
  const container = await context.makeContainer(t, { partitionKey: "/device" });
  const mine = through(context.connect({ consistencyLevel: "Session" }), container);
  const other = through(context.connect(), container);
  const tokens = [];
  for (let n = 0; n < DEVICE_COUNT; n += 1) {
    const { headers } = await mine.items.create({ id: "1", device: `device ${n}`, n });
    assert.equal(headers[RANGE_ID], "0");
    tokens.push(headers["x-ms-session-token"]);
  }
  for (const step of ["split", "merge"]) {
    if (step === "split") assert.deepEqual(await split(context.server, container), ["1", "2"]);
    else assert.deepEqual(await merge(context.server, container, "1", "2"), ["3"]);
    for (let n = 0; n < DEVICE_COUNT; n += 1) {
      const read = await other.item("1", `device ${n}`).read({ sessionToken: tokens[n] });
      assert.deepEqual([read.statusCode, read.resource.n], [200, n]);
      assert.notEqual(read.headers[RANGE_ID], "0");
      assert.equal((await mine.item("1", `device ${n}`).read()).resource.n, n, "the session inside the SDK");
    }
  }
});

test("feed ranges from before are served by the children", async (t) => {
  const container = await wideContainer(t);
  const old = await container.getFeedRanges();
  assert.equal(old.length, 2);
  await split(context.server, container, { range: "0" });
  assert.equal((await through(context.connect(), container).getFeedRanges()).length, 3);
  assert.equal((await figures(context.server, container)).partitions.length, 3);
  assert.deepEqual((await run(container, "SELECT VALUE COUNT(1) FROM c")), [ITEM_COUNT]);
});
