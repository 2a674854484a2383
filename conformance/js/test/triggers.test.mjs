// Pre- and post-triggers: run with the write that names them, in its transaction, and only then.
/* global getContext */

import assert from "node:assert/strict";
import { test } from "node:test";

import { TriggerOperation, TriggerType } from "@azure/cosmos";

import { refused, useServer } from "../lib/fixture.mjs";
import { readAll, run, script, together } from "../lib/scripts.mjs";

const context = useServer();

async function addTrigger(container, id, body, triggerType = "Post", triggerOperation = "All") {
  await container.scripts.triggers.create({ id, body, triggerType, triggerOperation });
}

// A post-trigger that leaves an item with what it saw of the request and the response.
function note() {
  const collection = getContext().getCollection();
  const request = getContext().getRequest();
  const seen = { id: "note", city: "Oslo", operation: request.getOperationType() };
  seen.request = request.getBody() ?? null;
  seen.response = getContext().getResponse().getBody() || null;
  collection.upsertDocument(collection.getSelfLink(), seen);
}

test("a pre-trigger changes what is written", async (t) => {
  const container = await context.makeContainer(t);
  await addTrigger(container, "stamp", script("stamp"), TriggerType.Pre, TriggerOperation.All);
  const options = { preTriggerInclude: "stamp" };
  const body = { id: "1", city: "Oslo", name: "Ada" };
  assert.equal((await container.items.create(body, options)).resource.stampedBy, "Create");
  assert.equal((await container.items.upsert(body, options)).resource.stampedBy, "Upsert");
  const replaced = (await container.item("1", "Oslo").replace(body, options)).resource;
  assert.equal(replaced.stampedBy, "Replace");
  assert.deepEqual((await container.item("1", "Oslo").read()).resource, replaced);
  const error = await refused(container.items.create({ id: "2", city: "Oslo" }, options), 400, 4002);
  assert.match(error.message, /an item needs a name/);
  assert.equal((await readAll(container)).length, 1);
});

test("a post-trigger sees the write", async (t) => {
  const container = await context.makeContainer(t);
  await addTrigger(container, "note", note);
  const options = { postTriggerInclude: "note" };
  const noted = async () => (await container.item("note", "Oslo").read()).resource;
  const body = { id: "1", city: "Oslo", n: 1 };
  for (const [operation, write] of [
    ["Create", () => container.items.create(body, options)],
    ["Upsert", () => container.items.upsert(body, options)],
    ["Replace", () => container.item("1", "Oslo").replace(body, options)],
  ]) {
    const written = (await write()).resource;
    const { operation: seen, request, response } = await noted();
    assert.deepEqual([seen, request, response], [operation, body, written]);
  }
  await container.item("1", "Oslo").delete(options);
  assert.equal((await noted()).operation, "Delete");
  assert.deepEqual((await readAll(container)).map(({ id }) => id), ["note"]);
});

test("a failing trigger undoes the write", async (t) => {
  const container = await context.makeContainer(t);
  const { resource: kept } = await container.items.create({ id: "kept", city: "Oslo" });
  const body = () => {
    throw new Error(4711, "no");
  };
  await addTrigger(container, "no", body);
  const options = { postTriggerInclude: "no" };
  await refused(container.items.create({ id: "1", city: "Oslo" }, options), 400, 4711);
  await refused(container.items.upsert({ id: "kept", city: "Oslo", n: 1 }, options), 400, 4711);
  await refused(container.item("kept", "Oslo").replace({ id: "kept", city: "Oslo", n: 1 }, options), 400, 4711);
  await refused(container.item("kept", "Oslo").delete(options), 400, 4711);
  assert.deepEqual(await readAll(container), [kept]);
});

test("triggers run only when named", async (t) => {
  const container = await context.makeContainer(t);
  await addTrigger(container, "pre", "function () { throw new Error('ran'); }", "Pre");
  await addTrigger(container, "post", "function () { throw new Error('ran'); }", "Post");
  await container.items.create({ id: "1", city: "Oslo" });
  await container.items.upsert({ id: "1", city: "Oslo" });
  await container.item("1", "Oslo").delete();
  assert.equal(await run(container, script("import-items"), [{ id: "2", city: "Oslo" }]), 1);
});

test("unknown names, the wrong time and the wrong operation are refused", async (t) => {
  const container = await context.makeContainer(t);
  const nothing = "function () { }";
  await addTrigger(container, "pre", nothing, TriggerType.Pre, TriggerOperation.All);
  await addTrigger(container, "post", nothing, TriggerType.Post, TriggerOperation.All);
  await addTrigger(container, "on delete", nothing, TriggerType.Post, TriggerOperation.Delete);
  await addTrigger(container, "on replace", nothing, TriggerType.Post, TriggerOperation.Replace);
  const item = { id: "1", city: "Oslo" };
  for (const options of [
    { preTriggerInclude: "nobody" },
    { postTriggerInclude: "nobody" },
    { preTriggerInclude: "post" },
    { postTriggerInclude: "pre" },
    { postTriggerInclude: "on delete" },
    { postTriggerInclude: "on replace" },
    { postTriggerInclude: ["post", "on replace"] },
  ]) {
    await refused(container.items.create(item, options), 400);
  }
  assert.deepEqual(await readAll(container), []);
  await container.items.create(item, { preTriggerInclude: ["pre"], postTriggerInclude: ["post"] });
  await container.item("1", "Oslo").replace(item, { postTriggerInclude: "on replace" });
  await container.item("1", "Oslo").delete({ postTriggerInclude: "on delete" });
});

test("a register kept by a trigger is in step under many writers", async (t) => {
  const container = await context.makeContainer(t);
  await addTrigger(container, "register", script("register-item"), "Post", "Create");
  await together(16, 48, (n) =>
    container.items.create({ id: String(n), city: "Oslo" }, { postTriggerInclude: "register" }),
  );
  assert.equal((await container.item("register", "Oslo").read()).resource.written, 48);
  assert.equal((await readAll(container)).length, 49);
});

test("trimming keeps exactly its maximum under many writers", async (t) => {
  const container = await context.makeContainer(t);
  await addTrigger(container, "keep", script("keep-newest"), "Post", "Create");
  await together(16, 80, (n) => container.items.create({ id: String(n), city: "Oslo", n }, { postTriggerInclude: "keep" }));
  const left = (await readAll(container)).map(({ n }) => n).sort((a, b) => a - b);
  assert.deepEqual(left, [70, 71, 72, 73, 74, 75, 76, 77, 78, 79]);
});
