// Rows of queries over four physical partitions, merged by the server and merged by the SDK.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { useServer, withoutSystemProperties } from "../lib/fixture.mjs";
import { ascending, compare, DEVICE_COUNT, fill, ITEM_COUNT, items, numbers, readPages, run } from "../lib/queries.mjs";

const context = useServer();
const ITEMS = items();
const MODES = [
  ["merged by the server", {}],
  ["merged by the SDK", { forceQueryPlan: true }],
  ["under query control", { enableQueryControl: true }],
];

let container;
beforeEach(async () => {
  container ??= await fill(context.database);
});

async function drained(query, options) {
  return (await readPages(container, query, options)).pages.flat();
}

const FILTERS = [
  ["c.n >= 200", (item) => item.n >= 200],
  ["c.n > 10 AND c.n <= 20", (item) => item.n > 10 && item.n <= 20],
  ["c.band = 3 AND c.word = 'fig'", (item) => item.band === 3 && item.word === "fig"],
  ["c.band = 3 OR c.word = 'fig'", (item) => item.band === 3 || item.word === "fig"],
  ["STARTSWITH(c.word, 'cherry')", (item) => item.word.startsWith("cherry")],
  ["CONTAINS(c.word, 'AN', true)", (item) => item.word.includes("an")],
  ["ARRAY_CONTAINS(c.tags, 'tag 2')", (item) => item.tags.includes("tag 2")],
  ["NOT IS_DEFINED(c.mixed)", (item) => item.mixed === undefined],
  ["c.mixed > 0", (item) => typeof item.mixed === "number" && item.mixed > 0],
  ["c.mixed > 'a'", (item) => typeof item.mixed === "string" && item.mixed > "a"],
  ["c.mixed != null", (item) => item.mixed !== undefined && item.mixed !== null],
  ["c.device IN ('device 7', 'device 8')", (item) => item.n % DEVICE_COUNT === 7 || item.n % DEVICE_COUNT === 8],
  ["LOWER(c.word) = 'elder'", (item) => item.word === "Elder"],
  ["false", () => false],
];

for (const [mode, options] of MODES) {
  for (const [condition, keeps] of FILTERS) {
    test(`WHERE ${condition}, ${mode}`, async () => {
      const found = await drained(`SELECT * FROM c WHERE ${condition}`, { maxItemCount: 50, ...options });
      const byNumber = found.map(withoutSystemProperties).toSorted((a, b) => a.n - b.n);
      assert.deepEqual(byNumber, ITEMS.filter(keeps));
    });
  }

  for (const maxItemCount of [1, 3, 100]) {
    const sized = { maxItemCount, ...options };

    test(`ORDER BY, pages of ${maxItemCount}, ${mode}`, async () => {
      assert.deepEqual(await drained("SELECT VALUE c.n FROM c WHERE c.n < 40 ORDER BY c.n", sized), numbers(0, 40));
      const down = await drained("SELECT c.n FROM c WHERE c.n < 40 ORDER BY c.n DESC", sized);
      assert.deepEqual(down.map((row) => row.n), numbers(0, 40).toReversed());
      const words = await drained("SELECT VALUE c.word FROM c WHERE c.n < 40 ORDER BY c.word", sized);
      assert.deepEqual(words, ITEMS.slice(0, 40).map((item) => item.word).toSorted((a, b) => compare(a, b)));
    });

    test(`ORDER BY two keys, pages of ${maxItemCount}, ${mode}`, async () => {
      const expected = numbers(0, 40).map((n) => [n % 7, n]).toSorted((a, b) => a[0] - b[0] || b[1] - a[1]);
      const query = "SELECT VALUE [c.band, c.n] FROM c WHERE c.n < 40";
      assert.deepEqual(await drained(`${query} ORDER BY c.band, c.n DESC`, sized), expected);
      assert.deepEqual(await drained(`${query} ORDER BY c.band DESC, c.n`, sized), expected.toReversed());
    });

    test(`TOP and OFFSET LIMIT, pages of ${maxItemCount}, ${mode}`, async () => {
      assert.deepEqual(await drained("SELECT TOP 7 VALUE c.n FROM c ORDER BY c.n DESC", sized), numbers(233, 240).toReversed());
      assert.deepEqual(await drained("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 10 LIMIT 5", sized), numbers(10, 15));
      assert.deepEqual(await drained("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 238 LIMIT 5", sized), [238, 239]);
      assert.equal((await drained("SELECT TOP 7 * FROM c", sized)).length, 7);
      assert.deepEqual(await drained("SELECT TOP 0 * FROM c", sized), []);
    });

    test(`JOIN, pages of ${maxItemCount}, ${mode}`, async () => {
      const found = await drained("SELECT c.n, t FROM c JOIN t IN c.tags WHERE c.n < 12", sized);
      const expected = ITEMS.slice(0, 12).flatMap((item) => item.tags.map((tag) => `${item.n} ${tag}`));
      assert.deepEqual(found.map((row) => `${row.n} ${row.t}`).toSorted(), expected.toSorted());
    });
  }
}

