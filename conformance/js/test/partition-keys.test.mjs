// Partition keys of every kind.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PartitionKeyBuilder } from "@azure/cosmos";

import { refused, useServer, withoutSystemProperties } from "../lib/fixture.mjs";

const context = useServer();

const VALUES = {
  text: "Oslo",
  empty: "",
  unicode: "Ålesund 😀",
  integer: 42,
  fraction: -0.5,
  true: true,
  false: false,
  null: null,
  missing: undefined,
};

for (const [name, value] of Object.entries(VALUES)) {
  test(`a key that is ${name}`, async (t) => {
    const container = await context.makeContainer(t);
    const body = value === undefined ? { id: "1" } : { id: "1", city: value };
    await container.items.create({ ...body });
    const item = container.item("1", value);
    assert.deepEqual(withoutSystemProperties((await item.read()).resource), body);
    assert.equal((await item.replace({ ...body, n: 1 })).resource.n, 1);
    assert.equal((await container.items.upsert({ ...body, n: 2 })).statusCode, 200);
    assert.equal((await item.patch([{ op: "incr", path: "/n", value: 1 }])).resource.n, 3);
    assert.equal((await item.delete()).statusCode, 204);
    assert.equal((await item.read()).statusCode, 404);
  });
}

test("one id lives once under each key", async (t) => {
  const container = await context.makeContainer(t);
  for (const [name, value] of Object.entries(VALUES)) {
    await container.items.create(value === undefined ? { id: "1", name } : { id: "1", city: value, name });
  }
  for (const [name, value] of Object.entries(VALUES)) {
    assert.equal((await container.item("1", value).read()).resource.name, name);
  }
});

test("a key along a nested path", async (t) => {
  const container = await context.makeContainer(t, {
    partitionKey: { paths: ['/address/"postal code"'], kind: "Hash", version: 2 },
  });
  await container.items.create({ id: "1", address: { "postal code": 150 } });
  assert.equal((await container.item("1", 150).read()).statusCode, 200);
});

const LEVELS = { paths: ["/tenant", "/user", "/session"], kind: "MultiHash", version: 2 };

for (const [name, body, key] of [
  ["text", { tenant: "t", user: "u", session: "s" }, ["t", "u", "s"]],
  ["mixed", { tenant: "t", user: 5, session: true }, ["t", 5, true]],
  [
    "null",
    { tenant: "t", user: null, session: "s" },
    new PartitionKeyBuilder().addValue("t").addNullValue().addValue("s").build(),
  ],
  [
    "missing",
    { tenant: "t", session: "s" },
    new PartitionKeyBuilder().addValue("t").addNoneValue().addValue("s").build(),
  ],
]) {
  test(`a hierarchical key, ${name}`, async (t) => {
    const container = await context.makeContainer(t, { partitionKey: structuredClone(LEVELS) });
    await container.items.create({ id: "1", ...body });
    const item = container.item("1", key);
    assert.deepEqual(withoutSystemProperties((await item.read()).resource), { id: "1", ...body });
    assert.equal((await item.replace({ id: "1", ...body, n: 1 })).resource.n, 1);
    assert.equal((await item.delete()).statusCode, 204);
  });
}

test("a key other than the item's is a mismatch", async (t) => {
  const container = await context.makeContainer(t);
  await container.items.create({ id: "1", city: "Oslo" });
  await refused(container.item("1", "Oslo").replace({ id: "1", city: "Bergen" }), 400, 1001);
});

test("a prefix of a hierarchical key names no item", async (t) => {
  const container = await context.makeContainer(t, { partitionKey: structuredClone(LEVELS) });
  await container.items.create({ id: "1", tenant: "t", user: "u", session: "s" });
  await refused(container.item("1", ["t", "u"]).read(), 400);
});
