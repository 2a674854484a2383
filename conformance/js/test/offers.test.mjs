// Offers: found by reading all of them, since finding one by its owner is a query; changing them, also of their kind.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fresh, refused, useServer } from "../lib/fixture.mjs";

const context = useServer();

async function offerOf(owner) {
  const { resource } = await owner.read();
  const offers = (await context.client.offers.readAll().fetchAll()).resources;
  return offers.find((offer) => offer.resource === resource._self);
}

test("a container's offer says its manual throughput and can change it", async (t) => {
  const container = await context.makeContainer(t, { throughput: 1000 });
  const offer = await offerOf(container);
  assert.equal(offer.content.offerThroughput, 1000);
  assert.ok(!("offerAutopilotSettings" in offer.content));
  assert.equal(offer.offerResourceId, (await container.read()).resource._rid);
  assert.equal(offer.offerVersion, "V2");
  assert.equal(offer._self, `offers/${offer._rid}/`);

  const changed = { ...offer, content: { ...offer.content, offerThroughput: 2000 } };
  assert.equal((await context.client.offer(offer.id).replace(changed)).resource.content.offerThroughput, 2000);
  assert.equal((await context.client.offer(offer.id).read()).resource.content.offerThroughput, 2000);
  const tooLow = { ...offer, content: { ...offer.content, offerThroughput: 100 } };
  await refused(context.client.offer(offer.id).replace(tooLow), 400);
  assert.equal((await offerOf(container)).content.offerThroughput, 2000);
});

test("an autoscale offer says its maximum", async (t) => {
  const container = await context.makeContainer(t, { maxThroughput: 4000 });
  const offer = await offerOf(container);
  assert.equal(offer.content.offerAutopilotSettings.maxThroughput, 4000);
  assert.equal(offer.content.offerThroughput, 400);
});

test("a container that names no throughput has the least", async (t) => {
  const container = await context.makeContainer(t, { throughput: undefined });
  assert.equal((await offerOf(container)).content.offerThroughput, 400);
});

test("a container shares the offer of its database", async () => {
  const { database } = await context.client.databases.create({ id: fresh("database"), throughput: 1000 });
  const { container } = await database.containers.create({ id: "c", partitionKey: "/city" });
  assert.equal((await offerOf(database)).content.offerThroughput, 1000);
  assert.equal(await offerOf(container), undefined);
  const { container: own } = await database.containers.create({ id: "own", partitionKey: "/city", throughput: 500 });
  assert.equal((await offerOf(own)).content.offerThroughput, 500);
});

test("manual throughput becomes autoscale and back", async (t) => {
  const container = await context.makeContainer(t, { throughput: 1500 });
  const migrate = async (header) => {
    const offer = await offerOf(container);
    const options = { initialHeaders: { [header]: "true" } };
    const { headers } = await context.client.offer(offer.id).replace(offer, options);
    assert.equal(headers["x-ms-offer-replace-pending"], "false");
    return (await offerOf(container)).content;
  };
  const automatic = await migrate("x-ms-cosmos-migrate-offer-to-autopilot");
  assert.deepEqual([automatic.offerAutopilotSettings.maxThroughput, automatic.offerThroughput], [2000, 200]);
  const manual = await migrate("x-ms-cosmos-migrate-offer-to-manual-throughput");
  assert.deepEqual([manual.offerAutopilotSettings, manual.offerThroughput], [undefined, 2000]);
});

test("an offer goes with its owner", async (t) => {
  const container = await context.makeContainer(t);
  const offer = await offerOf(container);
  await container.delete();
  await refused(context.client.offer(offer.id).read(), 404);
});
