// Physical partitions as the SDK sees them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { useServer } from "../lib/fixture.mjs";

const context = useServer();

for (const [name, definition, count] of [
  ["400", { throughput: 400 }, 1],
  ["10000", { throughput: 10_000 }, 1],
  ["20000", { throughput: 20_000 }, 2],
  ["autoscale 20000", { maxThroughput: 20_000 }, 2],
]) {
  test(`a container with ${name} RU/s has ${count} of them`, async (t) => {
    const container = await context.makeContainer(t, { partitionKey: "/deviceId", ...definition });
    const { resources } = await container.readPartitionKeyRanges().fetchAll();
    assert.equal(resources.length, count);
    assert.deepEqual(resources.map((one) => one.id).toSorted(), [...Array(count).keys()].map(String));
    const sorted = resources.toSorted((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
    assert.equal(sorted[0].minInclusive, "");
    assert.equal(sorted.at(-1).maxExclusive, "FF");
    for (let n = 1; n < count; n += 1) assert.equal(sorted[n].minInclusive, sorted[n - 1].maxExclusive);
    assert.equal((await container.getFeedRanges()).length, count);
  });
}

test("keys spread over both partitions", async (t) => {
  const container = await context.makeContainer(t, { partitionKey: "/deviceId", throughput: 20_000 });
  const seen = new Set();
  for (let n = 0; n < 20; n += 1) {
    const { headers } = await container.items.create({ id: "1", deviceId: `device ${n}` });
    seen.add(headers["x-ms-documentdb-partitionkeyrangeid"]);
  }
  assert.deepEqual([...seen].toSorted(), ["0", "1"]);
});
