// Items: create, read, replace, upsert, delete, fidelity, ids, unique keys, limits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { refused, useServer, withoutSystemProperties } from "../lib/fixture.mjs";

const context = useServer();

test("an item lives through every verb", async (t) => {
  const container = await context.makeContainer(t);
  const body = { id: "1", city: "Oslo", people: 709037 };
  const created = await container.items.create(body);
  assert.equal(created.statusCode, 201);
  assert.deepEqual(withoutSystemProperties(created.resource), body);
  assert.equal(created.etag, created.resource._etag);

  const item = container.item("1", "Oslo");
  const read = await item.read();
  assert.equal(read.statusCode, 200);
  assert.deepEqual(read.resource, created.resource);

  const replaced = await item.replace({ ...body, people: 1 });
  assert.equal(replaced.statusCode, 200);
  assert.equal(replaced.resource._rid, created.resource._rid);
  assert.notEqual(replaced.etag, created.etag);

  const upserted = await container.items.upsert({ ...body, people: 2 });
  assert.equal(upserted.statusCode, 200);
  const inserted = await container.items.upsert({ ...body, id: "2" });
  assert.equal(inserted.statusCode, 201);

  assert.equal((await item.delete()).statusCode, 204);
  const gone = await item.read();
  assert.equal(gone.statusCode, 404);
  assert.equal(gone.resource, undefined);
});

test("conflicts and missing items have their codes", async (t) => {
  const container = await context.makeContainer(t);
  await container.items.create({ id: "1", city: "Oslo" });
  const conflict = await refused(container.items.create({ id: "1", city: "Oslo" }), 409);
  assert.equal(conflict.body.code, "Conflict");
  assert.ok(conflict.headers["x-ms-session-token"]);
  await refused(container.item("no", "Oslo").replace({ id: "no", city: "Oslo" }), 404);
  await refused(container.item("no", "Oslo").delete(), 404);
  await refused(container.item("no", "Oslo").patch([{ op: "set", path: "/n", value: 1 }]), 404);
});

test("the SDK makes an id unless told not to", async (t) => {
  const container = await context.makeContainer(t);
  const { resource } = await container.items.create({ city: "Oslo" });
  assert.match(resource.id, /^[0-9a-f-]{36}$/);
  await refused(container.items.create({ city: "Oslo" }, { disableAutomaticIdGeneration: true }), 400);
});

const IDS = [
  "a b",
  "100%",
  "%20",
  "a+b",
  "a&b=c",
  "it's",
  'say "hi"',
  "é",
  "日本語",
  "😀",
  "(x)[y]{z}",
  "docs",
  "a@b:c;d,e",
];
for (const id of IDS) {
  test(`an item may be called ${id}`, async (t) => {
    const container = await context.makeContainer(t);
    await container.items.create({ id, city: id });
    const item = container.item(id, id);
    assert.equal((await item.read()).resource?.id, id);
    assert.equal((await item.replace({ id, city: id, n: 1 })).resource.n, 1);
    assert.equal((await item.patch([{ op: "incr", path: "/n", value: 1 }])).resource.n, 2);
    assert.equal((await item.delete()).statusCode, 204);
    assert.equal((await item.read()).statusCode, 404);
  });
}

test("order, numbers and text are kept", async (t) => {
  const container = await context.makeContainer(t);
  const body = {
    zulu: Number.MAX_SAFE_INTEGER,
    id: "1",
    alpha: [0.1, -0.5, 5e-324, 1.7976931348623157e308, 1e21, Number.MIN_SAFE_INTEGER, 0],
    city: "Oslo",
    text: '\u0000\u001f"\\/\u2028\u2029\ufeff 日本語 😀',
    nested: { z: null, a: [[], {}, [true, false]], "": "" },
  };
  await container.items.create(structuredClone(body));
  const { resource } = await container.item("1", "Oslo").read();
  assert.equal(JSON.stringify(withoutSystemProperties(resource)), JSON.stringify(body));
});

test("unique keys hold inside a logical partition", async (t) => {
  const container = await context.makeContainer(t, { uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] } });
  await container.items.create({ id: "1", city: "Oslo", email: "a@x" });
  const error = await refused(container.items.create({ id: "2", city: "Oslo", email: "a@x" }), 409);
  assert.match(error.message, /unique/i);
  assert.equal((await container.items.create({ id: "2", city: "Bergen", email: "a@x" })).statusCode, 201);
});

test("an item of more than two megabytes is too large", async (t) => {
  const container = await context.makeContainer(t);
  const error = await refused(
    container.items.create({ id: "1", city: "Oslo", text: "x".repeat(2 * 1024 * 1024) }),
    413,
  );
  assert.equal(error.body.code, "RequestEntityTooLarge");
});

test("conditional writes and reads follow the etag", async (t) => {
  const container = await context.makeContainer(t);
  const { resource: first } = await container.items.create({ id: "1", city: "Oslo", n: 0 });
  const item = container.item("1", "Oslo");
  const ifMatch = { accessCondition: { type: "IfMatch", condition: first._etag } };

  const unchanged = await item.read({ accessCondition: { type: "IfNoneMatch", condition: first._etag } });
  assert.equal(unchanged.statusCode, 304);
  assert.equal(unchanged.etag, first._etag);

  const { resource: second } = await item.replace({ ...first, n: 1 }, ifMatch);
  await refused(item.replace({ ...first, n: 2 }, ifMatch), 412);
  await refused(item.patch([{ op: "set", path: "/n", value: 2 }], ifMatch), 412);
  await refused(item.delete(ifMatch), 412);
  await refused(container.items.upsert({ id: "1", city: "Oslo", n: 2 }, ifMatch), 412);
  await refused(
    container.items.upsert({ id: "1", city: "Oslo" }, { accessCondition: { type: "IfNoneMatch", condition: "*" } }),
    412,
  );

  const changed = await item.read({ accessCondition: { type: "IfNoneMatch", condition: first._etag } });
  assert.deepEqual(changed.resource, second);
});

test("one of sixteen replacements wins each round", async (t) => {
  const container = await context.makeContainer(t);
  let { resource: current } = await container.items.create({ id: "1", city: "Oslo", round: -1 });
  const item = container.item("1", "Oslo");
  for (let round = 0; round < 20; round += 1) {
    const accessCondition = { type: "IfMatch", condition: current._etag };
    const outcomes = await Promise.allSettled(
      [...Array(16).keys()].map((writer) =>
        item.replace({ id: "1", city: "Oslo", round, writer }, { accessCondition }),
      ),
    );
    const winners = outcomes.filter((one) => one.status === "fulfilled");
    const losers = outcomes.filter((one) => one.status === "rejected" && one.reason.code === 412);
    assert.deepEqual([winners.length, losers.length], [1, 15]);
    current = (await item.read()).resource;
    assert.deepEqual(current, winners[0].value.resource);
  }
});
