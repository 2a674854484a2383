// Queries of everything that is no item, offers by owner, conditions of patches, errors, and headers about queries.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { fresh, refused, useServer } from "../lib/fixture.mjs";
import { fill } from "../lib/queries.mjs";

const context = useServer();

let container;
beforeEach(async () => {
  container ??= await fill(context.database);
});

test("databases and containers", async () => {
  const prefix = fresh("found");
  for (const letter of "abc") await context.client.databases.create({ id: `${prefix}-${letter}` });
  const query = {
    query: "SELECT * FROM d WHERE STARTSWITH(d.id, @prefix) ORDER BY d.id DESC",
    parameters: [{ name: "@prefix", value: prefix }],
  };
  const found = (await context.client.databases.query(query).fetchAll()).resources;
  assert.deepEqual(found.map((one) => one.id), [`${prefix}-c`, `${prefix}-b`, `${prefix}-a`]);
  const all = (await context.client.databases.readAll().fetchAll()).resources;
  assert.deepEqual(found[0], all.find((one) => one.id === found[0].id));

  const database = context.client.database(found[0].id);
  for (const id of ["x", "y"]) await database.containers.create({ id, partitionKey: `/${id}` });
  const keyed = "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.partitionKey.paths, '/y')";
  assert.deepEqual((await database.containers.query(keyed).fetchAll()).resources, ["y"]);
  const iterator = context.client.databases.query(query, { maxItemCount: 2 });
  assert.equal((await iterator.fetchNext()).resources.length, 2);
  assert.equal((await iterator.fetchNext()).resources.length, 1);
  for (const { id } of found) await context.client.database(id).delete();
});

test("users and permissions", async (t) => {
  const { database } = await context.client.databases.create({ id: fresh("people") });
  t.after(() => database.delete());
  for (const id of ["a", "b"]) await database.containers.create({ id, partitionKey: "/k" });
  for (const id of ["ada", "bo"]) {
    const { user } = await database.users.create({ id });
    for (const [name, permissionMode] of [["a", "Read"], ["b", "All"]]) {
      await user.permissions.create({ id: name, permissionMode, resource: `dbs/${database.id}/colls/${name}` });
    }
  }
  const users = await database.users.query("SELECT VALUE u.id FROM u WHERE u.id > 'ada'").fetchAll();
  assert.deepEqual(users.resources, ["bo"]);
  const permissions = database.user("ada").permissions.query("SELECT * FROM p WHERE p.permissionMode = 'All'");
  assert.deepEqual((await permissions.fetchAll()).resources.map((one) => one.id), ["b"]);
});

test("offers by owner", async (t) => {
  const own = await context.makeContainer(t, { throughput: 1000 });
  const { resource, offer } = await own.readOffer();
  assert.equal(resource.content.offerThroughput, 1000);
  const changed = { ...resource, content: { ...resource.content, offerThroughput: 2000 } };
  assert.equal((await offer.replace(changed)).resource.content.offerThroughput, 2000);
  assert.equal((await own.readOffer()).resource.content.offerThroughput, 2000);

  const { resource: definition } = await own.read();
  const query = {
    query: "SELECT * FROM o WHERE o.offerResourceId = @rid",
    parameters: [{ name: "@rid", value: definition._rid }],
  };
  const found = (await context.client.offers.query(query).fetchAll()).resources;
  assert.deepEqual(found.map((one) => one.id), [resource.id]);

  const { database } = await context.client.databases.create({ id: fresh("shared"), throughput: 700 });
  const { container: shared } = await database.containers.create({ id: "c", partitionKey: "/k" });
  assert.equal((await database.readOffer()).resource.content.offerThroughput, 700);
  assert.equal((await shared.readOffer()).resource, undefined);
  await database.delete();
});

test("conditions of patches", async (t) => {
  const things = await context.makeContainer(t);
  await things.items.create({ id: "1", city: "Oslo", n: 1, tags: ["a"] });
  const item = things.item("1", "Oslo");
  const operations = [{ op: "incr", path: "/n", value: 1 }];
  for (const condition of ["FROM c WHERE c.n = 1", "from c where ARRAY_CONTAINS(c.tags, 'a') and c.n = 2"]) {
    await item.patch({ condition, operations });
  }
  await refused(item.patch({ condition: "FROM c WHERE c.n = 1", operations }), 412);
  await refused(item.patch({ condition: "FROM c WHERE c.none > 1", operations }), 412);
  await refused(item.patch({ condition: "FROM c WHERE d.n = 1", operations }), 400);
  assert.equal((await item.read()).resource.n, 3);
});

for (const [query, code, place] of [
  ["SELECT * FORM c", "SC1001", { start: 9, end: 13 }],
  ["SELECT '😀' AS x FORM c", "SC1001", { start: 17, end: 21 }],
  ["SELECT * FROM c WHERE", "SC1002"],
  ["SELECT id FROM c", "SC2001", { start: 7, end: 9 }],
  ["SELECT VALUE BADFUNC(c.x) FROM c", "SC2005", { start: 13, end: 20 }],
  ["SELECT VALUE ABS() FROM c", "SC2050", { start: 13, end: 18 }],
  ["SELECT c.x, COUNT(1) FROM c", "SC2102"],
]) {
  test(`refused: ${query}`, async () => {
    for (const options of [{}, { partitionKey: "device 1" }, { forceQueryPlan: true }]) {
      const error = await refused(container.items.query(query, options).fetchAll(), 400);
      const text = error.message.slice(error.message.indexOf('{"errors"'));
      assert.ok(text.includes(`"code":"${code}"`), error.message);
      if (place) assert.ok(text.includes(`"location":{"start":${place.start},"end":${place.end}}`), error.message);
    }
  });
}

test("what needs an index that is not there is refused", async () => {
  for (const options of [{}, { forceQueryPlan: true }]) {
    const error = await refused(container.items.query("SELECT * FROM c ORDER BY c.n, c.word", options).fetchAll(), 400);
    assert.match(error.message, /does not have a corresponding composite index/);
  }
});

test("metrics", async () => {
  const options = { populateQueryMetrics: true, populateIndexMetrics: true, maxItemCount: 100 };
  const filtered = await container.items.query("SELECT * FROM c WHERE c.n < 12", options).fetchNext();
  assert.equal(filtered.resources.length, 12);
  assert.match(filtered.indexMetrics ?? "", /\/n\/\?/);
  const metrics = filtered.queryMetrics;
  assert.ok(metrics, "query metrics came");
  for (const forced of [{}, { forceQueryPlan: true }]) {
    const { resources } = await container.items
      .query("SELECT c.n FROM c WHERE c.n < 12 ORDER BY c.n", { ...options, ...forced })
      .fetchAll();
    assert.equal(resources.length, 12);
  }
});
