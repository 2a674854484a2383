// Transactional batches, and bulk: the same request without a transaction.

import assert from "node:assert/strict";
import { test } from "node:test";

import { refused, useServer } from "../lib/fixture.mjs";
import { readAll, together } from "../lib/scripts.mjs";

const context = useServer();

const item = (id, members = {}) => ({ id, city: "Oslo", ...members });
const create = (id, members) => ({ operationType: "Create", resourceBody: item(id, members) });
const upsert = (id, members) => ({ operationType: "Upsert", resourceBody: item(id, members) });
const read = (id) => ({ operationType: "Read", id });
const codes = (results) => results.map(({ statusCode }) => statusCode);

// Transactional batches

test("a batch does every operation", async (t) => {
  const container = await context.makeContainer(t);
  for (const id of ["replaced", "patched", "deleted"]) await container.items.create(item(id, { n: 1 }));
  const { code, result } = await container.items.batch(
    [
      create("created"),
      upsert("created", { n: 2 }),
      { operationType: "Replace", id: "replaced", resourceBody: item("replaced", { n: 2 }) },
      { operationType: "Patch", id: "patched", resourceBody: { operations: [{ op: "incr", path: "/n", value: 5 }] } },
      read("patched"),
      { operationType: "Delete", id: "deleted" },
    ],
    "Oslo",
  );
  assert.equal(code, 200);
  assert.deepEqual(codes(result), [201, 200, 200, 200, 200, 204]);
  assert.deepEqual(result.map(({ resourceBody }) => resourceBody?.n), [undefined, 2, 2, 6, 6, undefined]);
  const stored = await readAll(container);
  assert.deepEqual(stored.find(({ id }) => id === "patched"), result[4].resourceBody);
  assert.equal(result[3].eTag, result[3].resourceBody._etag);
  assert.deepEqual(stored.map(({ id }) => id).sort(), ["created", "patched", "replaced"]);
});

test("one failure undoes all, its neighbours are failed dependencies", async (t) => {
  const container = await context.makeContainer(t);
  const { resource: there } = await container.items.create(item("there"));
  for (const [operation, status] of [
    [create("there"), 409],
    [read("no"), 404],
    [{ operationType: "Delete", id: "no" }, 404],
    [{ operationType: "Replace", id: "no", resourceBody: item("no") }, 404],
    [{ operationType: "Replace", id: "there", ifMatch: '"stale"', resourceBody: item("there") }, 412],
    [{ operationType: "Create", resourceBody: { id: "x", city: "Bergen" } }, 400],
    [{ operationType: "Patch", id: "there", resourceBody: { operations: [{ op: "remove", path: "/no" }] } }, 400],
  ]) {
    const { code, result } = await container.items.batch([create("new"), operation, upsert("other")], "Oslo");
    assert.equal(code, 207);
    assert.deepEqual(codes(result), [424, status, 424]);
  }
  assert.deepEqual(await readAll(container), [there]);
});

test("a batch has at most a hundred operations", async (t) => {
  const container = await context.makeContainer(t);
  const operations = Array.from({ length: 100 }, (_, n) => create(String(n)));
  const { result } = await container.items.batch(operations, "Oslo");
  assert.ok(codes(result).every((code) => code === 201));
  // This SDK counts by itself and refuses to send one more.
  await assert.rejects(container.items.batch([...operations, create("100")], "Oslo"), /more than 100 operations/);
  await assert.rejects(container.items.batch([], "Oslo"), /Batch request has no operations/);
  assert.equal((await readAll(container)).length, 100);
});

test("etags, conditions and what came before are checked", async (t) => {
  const container = await context.makeContainer(t);
  const { resource } = await container.items.create(item("1", { n: 1 }));
  const patch = (condition) => ({
    operationType: "Patch",
    id: "1",
    resourceBody: { condition, operations: [{ op: "incr", path: "/n", value: 1 }] },
  });
  const replace = { operationType: "Replace", id: "1", ifMatch: resource._etag, resourceBody: item("1", { n: 5 }) };
  const { result } = await container.items.batch([replace, patch("from c where c.n = 5"), read("1")], "Oslo");
  assert.deepEqual(codes(result), [200, 200, 200]);
  assert.equal(result[2].resourceBody.n, 6);
  const stale = await container.items.batch([upsert("1", { n: 0 }), { ...replace }], "Oslo");
  assert.deepEqual(codes(stale.result), [424, 412]);
  const unmet = await container.items.batch([patch("from c where c.n = 5")], "Oslo");
  assert.deepEqual(codes(unmet.result), [412]);
});

