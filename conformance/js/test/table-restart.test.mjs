// What tables hold outlives the process: entities, their etags, policies, properties.

import assert from "node:assert/strict";
import { test } from "node:test";

import { AzureSASCredential, generateTableSas, TableClient, TableServiceClient } from "@azure/data-tables";

import { makeFolder, Server } from "../lib/server.mjs";
import { all, door } from "../lib/tables.mjs";

test("killed and started again", async (t) => {
  const folder = await makeFolder();
  t.after(() => folder.remove());
  const start = async () => {
    const server = await Server.start(folder.path, "--storage-table-port", "0");
    const { url, credential, options } = door(server, "storage");
    const table = new TableClient(url, "kept", credential, options);
    return { server, table, service: new TableServiceClient(url, credential, options), credential, url, options };
  };

  const first = await start();
  await first.table.createTable();
  await first.table.createEntity({ partitionKey: "p", rowKey: "single", n: 1, big: 2n ** 60n });
  const rows = Array.from({ length: 20 }, (_, n) => ["create", { partitionKey: "p", rowKey: `row ${n}`, n }]);
  await first.table.submitTransaction(rows);
  const expiry = new Date(Date.now() + 3_600_000);
  await first.table.setAccessPolicy([{ id: "reader", accessPolicy: { permission: "r", expiry } }]);
  await first.service.setProperties({
    minuteMetrics: { enabled: true, version: "1.0", includeAPIs: false, retentionPolicy: { enabled: false } },
  });
  const before = await all(first.table.listEntities());
  assert.equal(before.length, 21);
  await first.server.stop("SIGKILL");

  const second = await start();
  assert.deepEqual(await all(second.table.listEntities()), before);
  const { etag } = before.find(({ rowKey }) => rowKey === "single");
  const { etag: later } = await second.table.updateEntity({ partitionKey: "p", rowKey: "single", n: 2 }, "Merge", {
    etag,
  });
  assert.ok(later > etag);
  const sas = generateTableSas("kept", second.credential, { identifier: "reader" });
  const reader = new TableClient(second.url, "kept", new AzureSASCredential(sas), second.options);
  assert.equal((await reader.getEntity("p", "single")).n, 2);
  assert.equal((await second.service.getProperties()).minuteMetrics.enabled, true);
  assert.equal(await second.server.stop(), 0);
  assert.deepEqual(second.server.complaints(), []);
});
