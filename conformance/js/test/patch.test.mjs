// Patch: every operation and what is refused.

import assert from "node:assert/strict";
import { test } from "node:test";

import { refused, useServer, withoutSystemProperties } from "../lib/fixture.mjs";

const context = useServer();

const GOOD = [
  ["add a member", {}, [{ op: "add", path: "/a", value: 1 }], { a: 1 }],
  ["add at a position", { a: [1, 2] }, [{ op: "add", path: "/a/1", value: 0 }], { a: [1, 0, 2] }],
  ["append", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
  ["set an element", { a: [1, 2] }, [{ op: "set", path: "/a/1", value: 0 }], { a: [1, 0] }],
  ["replace", { a: 1 }, [{ op: "replace", path: "/a", value: { b: 2 } }], { a: { b: 2 } }],
  ["remove", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
  ["increment", { a: 1 }, [{ op: "incr", path: "/a", value: 1.5 }], { a: 2.5 }],
  ["increment what is missing", {}, [{ op: "incr", path: "/a", value: 2 }], { a: 2 }],
  ["move", { a: 1 }, [{ op: "move", from: "/a", path: "/b" }], { b: 1 }],
  ["escaped names", {}, [{ op: "set", path: "/a~1b~0c", value: 1 }], { "a/b~c": 1 }],
  [
    "several in order",
    { a: [] },
    [
      { op: "add", path: "/a/-", value: 1 },
      { op: "incr", path: "/a/0", value: 1 },
    ],
    { a: [2] },
  ],
];

for (const [name, before, operations, after] of GOOD) {
  test(name, async (t) => {
    const container = await context.makeContainer(t);
    await container.items.create({ id: "1", city: "Oslo", ...before });
    const item = container.item("1", "Oslo");
    const { resource, statusCode } = await item.patch({ operations });
    assert.equal(statusCode, 200);
    assert.deepEqual(withoutSystemProperties(resource), { id: "1", city: "Oslo", ...after });
    assert.deepEqual((await item.read()).resource, resource);
  });
}

test("a bare array of operations is the same", async (t) => {
  const container = await context.makeContainer(t);
  await container.items.create({ id: "1", city: "Oslo" });
  const { resource } = await container.item("1", "Oslo").patch([{ op: "add", path: "/n", value: 1 }]);
  assert.equal(resource.n, 1);
});

const BAD = [
  ["replace what is missing", [{ op: "replace", path: "/x", value: 1 }]],
  ["remove what is missing", [{ op: "remove", path: "/x" }]],
  ["add below nothing", [{ op: "add", path: "/x/y", value: 1 }]],
  ["add past the end", [{ op: "add", path: "/list/4", value: 1 }]],
  ["increment text", [{ op: "incr", path: "/text", value: 1 }]],
  ["change the id", [{ op: "set", path: "/id", value: "2" }]],
  ["change the partition key", [{ op: "set", path: "/city", value: "Bergen" }]],
  ["change the etag", [{ op: "set", path: "/_etag", value: "x" }]],
  ["eleven operations", Array(11).fill({ op: "incr", path: "/n", value: 1 })],
  ["nothing", []],
  [
    "a good one, then a bad one",
    [
      { op: "set", path: "/n", value: 9 },
      { op: "remove", path: "/x" },
    ],
  ],
];

for (const [name, operations] of BAD) {
  test(`${name}: refused, nothing changed`, async (t) => {
    const container = await context.makeContainer(t);
    const { resource: before } = await container.items.create({
      id: "1",
      city: "Oslo",
      n: 1,
      text: "x",
      list: [1, 2, 3],
    });
    const item = container.item("1", "Oslo");
    await refused(item.patch({ operations }), 400);
    assert.deepEqual((await item.read()).resource, before);
  });
}

test("a condition decides whether a patch applies", async (t) => {
  const container = await context.makeContainer(t);
  await container.items.create({ id: "1", city: "Oslo", n: 1 });
  const item = container.item("1", "Oslo");
  const operations = [{ op: "incr", path: "/n", value: 1 }];
  const condition = "FROM c WHERE c.n = 1";
  assert.equal((await item.patch({ condition, operations })).resource.n, 2);
  await refused(item.patch({ condition, operations }), 412);
  await refused(item.patch({ condition: "FROM c WHERE", operations }), 400);
});