test("a batch takes one step of the session", async (t) => {
  const container = await context.makeContainer(t);
  const { headers: before } = await container.items.create(item("first"));
  const operations = Array.from({ length: 10 }, (_, n) => create(String(n)));
  const { headers } = await container.items.batch(operations, "Oslo");
  assert.equal(Number(headers.lsn), Number(before.lsn) + 1);
  assert.ok(Number(headers["x-ms-request-charge"]) > 0);
  const sessionToken = headers["x-ms-session-token"];
  const other = context.connect({ consistencyLevel: "Session" }).database(context.database.id).container(container.id);
  assert.equal((await other.item("9", "Oslo").read({ sessionToken })).resource.id, "9");
  const { headers: after } = await container.items.create(item("last"));
  assert.equal(Number(after.lsn), Number(before.lsn) + 2);
});

test("bodies stay away when nobody wants them", async (t) => {
  const container = await context.makeContainer(t);
  const options = { contentResponseOnWriteEnabled: false };
  const { result } = await container.items.batch([create("1"), upsert("1", { n: 1 }), read("1")], "Oslo", options);
  assert.deepEqual(codes(result), [201, 200, 200]);
  assert.deepEqual(result.map((one) => one.resourceBody?.n), [undefined, undefined, 1]);
  assert.equal(result[0].resourceBody, undefined);
});

test("batches of many writers are seen whole", async (t) => {
  const container = await context.makeContainer(t);
  await container.items.batch([upsert("a", { n: -1 }), upsert("b", { n: -1 })], "Oslo");
  await together(16, 160, async (n) => {
    if (n % 2 === 0) {
      const { code } = await container.items.batch([upsert("a", { n }), upsert("b", { n })], "Oslo");
      assert.equal(code, 200);
    } else {
      const { result } = await container.items.batch([read("a"), read("b")], "Oslo");
      assert.equal(result[0].resourceBody.n, result[1].resourceBody.n);
    }
  });
});

test("hierarchical keys and keys of every type", async (t) => {
  const partitionKey = { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 };
  const container = await context.makeContainer(t, { partitionKey });
  const operation = { operationType: "Create", resourceBody: { id: "1", tenant: "t", user: "u" } };
  assert.deepEqual(codes((await container.items.batch([operation], ["t", "u"])).result), [201]);
  const plain = await context.makeContainer(t);
  for (const city of [1.5, true, null, "é"]) {
    const create = { operationType: "Create", resourceBody: { id: "1", city } };
    assert.deepEqual(codes((await plain.items.batch([create], city)).result), [201], String(city));
  }
});

// Bulk

const PARTITIONS = { throughput: 30_000 };

test("bulk answers for every operation, over several partitions", async (t) => {
  const container = await context.makeContainer(t, PARTITIONS);
  const cities = Array.from({ length: 30 }, (_, n) => `city ${n}`);
  const creates = cities.map((city) => ({ operationType: "Create", resourceBody: { id: "1", city } }));
  assert.deepEqual(codes(await container.items.bulk(creates)), cities.map(() => 201));
  const mixed = cities.map((city, n) =>
    n % 3 === 0
      ? { operationType: "Read", id: "1", partitionKey: city }
      : n % 3 === 1
        ? { operationType: "Create", resourceBody: { id: "1", city } }
        : { operationType: "Delete", id: "1", partitionKey: city },
  );
  const results = await container.items.bulk(mixed, { continueOnError: true });
  assert.deepEqual(codes(results), cities.map((_, n) => [200, 409, 204][n % 3]));
  assert.deepEqual(results[0].resourceBody.city, cities[0]);
  assert.equal((await readAll(container)).length, 20);
});

