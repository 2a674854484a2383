// Databases: create, read, list, delete, names.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fresh, refused, useServer } from "../lib/fixture.mjs";

const context = useServer();

test("a created database reads back and can be deleted", async () => {
  const id = fresh("database");
  const created = await context.client.databases.create({ id });
  assert.equal(created.statusCode, 201);
  const { database } = created;
  const read = await database.read();
  assert.deepEqual(read.resource, created.resource);
  assert.match(read.resource._rid, /^.{6}==$/);
  assert.equal(read.resource._self, `dbs/${read.resource._rid}/`);
  assert.equal(read.etag, read.resource._etag);
  assert.equal((await database.delete()).statusCode, 204);
  await refused(database.read(), 404);
});

test("a second database of a name conflicts", async () => {
  const { database } = await context.client.databases.create({ id: fresh("database") });
  await refused(context.client.databases.create({ id: database.id }), 409);
  const again = await context.client.databases.createIfNotExists({ id: database.id });
  assert.equal(again.statusCode, 200);
});

test("the list has every database, in pages", async () => {
  const ids = [];
  for (let n = 0; n < 5; n += 1) {
    const { database } = await context.client.databases.create({ id: fresh("listed") });
    ids.push(database.id);
  }
  const all = (await context.client.databases.readAll().fetchAll()).resources.map((one) => one.id);
  assert.ok(ids.every((id) => all.includes(id)));

  const paged = [];
  const iterator = context.client.databases.readAll({ maxItemCount: 2 });
  while (iterator.hasMoreResults()) {
    const { resources } = await iterator.fetchNext();
    assert.ok((resources ?? []).length <= 2);
    paged.push(...(resources ?? []).map((one) => one.id));
  }
  assert.deepEqual(paged.toSorted(), all.toSorted());
});

for (const id of ["a b", "100 percent", "a+b&c=d", "it's", "Größe", "数据库", "colls", "x".repeat(255)]) {
  test(`a database may be called ${id.slice(0, 20)}`, async () => {
    const { database } = await context.client.databases.create({ id });
    assert.equal((await database.read()).resource.id, id);
    await database.delete();
    await refused(database.read(), 404);
  });
}

for (const [name, throughput] of Object.entries({
  manual: { throughput: 400 },
  autoscale: { maxThroughput: 4000 },
})) {
  test(`${name} throughput is accepted at creation`, async () => {
    assert.equal((await context.client.databases.create({ id: fresh("database"), ...throughput })).statusCode, 201);
  });
}

for (const [name, throughput] of Object.entries({
  "below the minimum": { throughput: 100 },
  "off the step": { throughput: 450 },
  "autoscale off the step": { maxThroughput: 1500 },
})) {
  test(`throughput ${name} is refused`, async () => {
    await refused(context.client.databases.create({ id: fresh("database"), ...throughput }), 400);
  });
}
