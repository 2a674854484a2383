// Transactions of many clients at once end as if they had come one after the other.

import assert from "node:assert/strict";
import { test } from "node:test";

import { useServer } from "../lib/fixture.mjs";
import { register, script, together } from "../lib/scripts.mjs";

const context = useServer();

const CLIENTS = 16;
const INCREMENTS = 1_000;
const ROUNDS = 5;

/** Opens the container with clients that share nothing, and returns one function that calls a procedure by each. */
async function callers(container, ...bodies) {
  const ids = [];
  for (const body of bodies) ids.push((await register(container, body)).storedProcedure.id);
  const containers = Array.from({ length: CLIENTS }, () =>
    context.connect().database(context.database.id).container(container.id),
  );
  return (n, procedure, ...args) =>
    containers[n % CLIENTS].scripts
      .storedProcedure(ids[procedure])
      .execute("Oslo", args)
      .then(({ resource }) => resource);
}

test("two procedures count to the exact sum", async (t) => {
  const container = await context.makeContainer(t);
  await container.items.create({ id: "counter", city: "Oslo", n: 0 });
  const call = await callers(container, script("increment-by-link"), script("increment-by-query"));
  const seen = await together(CLIENTS, 2 * INCREMENTS, (n) => call(n, n % 2, "counter"));
  seen.sort((a, b) => a - b);
  assert.deepEqual(seen, Array.from({ length: 2 * INCREMENTS }, (_, n) => n + 1));
  assert.equal((await container.item("counter", "Oslo").read()).resource.n, 2 * INCREMENTS);
});

test("two accounts are never overdrawn together", async (t) => {
  const container = await context.makeContainer(t);
  const call = await callers(container, script("withdraw"));
  const ids = ["x", "y"];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const id of ids) await container.items.upsert({ id, city: "Oslo", balance: 50 });
    const taken = await together(CLIENTS, CLIENTS, (n) => call(n, 0, ids[n % 2], 10, ids));
    const balances = [];
    for (const id of ids) balances.push((await container.item(id, "Oslo").read()).resource.balance);
    // A hundred are there, ten are taken at a time: ten of the sixteen succeed, whichever they are.
    assert.equal(balances[0] + balances[1], 0, String(balances));
    assert.equal(taken.filter(Boolean).length, 10);
  }
});