test("bulk patches, replaces and upserts", async (t) => {
  const container = await context.makeContainer(t, PARTITIONS);
  await container.items.create(item("1", { n: 1 }));
  const results = await container.items.bulk([
    { operationType: "Upsert", resourceBody: { id: "2", city: "Bergen" } },
    { operationType: "Replace", id: "1", resourceBody: item("1", { n: 2 }) },
    {
      operationType: "Patch",
      id: "1",
      partitionKey: "Oslo",
      resourceBody: { operations: [{ op: "incr", path: "/n", value: 3 }] },
    },
  ]);
  assert.deepEqual(codes(results), [201, 200, 200]);
  assert.equal(results[2].resourceBody.n, 5);
});

test("bulk stops at a failure when told to", async (t) => {
  const container = await context.makeContainer(t);
  const operations = [create("1"), create("1"), create("2")];
  const results = await container.items.bulk(operations, { continueOnError: false });
  assert.deepEqual(codes(results), [201, 409, 424]);
  assert.deepEqual((await readAll(container)).map(({ id }) => id), ["1"]);
});

test("bulk operations of the newer interface", async (t) => {
  const container = await context.makeContainer(t, PARTITIONS);
  const count = 250;
  const creates = Array.from({ length: count }, (_, n) => ({
    operationType: "Create",
    partitionKey: `city ${n % 40}`,
    resourceBody: { id: String(n), city: `city ${n % 40}`, n },
  }));
  const created = await container.items.executeBulkOperations(creates);
  assert.deepEqual(created.map(({ response }) => response?.statusCode), creates.map(() => 201));
  assert.ok(created.every(({ response }) => response.requestCharge > 0 && response.eTag));

  const operations = [
    { operationType: "Create", partitionKey: "city 0", resourceBody: { id: "0", city: "city 0" } },
    { operationType: "Read", partitionKey: "city 1", id: "1" },
    { operationType: "Read", partitionKey: "city 1", id: "no" },
    { operationType: "Replace", partitionKey: "city 2", id: "2", resourceBody: { id: "2", city: "city 2", n: -2 } },
    { operationType: "Upsert", partitionKey: "city 3", resourceBody: { id: "3", city: "city 3", n: -3 } },
    {
      operationType: "Patch",
      partitionKey: "city 4",
      id: "4",
      resourceBody: { operations: [{ op: "set", path: "/n", value: -4 }] },
    },
    { operationType: "Delete", partitionKey: "city 5", id: "5" },
  ];
  const results = await container.items.executeBulkOperations(operations);
  assert.deepEqual(
    results.map(({ response, error }) => response?.statusCode ?? error.code),
    [409, 200, 404, 200, 200, 200, 204],
  );
  assert.equal(results[1].response.resourceBody.n, 1);
  assert.equal(results[5].response.resourceBody.n, -4);
  const after = await readAll(container);
  assert.equal(after.length, count - 1);
});

test("bulk reads that do not fit in one response", { timeout: 60_000 }, async (t) => {
  const container = await context.makeContainer(t);
  const ids = ["1", "2", "3", "4"];
  for (const id of ids) await container.items.create(item(id, { text: "x".repeat(1_500_000) }));
  const reads = ids.map((id) => ({ operationType: "Read", partitionKey: "Oslo", id }));
  const results = await container.items.executeBulkOperations(reads);
  assert.deepEqual(results.map(({ response }) => response?.resourceBody?.id), ids);
});

test("bulk with an operation of a missing container", async (t) => {
  const container = await context.makeContainer(t);
  await container.delete();
  await refused(container.items.create(item("1")), 404);
  await assert.rejects(container.items.bulk([create("1")]));
});

test("a bulk operation that is too large", { timeout: 60_000 }, async (t) => {
  const container = await context.makeContainer(t);
  for (const length of [2_500_000, 2_097_130]) {
    const operation = { ...create("1", { text: "x".repeat(length) }), partitionKey: "Oslo" };
    const [{ error }] = await container.items.executeBulkOperations([operation]);
    assert.equal(error.code, 413, error.message);
    assert.ok(error.message.includes('Message: {"Errors":["Request size is too large"]}\r\n'), error.message);
    assert.equal(error.body.code, "RequestEntityTooLarge");
  }
  assert.equal((await readAll(container)).length, 0);
});
