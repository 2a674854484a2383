// The ways in: https and http, localhost and 127.0.0.1, accounts in the path or not, connection strings, both flavours.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";

import { generateAccountSas, TableClient, TableServiceClient } from "@azure/data-tables";

import { serve } from "../lib/fixture.mjs";
import { all, freshName, KEY, own, refused, STORAGE_ACCOUNT, STORAGE_KEY, useTables } from "../lib/tables.mjs";

const context = useTables();

const DOORS = ["cosmos", "storage"].flatMap((flavour) =>
  ["https", "http"].flatMap((scheme) =>
    ["localhost", "127.0.0.1"].flatMap((host) =>
      ["localhost", STORAGE_ACCOUNT].map((account) => ({ flavour, scheme, host, account })),
    ),
  ),
);

/** Does a bit of everything with one table, which is gone afterwards; returns the methods that went over the wire. */
async function tour(service, table, methods = []) {
  const { tableName } = table;
  const entity = (rowKey, members) => ({ partitionKey: "it's (a) key", rowKey, ...members });
  await service.createTable(tableName);
  assert.ok((await all(service.listTables())).some(({ name }) => name === tableName));
  const { etag } = await table.createEntity(entity("1", { n: 1, big: 2n ** 60n }));
  methods.length = 0;
  await table.updateEntity(entity("1", { m: 2 }), "Merge", { etag });
  const merge = methods.at(-1);
  await table.upsertEntity(entity("2", { n: 2 }), "Replace");
  await table.submitTransaction([
    ["create", entity("3", { n: 3 })],
    ["update", entity("1", { o: 3 }), "Merge"],
    ["delete", entity("2")],
  ]);
  const queryOptions = { filter: "PartitionKey eq 'it''s (a) key' and n ge 1", select: ["RowKey", "n", "big"] };
  const found = await all(table.listEntities({ queryOptions }));
  assert.deepEqual(
    found.map(({ rowKey, n, big }) => [rowKey, n, big ?? undefined]),
    [
      ["1", 1, 2n ** 60n],
      ["3", 3, undefined],
    ],
  );
  assert.deepEqual(own(await table.getEntity("it's (a) key", "1")), entity("1", { n: 1, big: 2n ** 60n, m: 2, o: 3 }));
  await table.setAccessPolicy([{ id: "reader", accessPolicy: { permission: "r" } }]);
  assert.equal((await table.getAccessPolicy())[0].id, "reader");
  await table.deleteEntity("it's (a) key", "1");
  await table.deleteTable();
  return merge;
}

for (const described of DOORS) {
  const { flavour, scheme, host, account } = described;
  const path = account === STORAGE_ACCOUNT ? `/${account}` : "/";
  test(`${scheme}://${host}${path} (${flavour})`, async () => {
    const methods = [];
    const policy = {
      name: "methods",
      sendRequest: (request, next) => {
        methods.push(request.headers.get("x-http-method") ?? request.method);
        return next(request);
      },
    };
    const additionalPolicies = [{ policy, position: "perRetry" }];
    const table = context.table(described, freshName(), { additionalPolicies });
    const merge = await tour(context.service(described), table, methods);
    // The SDK takes localhost for Cosmos, and tunnels there.
    assert.equal(merge, host === "localhost" && account === "localhost" ? "MERGE" : "PATCH");
  });
}

test("all doors lead to the same data", async (t) => {
  const table = await context.makeTable(t);
  const { etag } = await table.createEntity({ partitionKey: "p", rowKey: "r", n: 1 });
  for (const described of DOORS) {
    const other = context.table(described, table.tableName);
    assert.deepEqual(await other.getEntity("p", "r").then(own), { partitionKey: "p", rowKey: "r", n: 1 });
    assert.equal((await other.getEntity("p", "r")).etag, etag);
    assert.equal((await all(other.listEntities())).length, 1);
  }
});

test("any version of the protocol", async (t) => {
  const { tableName } = await context.makeTable(t);
  for (const version of ["2017-11-09", "2019-02-02", "2020-12-06", "2026-02-06"]) {
    const cosmos = await context
      .table("cosmos", tableName, { version })
      .upsertEntity({ partitionKey: "p", rowKey: "r" });
    assert.equal(cosmos.version, undefined);
    const storage = await context
      .table("storage", tableName, { version })
      .upsertEntity({ partitionKey: "p", rowKey: "r" });
    assert.equal(storage.version, version);
  }
});

