// Tables as a whole: verbs, lists, names, throughput, and the properties and statistics of the service.

import assert from "node:assert/strict";
import { test } from "node:test";

import { KnownGeoReplicationStatusType, odata } from "@azure/data-tables";

import { all, FLAVOURS, freshName, pages, refused, useTables, withThroughput } from "../lib/tables.mjs";

const context = useTables();

const names = async (list) => (await all(list)).map(({ name }) => name).sort();

/** Makes tables that are gone after the test. */
async function make(t, service, ...tables) {
  for (const table of tables) await service.createTable(table);
  t.after(async () => {
    for (const table of tables) await service.deleteTable(table);
  });
}

for (const flavour of FLAVOURS) {
  test(`tables are made, listed and deleted (${flavour})`, async () => {
    const service = context.service(flavour);
    const made = [freshName(), freshName(), freshName()];
    const answers = [];
    for (const name of made) await service.createTable(name, { onResponse: ({ status }) => answers.push(status) });
    assert.deepEqual(await names(service.listTables()), [...made].sort());
    await service.deleteTable(made[0], { onResponse: ({ status }) => answers.push(status) });
    assert.deepEqual(await names(service.listTables()), made.slice(1).sort());
    await context.table(flavour, made[1]).deleteTable();
    await context.table(flavour, made[2]).deleteTable();
    assert.deepEqual(await names(service.listTables()), []);
    assert.deepEqual(answers, [201, 201, 201, 204]);
  });

  test(`making a table twice and deleting it twice are no errors to the SDK (${flavour})`, async () => {
    const service = context.service(flavour);
    const table = context.table(flavour, freshName());
    const answers = [];
    const onResponse = ({ status, parsedBody }) => answers.push([status, parsedBody?.odataError?.code]);
    await table.createTable();
    await table.createEntity({ partitionKey: "p", rowKey: "r" });
    await table.createTable({ onResponse });
    assert.ok(answers.length > 0 && answers.every(([status]) => status === 409));
    assert.equal(answers[0][1], "TableAlreadyExists");
    await service.createTable(table.tableName);
    assert.equal((await table.getEntity("p", "r")).rowKey, "r");
    await service.deleteTable(table.tableName);
    answers.length = 0;
    await service.deleteTable(table.tableName, { onResponse });
    await table.deleteTable({ onResponse });
    assert.deepEqual(
      answers.map(([status]) => status),
      [404, 404],
    );
  });

  test(`a table made again starts empty (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity({ partitionKey: "p", rowKey: "r" });
    await table.setAccessPolicy([{ id: "reader", accessPolicy: { permission: "r" } }]);
    await table.deleteTable();
    await refused(table.getEntity("p", "r"), 404, { cosmos: "ResourceNotFound", storage: "TableNotFound" }[flavour]);
    await table.createTable();
    assert.deepEqual(await all(table.listEntities()), []);
    assert.deepEqual([...(await table.getAccessPolicy())], []);
  });

  test(`lists of tables by page, by filter, and taken up again (${flavour})`, async (t) => {
    const service = context.service(flavour);
    const made = ["A", "B", "C", "D", "E"].map((letter) => `paged${letter}`);
    await make(t, service, ...made, "other");
    const queryOptions = { filter: odata`TableName ge ${"paged"} and TableName lt ${"pagee"}` };
    assert.deepEqual(await names(service.listTables({ queryOptions })), made);
    const paged = await pages(service.listTables({ queryOptions }), { maxPageSize: 2 });
    assert.deepEqual(
      paged
        .flat()
        .map(({ name }) => name)
        .sort(),
      made,
    );
    assert.ok(
      paged.every((page) => page.length <= 2),
      paged.map((page) => page.length).join(),
    );
    const { continuationToken } = paged[0];
    assert.ok(continuationToken);
    const rest = await pages(context.service(flavour).listTables({ queryOptions }), {
      maxPageSize: 2,
      continuationToken,
    });
    assert.deepEqual(rest.flat(), paged.slice(1).flat());
    assert.equal(paged.at(-1).continuationToken, undefined);
    for (const [filter, expected] of [
      [odata`TableName eq ${"pagedC"}`, ["pagedC"]],
      ["TableName eq 'nothing'", []],
      ["TableName gt 'pagedC' and TableName le 'pagedE'", ["pagedD", "pagedE"]],
      ["TableName eq 'pagedA' or TableName eq 'other'", ["other", "pagedA"]],
      ["not (TableName lt 'pagedE')", ["pagedE"]],
      ["TableName ne 'other'", made],
    ]) {
      assert.deepEqual(await names(service.listTables({ queryOptions: { filter } })), expected, filter);
    }
    await refused(all(service.listTables({ queryOptions: { filter: "TableName like 'x'" } })), 400, "InvalidInput");
  });
}

// Names

test("names that Cosmos takes", async (t) => {
  const service = context.service("cosmos");
  const good = ["a", "under_score", "with-dash", "1digit", "größe", "表", "with space inside", "x".repeat(254)];
  await make(t, service, ...good);
  assert.deepEqual(await names(service.listTables()), [...good].sort());
  for (const name of good) {
    const table = context.table("cosmos", name);
    await table.createEntity({ partitionKey: "p", rowKey: "r", name });
    assert.equal((await table.getEntity("p", "r")).name, name);
    assert.equal((await all(table.listEntities())).length, 1);
  }
});

test("names that Cosmos refuses", async () => {
  const service = context.service("cosmos");
  for (const [name, code] of [
    ["a/b", "InvalidInput"],
    ["a\\b", "InvalidInput"],
    ["a#b", "InvalidInput"],
    ["a?b", "InvalidInput"],
    ["a ", "InvalidInput"],
    ["x".repeat(255), "BadRequest"],
    ["", ["BadRequest", "InvalidInput"]],
  ]) {
    await refused(service.createTable(name), 400, code);
  }
});

test("case distinguishes tables of Cosmos, not of Storage", async (t) => {
  const cosmos = context.service("cosmos");
  await make(t, cosmos, "Letters", "letters");
  assert.deepEqual(await names(cosmos.listTables()), ["Letters", "letters"]);

  const storage = context.service("storage");
  const statuses = [];
  await make(t, storage, "Cases");
  await storage.createTable("cASES", { onResponse: ({ status }) => statuses.push(status) });
  assert.ok(statuses.every((status) => status === 409) && statuses.length > 0);
  await context.table("storage", "CASES").createEntity({ partitionKey: "p", rowKey: "r" });
  assert.equal((await context.table("storage", "cases").getEntity("p", "r")).rowKey, "r");
  assert.ok((await names(storage.listTables())).includes("Cases"));
  await context.table("storage", "cases").deleteTable();
  assert.ok(!(await names(storage.listTables())).includes("Cases"));
});

test("names that Storage refuses", async () => {
  const service = context.service("storage");
  for (const [name, code] of [
    ["ab", "OutOfRangeInput"],
    ["x".repeat(64), "OutOfRangeInput"],
    ["1abc", "InvalidResourceName"],
    ["under_score", "InvalidResourceName"],
    ["with-dash", "InvalidResourceName"],
    ["größe", "InvalidResourceName"],
  ]) {
    await refused(service.createTable(name), 400, code);
  }
  await service.createTable("x".repeat(63));
  await service.deleteTable("x".repeat(63));
});

test("throughput is given when the table is created", async (t) => {
  const service = context.service("cosmos");
  const container = (name) => context.client.database("TablesDB").container(name);
  const offer = async (name) => (await container(name).readOffer()).resource.content;
  const [plain, fixed, autoscale] = [freshName(), freshName(), freshName()];
  t.after(async () => {
    for (const name of [plain, fixed, autoscale]) await service.deleteTable(name);
  });
  await service.createTable(plain);
  assert.equal((await offer(plain)).offerThroughput, 400);
  await service.createTable(fixed, withThroughput(1200));
  assert.equal((await offer(fixed)).offerThroughput, 1200);
  const customHeaders = { "x-ms-cosmos-offer-autopilot-settings": JSON.stringify({ maxThroughput: 4000 }) };
  await service.createTable(autoscale, { requestOptions: { customHeaders } });
  assert.equal((await offer(autoscale)).offerAutopilotSettings.maxThroughput, 4000);
  await refused(service.createTable(freshName(), withThroughput(1)), 400);
});

// Properties and statistics

const logging = { version: "1.0", read: true, write: false, delete: true, retentionPolicy: { enabled: true, days: 5 } };
const hourMetrics = { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: { enabled: true, days: 3 } };
const minuteMetrics = { version: "1.0", enabled: false, retentionPolicy: { enabled: false } };
const rule = {
  allowedOrigins: "http://www.example.com,*",
  allowedMethods: "GET,PUT",
  allowedHeaders: "x-ms-meta-data*",
  exposedHeaders: "x-ms-meta-*",
  maxAgeInSeconds: 500,
};

test("service properties are kept (storage)", async (t) => {
  const service = context.service("storage");
  const before = await service.getProperties();
  t.after(() => service.setProperties({ cors: [], logging: before.logging, hourMetrics: before.hourMetrics }));
  assert.deepEqual(before.cors ?? [], []);
  assert.equal(typeof before.logging.read, "boolean");
  const answer = await service.setProperties({ logging, hourMetrics, minuteMetrics, cors: [rule] });
  assert.ok(answer.requestId && answer.clientRequestId && answer.version);
  const after = await service.getProperties();
  assert.deepEqual(after.logging, logging);
  assert.deepEqual(after.hourMetrics, hourMetrics);
  assert.equal(after.minuteMetrics.enabled, false);
  assert.deepEqual(after.cors, [rule]);
  // What is left out stays.
  await service.setProperties({ cors: [] });
  assert.deepEqual((await service.getProperties()).cors ?? [], []);
  assert.deepEqual((await service.getProperties()).logging, logging);
});

test("service properties have limits (storage)", async () => {
  const service = context.service("storage");
  await refused(service.setProperties({ cors: Array(6).fill(rule) }), 400, "InvalidXmlDocument");
  const tooLong = { ...logging, retentionPolicy: { enabled: true, days: 366 } };
  await refused(service.setProperties({ logging: tooLong }), 400, "InvalidXmlDocument");
});

test("statistics of the service (storage)", async () => {
  const service = context.service({
    flavour: "storage",
    scheme: "https",
    host: "localhost",
    account: "devstoreaccount1",
  });
  const statistics = await service.getStatistics();
  assert.equal(statistics.geoReplication.status, KnownGeoReplicationStatusType.Live);
  assert.ok(Math.abs(statistics.geoReplication.lastSyncTime - Date.now()) < 60_000);
});

test("Cosmos has neither properties nor statistics", async () => {
  const service = context.service("cosmos");
  await refused(service.getProperties(), 501, "NotImplemented");
  await refused(service.setProperties({ cors: [] }), 501, "NotImplemented");
  await refused(service.getStatistics(), 501, "NotImplemented");
});
