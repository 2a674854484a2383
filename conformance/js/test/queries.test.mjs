// Queries as applications write them first: one partition, all partitions, other resources.

import assert from "node:assert/strict";
import { test } from "node:test";

import { refused, useServer } from "../lib/fixture.mjs";

const context = useServer();
const CITIES = ["Oslo", "Rome", "Lima"];

async function filled(t) {
  const container = await context.makeContainer(t);
  for (let n = 0; n < 9; n++) await container.items.create({ id: String(n), city: CITIES[n % 3], n });
  return container;
}

test("a query of one logical partition", async (t) => {
  const container = await filled(t);
  const query = { query: "SELECT VALUE c.n FROM c WHERE c.n > @n", parameters: [{ name: "@n", value: 0 }] };
  assert.deepEqual((await container.items.query(query, { partitionKey: "Oslo" }).fetchAll()).resources, [3, 6]);
});

test("a query across partitions", async (t) => {
  const container = await filled(t);
  const all = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const found = await container.items.query("SELECT VALUE c.n FROM c ORDER BY c.n").fetchAll();
  assert.deepEqual(found.resources, all);
  const backwards = container.items.query("SELECT VALUE c.n FROM c ORDER BY c.n DESC", { forceQueryPlan: true });
  assert.deepEqual((await backwards.fetchAll()).resources, all.toReversed());
});

test("reading all items, which this SDK does by a query", async (t) => {
  const container = await filled(t);
  assert.equal((await container.items.readAll().fetchAll()).resources.length, 9);
});

test("a query of databases and of containers", async (t) => {
  const container = await filled(t);
  const found = await container.database.containers.query(`SELECT * FROM c WHERE c.id = "${container.id}"`).fetchAll();
  assert.deepEqual(found.resources.map((one) => one.id), [container.id]);
  const { id } = container.database;
  const databases = await context.client.databases.query(`SELECT VALUE c.id FROM c WHERE c.id = "${id}"`).fetchAll();
  assert.deepEqual(databases.resources, [id]);
});

test("offers, which this SDK finds by a query", async (t) => {
  const container = await context.makeContainer(t, { throughput: 1000 });
  const { resource } = await container.readOffer();
  assert.equal(resource.content.offerThroughput, 1000);
});

test("a wrong query is refused with the place", async (t) => {
  const container = await filled(t);
  const error = await refused(container.items.query("SELECT * FORM c", { partitionKey: "Oslo" }).fetchAll(), 400);
  assert.match(error.message, /SC1001/);
});

test("metrics of a query and of its indexes", async (t) => {
  const container = await filled(t);
  const options = { partitionKey: "Oslo", populateQueryMetrics: true, populateIndexMetrics: true };
  const page = await container.items.query("SELECT * FROM c WHERE c.n > 1", options).fetchNext();
  assert.equal(page.resources.length, 2);
  assert.match(page.indexMetrics ?? "", /\/n\/\?/);
});
