// Deleting all items of a logical partition.

import assert from "node:assert/strict";
import { test } from "node:test";

import { useServer } from "../lib/fixture.mjs";

const context = useServer();

test("deleting all items of a key", async (t) => {
  const container = await context.makeContainer(t);
  for (const [id, city] of [
    ["1", "Oslo"],
    ["2", "Oslo"],
    ["3", "Rome"],
  ])
    await container.items.create({ id, city });
  assert.equal((await container.deleteAllItemsForPartitionKey("Oslo")).statusCode, 200);
  const { resources } = await container.items.readAll().fetchAll();
  assert.deepEqual(
    resources.map(({ id }) => id),
    ["3"],
  );
});