// Query control gives no continuation for these, and the SDK then refuses small pages; whole results are compared.
for (const [mode, options] of MODES.slice(0, 2)) {
  for (const maxItemCount of [1, 3, 100]) {
    const sized = { maxItemCount, ...options };

    test(`DISTINCT, pages of ${maxItemCount}, ${mode}`, async () => {
      const words = [...new Set(ITEMS.map((item) => item.word))].toSorted();
      assert.deepEqual((await drained("SELECT DISTINCT VALUE c.word FROM c", sized)).toSorted(), words);
      assert.deepEqual(await drained("SELECT DISTINCT VALUE c.word FROM c ORDER BY c.word", sized), words);
      assert.equal((await drained("SELECT DISTINCT c.band, c.nested.x FROM c", sized)).length, 35);
      assert.equal((await drained("SELECT DISTINCT c.mixed FROM c", sized)).length, 14);
    });

    test(`GROUP BY, pages of ${maxItemCount}, ${mode}`, async () => {
      const query = "SELECT c.band, COUNT(1) AS n, SUM(c.n) AS total, AVG(c.n) AS mean, MIN(c.n) AS least, MAX(c.n) AS most FROM c GROUP BY c.band";
      const found = (await drained(query, sized)).toSorted((a, b) => a.band - b.band);
      const expected = numbers(0, 7).map((band) => {
        const own = numbers(0, ITEM_COUNT).filter((n) => n % 7 === band);
        const total = own.reduce((sum, n) => sum + n, 0);
        return { band, n: own.length, total, mean: total / own.length, least: own[0], most: own.at(-1) };
      });
      assert.deepEqual(found, expected);
    });
  }

  test(`GROUP BY without aggregates, with VALUE, by two keys, ${mode}`, async () => {
    assert.deepEqual(ascending(await drained("SELECT VALUE c.band FROM c GROUP BY c.band", options)), numbers(0, 7));
    const counts = await drained("SELECT VALUE COUNT(1) FROM c GROUP BY c.band", options);
    assert.equal(counts.reduce((sum, n) => sum + n, 0), ITEM_COUNT);
    const pairs = await drained("SELECT c.band, c.nested.x, COUNT(1) AS n FROM c GROUP BY c.band, c.nested.x", options);
    assert.equal(pairs.length, 35);
    const types = await drained("SELECT c.mixed, COUNT(1) AS n FROM c GROUP BY c.mixed", options);
    assert.equal(types.length, 14);
    assert.equal(types.reduce((sum, row) => sum + row.n, 0), ITEM_COUNT);
  });

  test(`aggregates, ${mode}`, async () => {
    const total = (ITEM_COUNT * (ITEM_COUNT - 1)) / 2;
    for (const [query, expected] of [
      ["SELECT VALUE COUNT(1) FROM c", [ITEM_COUNT]],
      ["SELECT VALUE COUNT(c.mixed) FROM c", [ITEMS.filter((item) => item.mixed !== undefined).length]],
      ["SELECT VALUE SUM(c.n) FROM c", [total]],
      ["SELECT VALUE AVG(c.n) FROM c", [total / ITEM_COUNT]],
      ["SELECT VALUE MIN(c.n) FROM c", [0]],
      ["SELECT VALUE MAX(c.word) FROM c", ["fig"]],
      ["SELECT VALUE MAX(c.n) FROM c WHERE c.band = 2 AND c.n < 100", [93]],
      ["SELECT VALUE COUNT(1) FROM c WHERE c.n < 0", [0]],
      ["SELECT VALUE SUM(c.n) FROM c WHERE c.device = 'device 5'", [5 + 45 + 85 + 125 + 165 + 205]],
      ["SELECT COUNT(1) AS n, MAX(c.n) AS most, AVG(c.half) AS mean FROM c", [{ n: 240, most: 239, mean: 59.75 }]],
      ["SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags", [ITEM_COUNT * 1.5]],
    ]) {
      assert.deepEqual(await drained(query, options), expected, query);
    }
  });
}

test("ORDER BY every type, merged by the server", async () => {
  for (const [direction, sign] of [
    ["ASC", 1],
    ["DESC", -1],
  ]) {
    const found = await drained(`SELECT c.id, c.mixed FROM c ORDER BY c.mixed ${direction}`, { maxItemCount: 17 });
    const expected = ITEMS.map((item) => item.mixed).toSorted((a, b) => sign * compare(a, b));
    // toSorted puts undefined last whatever the comparison says.
    if (sign === 1) expected.unshift(...expected.splice(expected.findLastIndex((value) => value !== undefined) + 1));
    found.forEach((row, place) => assert.equal(compare(row.mixed, expected[place]), 0, `row ${place}`));
    assert.deepEqual(found.map((row) => row.id).toSorted(), ITEMS.map((item) => item.id).toSorted());
  }
});

test("one logical partition, in insertion order", async () => {
  const own = numbers(0, 6).map((n) => 5 + n * DEVICE_COUNT);
  assert.deepEqual(await run(container, "SELECT VALUE c.n FROM c", { partitionKey: "device 5" }), own);
  const down = "SELECT VALUE c.n FROM c ORDER BY c.n DESC";
  assert.deepEqual(await run(container, down, { partitionKey: "device 5", maxItemCount: 2 }), own.toReversed());
  const groups = await run(container, "SELECT COUNT(1) AS n FROM c GROUP BY c.device", { partitionKey: "device 5" });
  assert.deepEqual(groups, [{ n: 6 }]);
});

test("parameters", async () => {
  const query = {
    query: "SELECT VALUE c.n FROM c WHERE c.n >= @least AND ARRAY_CONTAINS(@words, c.word) ORDER BY c.n",
    parameters: [
      { name: "@least", value: 200 },
      { name: "@words", value: ["fig", "it's"] },
    ],
  };
  for (const [, options] of MODES) assert.deepEqual(await drained(query, options), [207, 215, 223, 231, 239]);
});

test("reading all items", async () => {
  const found = (await container.items.readAll().fetchAll()).resources;
  assert.deepEqual(found.map((item) => item.n).toSorted((a, b) => a - b), numbers(0, ITEM_COUNT));
});
