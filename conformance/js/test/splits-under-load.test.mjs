// Partitions split and merge while clients of two SDKs work on them: no request fails, and nothing is lost or doubled.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { serve, through, withoutSystemProperties } from "../lib/fixture.mjs";
import { keyOf, makeStill, pauseQueries, startCrowd, Worker } from "../lib/load.mjs";
import { figures, merge, rangeIds, split, until } from "../lib/partitions.mjs";
import { together } from "../lib/scripts.mjs";

const WORKERS = 8;
const STILL_ITEMS = 800;
const READERS = 16;
const STEPS_AROUND = 15;

const INTERPRETER = process.platform === "win32" ? "Scripts/python.exe" : "bin/python";
const PYTHON = fileURLToPath(new URL(`../../python/.venv/${INTERPRETER}`, import.meta.url));
const LOAD = fileURLToPath(new URL("../../python/load.py", import.meta.url));

/** Starts the load of the Python suite; `stop` ends it and returns what its workers own, checked one by one. */
async function startPython(server, container) {
  assert.ok(existsSync(PYTHON), `${PYTHON} is missing: prepare the Python suite first, see conformance/README.md`);
  const process = spawn(
    PYTHON,
    ["-W", "ignore", LOAD, server.https, container.database.id, container.id, "--workers", String(WORKERS)],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  let complaints = "";
  process.stderr.on("data", (text) => (complaints += text));
  const lines = [];
  createInterface({ input: process.stdout }).on("line", (line) => lines.push(line));
  const ended = once(process, "close");
  await until("the Python load never ran", () => {
    assert.equal(process.exitCode, null, complaints);
    return lines.includes("running");
  });
  return {
    stop: async () => {
      process.stdin.end();
      const [code] = await ended;
      assert.equal(code, 0, complaints);
      const { items, done } = JSON.parse(lines.at(-1));
      return { items, done: Object.values(done).reduce((sum, one) => sum + one, 0) };
    },
    kill: () => process.kill("SIGKILL"),
  };
}

/** Runs the clients of both SDKs while `change` changes the partitions; then checks every item. */
async function underLoad(t, throughput, change) {
  const { server, connect } = await serve(t);
  const { database } = await connect().databases.create({ id: "d" });
  const { container } = await database.containers.create({
    id: "c",
    partitionKey: { paths: ["/city"], kind: "Hash", version: 2 },
    throughput,
  });
  const still = await makeStill(container, STILL_ITEMS);
  const resume = await pauseQueries(container);
  const clients = Array.from({ length: WORKERS }, () => connect({ consistencyLevel: "Session" }));
  const workers = clients.map((client, n) => new Worker(through(client, container), `javascript ${n}`));
  const python = await startPython(server, container);
  t.after(python.kill);
  const crowd = startCrowd(workers);
  try {
    const stepsOfAll = () => {
      const before = workers.map(({ done }) => done);
      return () => crowd.failed() || workers.every(({ done }, n) => done >= before[n] + STEPS_AROUND);
    };
    await until("the load never began", stepsOfAll());
    await change(server, container);
    await until("the load came to a halt", stepsOfAll());
  } finally {
    await crowd.stop();
  }
  const { items: pythonItems, done: pythonDone } = await python.stop();
  t.diagnostic(`${workers.reduce((sum, { done }) => sum + done, 0)} + ${pythonDone} requests`);

  // Nothing is lost, nothing is doubled, everything is as it was written: by key, in the feed, in queries.
  const ownItems = workers.flatMap(({ items }) => [...items.values()]);
  const expected = new Map([...still, ...pythonItems, ...ownItems].map((item) => [keyOf(item), item]));
  for (const worker of workers) await worker.checkOneByOne();
  const others = [...still, ...pythonItems];
  await together(READERS, others.length, async (n) => {
    const { id, city } = others[n];
    const { resource } = await container.item(id, city).read();
    assert.deepEqual(withoutSystemProperties(resource), others[n]);
  });
  const { resources: found } = await container.items.readAll({ maxItemCount: 200 }).fetchAll();
  assert.equal(found.length, expected.size);
  assert.equal(new Set(found.map(({ _rid }) => _rid)).size, expected.size);
  assert.deepEqual(
    new Map(found.map((item) => [keyOf(item), withoutSystemProperties(item)]).toSorted()),
    new Map([...expected].toSorted()),
  );
  const count = "SELECT VALUE COUNT(1) FROM c";
  assert.deepEqual((await container.items.query(count).fetchAll()).resources, [expected.size]);
  const { partitions } = await figures(server, container);
  assert.equal(partitions.reduce((sum, { items }) => sum + items, 0), expected.size);

  // What was paused before everything changed goes on, in a client that saw all of it and in a new one.
  await resume(container);
  await resume(workers[0].container);
  await resume(through(connect(), container));
}

test("a container raised from 20000 to 60000 RU/s splits into six", { timeout: 120_000 }, async (t) => {
  await underLoad(t, 20_000, async (server, container) => {
    assert.deepEqual(await rangeIds(server, container), ["0", "1"]);
    const { resources } = await container.database.client.offers.readAll().fetchAll();
    const { _self } = (await container.read()).resource;
    const offer = resources.find(({ resource }) => resource === _self);
    const raised = { ...offer, content: { ...offer.content, offerThroughput: 60_000 } };
    const { resource } = await container.database.client.offer(offer.id).replace(raised);
    assert.equal(resource.content.offerThroughput, 60_000);
    await until("fewer than six ranges", async () => {
      const { pending, partitions, failed } = await figures(server, container);
      assert.equal(failed ?? null, null);
      return !pending && partitions.length >= 6;
    });
    assert.equal((await rangeIds(server, container)).length, 6);
  });
});

test("partitions split and merge by command", { timeout: 120_000 }, async (t) => {
  await underLoad(t, 10_000, async (server, container) => {
    assert.deepEqual(await split(server, container), ["1", "2"]);
    assert.deepEqual(await split(server, container, { range: "1" }), ["3", "4", "2"]);
    assert.deepEqual(await merge(server, container, "4", "2"), ["3", "5"]);
    assert.deepEqual(await split(server, container, { range: "5" }), ["3", "6", "7"]);
    assert.deepEqual(await merge(server, container, "3", "6"), ["8", "7"]);
    assert.deepEqual(await merge(server, container, "8", "7"), ["9"]);
  });
});
