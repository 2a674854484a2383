// Throughput is enforced: what a second admits, what a refusal says, and what the SDK's retries make of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { refused, serve, through, useServer } from "../lib/fixture.mjs";
import { figures } from "../lib/partitions.mjs";
import { readAll, register, script, together } from "../lib/scripts.mjs";

const context = useServer();

const THROUGHPUT = 400;
// 26 units for the size, two terms for each of 40 leaves, one for the partition key: 107 units of 4/21 RU.
const WIDE_CHARGE = 20.38;
const ATTEMPTS_MAX = 6;
const LATE_MS = 50;
const SLACK_MS = 250;
const IMPATIENT = { connectionPolicy: { retryOptions: { maxRetryAttemptCount: 0 } } };

let made = 0;

function wideItem(city = "Oslo") {
  made += 1;
  const leaves = Array.from({ length: 38 }, (_, n) => [`f${n}`, n]);
  return { id: `item ${made}`, city, ...Object.fromEntries(leaves) };
}

/** Creates items until one is refused, or until that much is spent. */
async function spend(container, { atLeast = Infinity, ...options } = {}) {
  const spent = { total: 0, refusal: undefined };
  while (spent.total < atLeast) {
    try {
      spent.total += (await container.items.create(wideItem(), options)).requestCharge;
    } catch (error) {
      if (error.code !== 429) throw error;
      spent.refusal = error;
      break;
    }
  }
  spent.total = Math.round(spent.total * 100) / 100;
  return spent;
}

/** Runs an action inside one second of the clock, when budgets are given out; again if it ran over into the next. */
async function inOneSecond(action) {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (Date.now() % 1000 > LATE_MS) await sleep(1000 - (Date.now() % 1000));
    const second = Math.floor(Date.now() / 1000);
    const result = await action();
    if (Math.floor(Date.now() / 1000) === second) return { second, result };
    await sleep(2000 - (Date.now() % 1000));
  }
  return assert.fail(`the action took more than a second ${ATTEMPTS_MAX} times`);
}

const isBudget = (total, budget) =>
  assert.ok(total >= budget && total < budget + WIDE_CHARGE, `${total} of a budget of ${budget}`);

test("a second admits its budget and one overdraft, then says when to come back", async (t) => {
  const container = await context.makeContainer(t, { throughput: THROUGHPUT });
  const narrow = through(context.connect(IMPATIENT), container);
  const { second, result } = await inOneSecond(() => spend(narrow));
  isBudget(result.total, THROUGHPUT);
  const { refusal } = result;
  assert.equal(refusal.substatus, 3200);
  assert.match(refusal.message, /Request rate is large\. More Request Units may be needed, so no changes were made\./);
  assert.equal(Number(refusal.headers["x-ms-request-charge"]), 0.38);
  assert.ok(Math.abs(Date.now() + refusal.retryAfterInMs - (second + 1) * 1000) < SLACK_MS, refusal.retryAfterInMs);
  await sleep(refusal.retryAfterInMs);
  assert.equal((await narrow.items.create(wideItem())).requestCharge, WIDE_CHARGE);
  assert.equal((await readAll(container)).length, Math.round(result.total / WIDE_CHARGE) + 1, "nothing was written");
});

test("default retries bring everything home", async (t) => {
  const container = await context.makeContainer(t, { throughput: THROUGHPUT });
  const clients = Array.from({ length: 4 }, () => through(context.connect(), container));
  const items = Array.from({ length: 60 }, () => wideItem());
  const start = Math.floor(Date.now() / 1000);
  const create = (n) => clients[n % clients.length].items.create(items[n]);
  const answers = await together(clients.length, items.length, create);
  const seconds = Math.floor(Date.now() / 1000) - start + 1;
  const total = answers.reduce((sum, { requestCharge }) => sum + requestCharge, 0);
  // Each client may have one request under way when the budget ends.
  assert.ok(total <= seconds * THROUGHPUT + clients.length * WIDE_CHARGE, `${total} RU in ${seconds} s`);
  const { partitions } = await figures(context.server, container);
  assert.ok(partitions[0].totalRefused > 0, "sixty writes need three seconds");
  assert.ok(Math.abs(partitions[0].totalRu - total) < 0.01);
  assert.ok(answers.some(({ headers }) => Number(headers["x-ms-throttle-retry-count"]) > 0));
  const stored = (await readAll(container)).map(({ id }) => id);
  assert.deepEqual(stored.toSorted(), items.map(({ id }) => id).toSorted());
});

