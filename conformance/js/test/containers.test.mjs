// Containers: every policy, replacement, what cannot change, lists, names.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fresh, refused, useServer } from "../lib/fixture.mjs";

const context = useServer();

const FULL = {
  partitionKey: { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 },
  indexingPolicy: {
    indexingMode: "consistent",
    automatic: true,
    includedPaths: [{ path: "/*" }],
    excludedPaths: [{ path: "/notes/*" }, { path: "/vector/*" }, { path: '/"_etag"/?' }],
    compositeIndexes: [
      [
        { path: "/name", order: "ascending" },
        { path: "/age", order: "descending" },
      ],
    ],
    spatialIndexes: [{ path: "/place/*", types: ["Point", "LineString", "Polygon", "MultiPolygon"] }],
    vectorIndexes: [{ path: "/vector", type: "flat" }],
    fullTextIndexes: [{ path: "/text" }],
  },
  uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }, { paths: ["/first", "/last"] }] },
  defaultTtl: 3600,
  conflictResolutionPolicy: { mode: "LastWriterWins", conflictResolutionPath: "/version" },
  geospatialConfig: { type: "Geography" },
  computedProperties: [{ name: "lowerName", query: "SELECT VALUE LOWER(c.name) FROM c" }],
  vectorEmbeddingPolicy: {
    vectorEmbeddings: [{ path: "/vector", dataType: "float32", dimensions: 3, distanceFunction: "cosine" }],
  },
  fullTextPolicy: { defaultLanguage: "en-US", fullTextPaths: [{ path: "/text", language: "en-US" }] },
};

// Whether `read` says everything `sent` says; the server may add members of its own to objects.
function holds(read, sent) {
  if (Array.isArray(sent))
    return Array.isArray(read) && read.length === sent.length && sent.every((one, at) => holds(read[at], one));
  if (typeof sent === "object" && sent !== null)
    return Object.entries(sent).every(([name, value]) => holds(read?.[name], value));
  return read === sent;
}

test("a container keeps every policy it was created with", async (t) => {
  const container = await context.makeContainer(t, structuredClone(FULL));
  const { resource } = await container.read();
  for (const [name, sent] of Object.entries(FULL)) {
    assert.ok(
      holds(resource[name], sent),
      `${name}: sent ${JSON.stringify(sent)}, read ${JSON.stringify(resource[name])}`,
    );
  }
});

test("a partition key given as a bare path becomes a version 2 hash", async (t) => {
  const container = await context.makeContainer(t, { partitionKey: "/city" });
  const { resource } = await container.read();
  assert.deepEqual(resource.partitionKey, { paths: ["/city"], kind: "Hash", version: 2 });
  const definition = (await container.getPartitionKeyDefinition()).resource;
  assert.deepEqual(definition, resource.partitionKey);
});

test("a container without a partition key gets the SDK's own path", async (t) => {
  const container = await context.makeContainer(t, { partitionKey: undefined });
  assert.deepEqual((await container.read()).resource.partitionKey.paths, ["/_partitionKey"]);
});

test("a second container of a name conflicts", async (t) => {
  const container = await context.makeContainer(t);
  await refused(context.database.containers.create({ id: container.id, partitionKey: "/city" }), 409);
  const again = await context.database.containers.createIfNotExists({ id: container.id, partitionKey: "/city" });
  assert.equal(again.statusCode, 200);
});

test("a missing container is not found", async () => {
  const missing = context.database.container("no such container");
  await refused(missing.read(), 404);
  await refused(missing.delete(), 404);
});

test("replace changes the mutable parts", async (t) => {
  const container = await context.makeContainer(t);
  const { resource: before } = await container.read();
  const indexingPolicy = {
    ...before.indexingPolicy,
    includedPaths: [{ path: "/name/?" }],
    excludedPaths: [{ path: "/*" }, { path: '/"_etag"/?' }],
  };
  const { resource: after } = await container.replace({ ...before, defaultTtl: 60, indexingPolicy });
  assert.equal(after.defaultTtl, 60);
  assert.deepEqual(after.indexingPolicy, indexingPolicy);
  assert.equal(after._rid, before._rid);
  assert.notEqual(after._etag, before._etag);
  const { defaultTtl, ...withoutTtl } = after;
  const { resource: again } = await container.replace(withoutTtl);
  assert.equal(defaultTtl, 60);
  assert.ok(!("defaultTtl" in again), "what a replacement leaves out is gone");
});

for (const [name, change] of Object.entries({
  "partition key path": { partitionKey: { paths: ["/country"], kind: "Hash", version: 2 } },
  "partition key kind": { partitionKey: { paths: ["/city", "/street"], kind: "MultiHash", version: 2 } },
  "unique keys": { uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/phone"] }] } },
})) {
  test(`the ${name} cannot change`, async (t) => {
    const container = await context.makeContainer(t, { uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] } });
    const { resource: before } = await container.read();
    await refused(container.replace({ ...before, ...change }), 400);
    assert.deepEqual((await container.read()).resource, before);
  });
}

for (const [name, definition] of Object.entries({
  "an indexing mode nobody knows": { indexingPolicy: { indexingMode: "sometimes" } },
  "no root path": { indexingPolicy: { includedPaths: [{ path: "/a/?" }], excludedPaths: [] } },
  "a time to live of -2": { defaultTtl: -2 },
  "four levels of key": { partitionKey: { paths: ["/a", "/b", "/c", "/d"], kind: "MultiHash", version: 2 } },
  "a composite index of one path": {
    indexingPolicy: { includedPaths: [{ path: "/*" }], compositeIndexes: [[{ path: "/a", order: "ascending" }]] },
  },
  "a vector of an unknown type": {
    vectorEmbeddingPolicy: {
      vectorEmbeddings: [{ path: "/v", dataType: "text", dimensions: 3, distanceFunction: "cosine" }],
    },
  },
  "an unknown conflict mode": { conflictResolutionPolicy: { mode: "Fight" } },
})) {
  test(`a container with ${name} is refused`, async () => {
    const id = fresh("refused");
    await refused(context.database.containers.create({ id, partitionKey: "/city", ...definition }), 400);
    await refused(context.database.container(id).read(), 404);
  });
}

test("the list has every container, in pages", async (t) => {
  const ids = [];
  for (let n = 0; n < 5; n += 1) ids.push((await context.makeContainer(t)).id);
  const all = (await context.database.containers.readAll({ maxItemCount: 2 }).fetchAll()).resources;
  assert.ok(ids.every((id) => all.some((one) => one.id === id)));
});

for (const id of ["a b", "a+b&c=d", "Größe", "容器", "docs", "x".repeat(255)]) {
  test(`a container may be called ${id.slice(0, 20)}`, async (t) => {
    const container = await context.makeContainer(t, { id });
    await container.items.create({ id: "1", city: "Oslo" });
    assert.equal((await container.item("1", "Oslo").read()).resource.city, "Oslo");
    assert.equal((await context.database.container(id).read()).resource.id, id);
  });
}

test("a recreated container is another one", async (t) => {
  const container = await context.makeContainer(t);
  const { resource: before } = await container.read();
  await container.items.create({ id: "1", city: "Oslo" });
  await container.delete();
  await refused(container.read(), 404);
  const again = await context.makeContainer(t, { id: container.id });
  assert.notEqual((await again.read()).resource._rid, before._rid);
  assert.equal((await again.item("1", "Oslo").read()).statusCode, 404);
});
