// A table without budget answers 429, and the SDK comes back when it was told to.

import assert from "node:assert/strict";
import { test } from "node:test";

import { together } from "../lib/scripts.mjs";
import { all, FLAVOURS, refused, useTables } from "../lib/tables.mjs";

const context = useTables();

const THROUGHPUT = 400;
const WRITES = 60;
const WRITES_MAX = 500;
const wide = (n) => ({
  partitionKey: "p",
  rowKey: String(n),
  ...Object.fromEntries(Array.from({ length: 40 }, (_, leaf) => [`f${leaf}`, leaf])),
});

for (const flavour of FLAVOURS) {
  test(`a refusal says when to come back (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour, THROUGHPUT);
    const impatient = context.table(flavour, table.tableName, { retryOptions: { maxRetries: 0 } });
    const outcomes = await together(8, WRITES, (n) =>
      impatient.createEntity(wide(n)).then(
        () => undefined,
        (error) => error,
      ),
    );
    const refusals = outcomes.filter(Boolean);
    assert.ok(refusals.length > 0, "the budget held");
    assert.ok(refusals.length < WRITES, "nothing was admitted");
    const error = refusals[0];
    await refused(Promise.reject(error), 429, "TooManyRequests");
    assert.match(error.details.odataError.message.value, /^Request rate is large/i);
    const { headers } = error.response;
    const waitMs = Number(headers.get("x-ms-retry-after-ms"));
    assert.ok(waitMs >= 0 && waitMs <= 1000, `${waitMs} ms`);
    assert.equal(Number(headers.get("retry-after")), Math.ceil(waitMs / 1000));
    assert.ok(Number(headers.get("x-ms-request-charge")) >= 0);
    const stored = await all(
      context.table(flavour, table.tableName, { retryOptions: { maxRetries: 10 } }).listEntities(),
    );
    assert.equal(stored.length, WRITES - refusals.length, "what was refused was not written");
  });
}

test("the SDK retries", async (t) => {
  const table = await context.makeTable(t, "cosmos", THROUGHPUT);
  const attempts = { count: 0, refused: 0 };
  const policy = {
    name: "attempts",
    sendRequest: async (request, next) => {
      const response = await next(request);
      attempts.count += 1;
      if (response.status === 429) attempts.refused += 1;
      return response;
    },
  };
  const additionalPolicies = [{ policy, position: "perRetry" }];
  const patient = context.table("cosmos", table.tableName, { additionalPolicies });
  let written = 0;
  while (attempts.refused === 0 && written < WRITES_MAX) {
    await together(4, 25, (n) => patient.createEntity(wide(written + n)));
    written += 25;
  }
  assert.ok(attempts.refused > 0, "25 writes of 20 RU do not fit in a second of 400");
  assert.equal(attempts.count, written + attempts.refused);
  assert.equal((await all(patient.listEntities())).length, written);
  attempts.refused = 0;
  const actions = Array.from({ length: 10 }, (_, n) => ["upsert", wide(n), "Replace"]);
  for (let n = 0; n < 20 && attempts.refused === 0; n += 1) {
    assert.equal((await patient.submitTransaction(actions)).subResponses.length, 10);
  }
  assert.ok(attempts.refused > 0, "three transactions of 200 RU do not fit in a second of 400");
});
