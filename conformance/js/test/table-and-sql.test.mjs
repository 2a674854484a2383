// The same data through both SDKs: tables are containers of TablesDB, entities are items.

import assert from "node:assert/strict";
import { test } from "node:test";

import { refused as refusedBySql, withoutSystemProperties } from "../lib/fixture.mjs";
import { all, FLAVOURS, freshName, own, refused, rowsOf, useTables } from "../lib/tables.mjs";

const context = useTables();

const GUID = "c9da6455-213d-42c9-9a79-3e9149a57833";
const containerOf = (table) => context.client.database("TablesDB").container(table.tableName);
const query = async (container, text) => (await container.items.query(text).fetchAll()).resources;

for (const flavour of FLAVOURS) {
  test(`an entity is a plain item (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const container = containerOf(table);
    const { resource: definition } = await container.read();
    assert.deepEqual(definition.partitionKey, { paths: ["/PartitionKey"], kind: "Hash", version: 2 });
    await table.createEntity({
      partitionKey: "p",
      rowKey: "r",
      name: "Ann",
      age: 39,
      ratio: 3.5,
      even: { type: "Double", value: 3 },
      married: true,
      big: 1125899906842624n,
      born: new Date("1973-10-04T00:00:00Z"),
      bin: Buffer.from("binary"),
      uid: { type: "Guid", value: GUID },
      nan: { type: "Double", value: "NaN" },
    });
    const { resource } = await container.item("r", "p").read();
    assert.deepEqual(withoutSystemProperties(resource), {
      id: "r",
      PartitionKey: "p",
      RowKey: "r",
      name: "Ann",
      age: 39,
      ratio: 3.5,
      even: 3,
      married: true,
      big: 1125899906842624,
      born: "1973-10-04T00:00:00.0000000Z",
      bin: "YmluYXJ5",
      uid: GUID,
      nan: "NaN",
      $edm: { big: "Int64", born: "DateTime", bin: "Binary", uid: "Guid", nan: "Double" },
    });
    const { timestamp } = await table.getEntity("p", "r");
    assert.equal(resource._ts, Math.floor(Date.parse(timestamp) / 1000));
    assert.deepEqual(await query(container, "SELECT VALUE c.name FROM c WHERE c.age > 30 AND c.PartitionKey = 'p'"), [
      "Ann",
    ]);
    assert.deepEqual(await query(container, "SELECT VALUE c.RowKey FROM c WHERE c.born < '1980'"), ["r"]);
  });

  test(`an item with both keys is an entity (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const container = containerOf(table);
    const item = { id: "r", PartitionKey: "p", RowKey: "r", text: "x", int: 5, double: 1.5, flag: false };
    const typed = {
      big: 5,
      when: "2020-01-01T00:00:00.0000000Z",
      $edm: { big: "Int64", when: "DateTime", int: "Guid", none: "Int32" },
    };
    await container.items.create({ ...item, ...typed, list: [1], nested: { a: 1 }, nothing: null });
    const expected = { text: "x", int: 5, double: 1.5, flag: false, big: 5n, when: new Date("2020-01-01T00:00:00Z") };
    assert.deepEqual(own(await table.getEntity("p", "r")), { partitionKey: "p", rowKey: "r", ...expected });
    assert.deepEqual(await rowsOf(table, "int eq 5 and big eq 5L and when ge datetime'2020-01-01T00:00:00Z'"), ["r"]);
    // A merge leaves alone what this API does not show.
    await table.updateEntity({ partitionKey: "p", rowKey: "r", text: "y" }, "Merge");
    const { resource } = await container.item("r", "p").read();
    assert.deepEqual([resource.text, resource.list, resource.nested, resource.nothing], ["y", [1], { a: 1 }, null]);
    // Items that are no entities stay out of sight.
    await container.items.create({ id: "no row key", PartitionKey: "p" });
    await container.items.create({ id: "other", PartitionKey: "p", RowKey: "not the id" });
    await container.items.create({ id: "number", PartitionKey: "p", RowKey: 5 });
    await container.items.create({ id: "nowhere", RowKey: "nowhere" });
    assert.deepEqual(await rowsOf(table), ["r"]);
    assert.deepEqual(await rowsOf(table, "PartitionKey eq 'p'"), ["r"]);
    await refused(table.getEntity("p", "no row key"), 404, "ResourceNotFound");
  });

  test(`writes of one side are versions to the other (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const container = containerOf(table);
    const { etag } = await table.createEntity({ partitionKey: "p", rowKey: "r", n: 1 });
    const { resource: first } = await container.item("r", "p").read();
    const condition = { accessCondition: { type: "IfMatch", condition: first._etag } };
    const { resource: second } = await container.item("r", "p").replace({ ...first, n: 2 }, condition);
    await refused(table.updateEntity({ partitionKey: "p", rowKey: "r", n: 0 }, "Merge", { etag }), 412);
    const read = await table.getEntity("p", "r");
    assert.equal(read.n, 2);
    assert.ok(read.etag > etag);
    await table.updateEntity({ partitionKey: "p", rowKey: "r", n: 3 }, "Replace", { etag: read.etag });
    const stale = { accessCondition: { type: "IfMatch", condition: second._etag } };
    await refusedBySql(container.item("r", "p").replace({ ...second, n: 0 }, stale), 412);
    assert.equal((await container.item("r", "p").read()).resource.n, 3);
    await container.item("r", "p").patch([{ op: "incr", path: "/n", value: 1 }]);
    assert.equal((await table.getEntity("p", "r")).n, 4);
    await container.item("r", "p").delete();
    await refused(table.getEntity("p", "r"), 404, "ResourceNotFound");
  });
}

test("containers with the partition key /PartitionKey are tables, others are not", async (t) => {
  await context.client.databases.createIfNotExists({ id: "TablesDB" });
  const database = context.client.database("TablesDB");
  const [table, other] = [freshName("made"), freshName("made")];
  await database.containers.create({ id: table, partitionKey: { paths: ["/PartitionKey"], version: 2 } });
  await database.containers.create({ id: other, partitionKey: { paths: ["/city"], version: 2 } });
  t.after(async () => {
    for (const name of [table, other]) await database.container(name).delete();
  });
  for (const flavour of FLAVOURS) {
    const listed = (await all(context.service(flavour).listTables())).map(({ name }) => name);
    assert.ok(listed.includes(table));
    assert.ok(!listed.includes(other));
    await context.table(flavour, table).upsertEntity({ partitionKey: "p", rowKey: "r" });
    await refused(context.table(flavour, other).getEntity("p", "r"), 404);
  }
});

test("names that items use themselves, as items", async (t) => {
  const table = await context.makeTable(t);
  await table.createEntity({ partitionKey: "p", rowKey: "r", id: "mine", ttl: 1, _ts: 5 });
  const { resource } = await containerOf(table).item("r", "p").read();
  assert.equal(resource.id, "r");
  assert.equal(resource["$p:id"], "mine");
  assert.equal(resource["$p:ttl"], 1);
  assert.equal(resource["$p:_ts"], 5);
  assert.ok(resource._ts > 1_000_000_000);
});