test("http needs to be allowed", async () => {
  const door = { flavour: "cosmos", scheme: "http", host: "localhost", account: "localhost" };
  const service = context.service(door, { allowInsecureConnection: false });
  await assert.rejects(all(service.listTables()), /Cannot connect to .* while allowInsecureConnection is false/);
});

// Connection strings

const insecure = { allowInsecureConnection: true };

/** Goes through a table with both clients made of a connection string. */
async function tourOf(connection, options) {
  const table = TableClient.fromConnectionString(connection, freshName("connected"), { ...options });
  await tour(TableServiceClient.fromConnectionString(connection, { ...options }), table);
}

test("the connection string of the Cosmos emulator", async () => {
  const { port } = new URL(context.server.tables);
  const account = `DefaultEndpointsProtocol=http;AccountName=localhost;AccountKey=${KEY};`;
  await tourOf(`${account}TableEndpoint=http://localhost:${port}/;`, insecure);
  await tourOf(`${account}TableEndpoint=http://localhost:${port}`, insecure);
  const secure = account.replace("http;", "https;");
  await tourOf(`${secure}TableEndpoint=https://localhost:${port}/;`, {
    tlsOptions: { ca: context.server.certificate },
  });
});

test("the connection string of the Storage emulator", async () => {
  for (const { port } of [new URL(context.server.storageTables), new URL(context.server.tables)]) {
    const account = `DefaultEndpointsProtocol=http;AccountName=${STORAGE_ACCOUNT};AccountKey=${STORAGE_KEY};`;
    await tourOf(`${account}TableEndpoint=http://127.0.0.1:${port}/${STORAGE_ACCOUNT};`, insecure);
    await tourOf(`${account}TableEndpoint=http://localhost:${port}/${STORAGE_ACCOUNT}/;`, insecure);
  }
});

test("a connection string with a signature", async () => {
  const { url, credential } = context.door({
    flavour: "storage",
    scheme: "http",
    host: "127.0.0.1",
    account: STORAGE_ACCOUNT,
  });
  const permissions = { query: true, add: true, update: true, delete: true, list: true, write: true };
  const sas = generateAccountSas(credential, { permissions });
  const connection = `TableEndpoint=${url};SharedAccessSignature=${sas}`;
  const service = TableServiceClient.fromConnectionString(connection, { ...insecure });
  const table = TableClient.fromConnectionString(connection, freshName("signed"), { ...insecure });
  await service.createTable(table.tableName);
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  await table.submitTransaction([["upsert", { partitionKey: "p", rowKey: "r", n: 1 }]]);
  assert.equal((await table.getEntity("p", "r")).n, 1);
  await refused(table.setAccessPolicy([]), 403);
  await service.deleteTable(table.tableName);
});

/** Whether nobody listens on this port of 127.0.0.1. */
function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

test("UseDevelopmentStorage=true", async (t) => {
  if (!(await isFree(10_002))) return t.skip("somebody else has port 10002");
  await serve(t, "--storage-table-port", "10002");
  await tourOf("UseDevelopmentStorage=true");
  await tourOf("UseDevelopmentStorage=true;");
  return undefined;
});

test("a server with its own key knows the Storage emulator's account by that key alone", async (t) => {
  const own = Buffer.alloc(64, 7).toString("base64");
  const { server } = await serve(t, "--storage-table-port", "0", "--key", own);
  const endpoint = `TableEndpoint=http://127.0.0.1:${new URL(server.storageTables).port}/${STORAGE_ACCOUNT}`;
  const connection = (key) =>
    `DefaultEndpointsProtocol=http;AccountName=${STORAGE_ACCOUNT};AccountKey=${key};${endpoint}`;
  await tourOf(connection(own), insecure);
  const stranger = TableServiceClient.fromConnectionString(connection(STORAGE_KEY), { ...insecure });
  await refused(all(stranger.listTables()), 403, "AuthenticationFailed");
});
