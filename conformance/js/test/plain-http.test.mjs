// The same port without TLS.

import assert from "node:assert/strict";
import { test } from "node:test";

import { useServer } from "../lib/fixture.mjs";

const context = useServer();

test("both doors lead to the same data", async (t) => {
  const container = await context.makeContainer(t);
  const { resource: created } = await container.items.create({ id: "1", city: "Oslo" });
  const client = context.connect({ endpoint: context.server.http, agent: undefined });
  const plain = client.database(context.database.id).container(container.id);
  assert.deepEqual((await plain.item("1", "Oslo").read()).resource, created);
  const { resource: replaced } = await plain.item("1", "Oslo").replace({ id: "1", city: "Oslo", n: 1 });
  assert.deepEqual((await container.item("1", "Oslo").read()).resource, replaced);
  assert.equal((await plain.readPartitionKeyRanges().fetchAll()).resources.length, 1);
  assert.equal(await client.getReadEndpoint(), context.server.http);
});