test("bulk operations wait for the budget", { timeout: 60_000 }, async (t) => {
  const container = await context.makeContainer(t, { throughput: THROUGHPUT });
  const operations = Array.from({ length: 60 }, (_, n) => {
    const resourceBody = wideItem(`city ${n % 5}`);
    return { operationType: "Create", partitionKey: resourceBody.city, resourceBody };
  });
  const results = await container.items.executeBulkOperations(operations);
  assert.deepEqual([...new Set(results.map(({ response, error }) => response?.statusCode ?? error))], [201]);
  assert.equal((await readAll(container)).length, operations.length);
});

test("an expensive script runs to its end and leaves a debt", async (t) => {
  const container = await context.makeContainer(t, { throughput: THROUGHPUT });
  const narrow = through(context.connect(IMPATIENT), container);
  const call = await register(narrow, script("import-items"));
  const { second, result: charge } = await inOneSecond(async () => {
    const { headers } = await call.on("Oslo", Array.from({ length: 60 }, () => wideItem()));
    return Number(headers["x-ms-request-charge"]);
  });
  assert.ok(charge > 2 * THROUGHPUT, charge);
  const refusal = await refused(narrow.items.create(wideItem()), 429, 3200);
  const opens = (second + Math.floor(charge / THROUGHPUT)) * 1000;
  const told = Date.now() + refusal.retryAfterInMs;
  assert.ok(Math.abs(told - opens) < SLACK_MS, `${refusal.retryAfterInMs} for ${charge}`);
  await refused(narrow.item("none", "Oslo").read(), 429, 3200);
  await refused(narrow.items.query("SELECT * FROM c").fetchAll(), 429, 3200);
  await refused(call.on("Oslo", []), 429, 3200);
  // The SDK hides the status of a failed batch.
  const batch = [{ operationType: "Create", resourceBody: wideItem() }];
  await assert.rejects(narrow.items.batch(batch, "Oslo"), /Request rate is large/);
  assert.equal((await container.items.create(wideItem())).statusCode, 201, "the default client waits for it");
  assert.equal((await readAll(container)).length, 61);
});

test("low priority is throttled first", async (t) => {
  const container = await context.makeContainer(t, { throughput: THROUGHPUT });
  const narrow = through(context.connect(IMPATIENT), container);
  for (let attempt = 0; ; attempt += 1) {
    assert.ok(attempt < ATTEMPTS_MAX, "the machine is too busy");
    await sleep(2000 - (Date.now() % 1000));
    const second = Math.floor(Date.now() / 1000);
    const demand = await spend(narrow, { atLeast: 300, priorityLevel: "High" });
    await sleep(1000 - (Date.now() % 1000));
    const low = await spend(narrow, { priorityLevel: "Low" });
    const high = await spend(narrow);
    if (Math.floor(Date.now() / 1000) !== second + 1) continue;
    const left = THROUGHPUT - demand.total;
    assert.ok(low.total >= left && low.total < left + 2 * WIDE_CHARGE, `${low.total} of ${left}`);
    isBudget(low.total + high.total, THROUGHPUT);
    break;
  }
});

test("a server without throttling never refuses", async (t) => {
  const { server, connect } = await serve(t, "--throttle", "off");
  const { database } = await connect(IMPATIENT).databases.create({ id: "d" });
  const { container } = await database.containers.create({ id: "c", partitionKey: "/city", throughput: THROUGHPUT });
  const spent = await spend(container, { atLeast: 4 * THROUGHPUT });
  assert.equal(spent.refusal, undefined);
  const { partitions } = await figures(server, container);
  assert.ok(Math.abs(partitions[0].totalRu - spent.total) < 0.01);
  assert.equal(partitions[0].totalRefused, 0);
});
