// What is not implemented yet: the server says so with 501, and the day it stops saying so these tests fail.

import { test } from "node:test";

import { notYet, useServer } from "../lib/fixture.mjs";

const context = useServer();

test("deleting all items of a key", async (t) => {
  const container = await context.makeContainer(t);
  await notYet(container.deleteAllItemsForPartitionKey("Oslo"));
});
