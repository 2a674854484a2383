// The account document, credentials, and the certificate.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CosmosClient } from "@azure/cosmos";

import { refused, useServer } from "../lib/fixture.mjs";
import { KEY } from "../lib/server.mjs";

const context = useServer();

test("the account names the endpoint the caller used", async () => {
  const { resource } = await context.client.getDatabaseAccount();
  assert.deepEqual(
    resource.writableLocations.map((place) => place.databaseAccountEndpoint),
    [context.server.https],
  );
  assert.equal(resource.consistencyPolicy, "Session");
  assert.equal(await context.client.getWriteEndpoint(), context.server.https);
  assert.equal(await context.client.getReadEndpoint(), context.server.https);
});

test("a connection string opens a client", async () => {
  const connectionString = `AccountEndpoint=${context.server.https};AccountKey=${KEY};`;
  const client = context.connect({ connectionString });
  assert.ok((await client.getDatabaseAccount()).resource.readableLocations.length > 0);
});

test("a wrong key is unauthorized", async () => {
  const client = context.connect({ key: `${KEY.slice(0, -4)}AA==` });
  const error = await refused(client.databases.readAll().fetchAll(), 401);
  assert.equal(error.body.code, "Unauthorized");
});

test("a client that does not trust the certificate does not connect", async () => {
  const client = new CosmosClient({
    endpoint: context.server.https,
    key: KEY,
    connectionPolicy: { enableBackgroundEndpointRefreshing: false, enableEndpointDiscovery: false },
  });
  await assert.rejects(client.databases.readAll().fetchAll(), /self.signed|certificate/i);
  client.dispose();
});
