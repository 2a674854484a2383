// Queries: every comparison for every type, logic, paging, continuation, order, selection.

import assert from "node:assert/strict";
import { test } from "node:test";

import { odata } from "@azure/data-tables";

import { all, fill, FLAVOURS, pages, refused, rowsOf, useTables } from "../lib/tables.mjs";

const context = useTables();

const GUIDS = [
  "00000000-0000-0000-0000-000000000001",
  "c9da6455-213d-42c9-9a79-3e9149a57833",
  "ffffffff-ffff-4fff-bfff-ffffffffffff",
];
const DAYS = ["1999-12-31T23:59:59.999Z", "2020-09-17T00:00:00.111Z", "2031-01-01T00:00:00.000Z"];

// Three rows with every type, rising from row to row, and one row with nothing but its keys.
const ROWS = [0, 1, 2].map((n) => ({
  partitionKey: "types",
  rowKey: `row ${n}`,
  text: ["Ann", "it's", "öde"][n],
  int: [-5, 0, 7][n],
  double: [-0.5, 3.25, 1e10][n],
  big: [-9007199254740993n, 9007199254740992n, 9007199254740993n][n],
  flag: n === 1,
  when: new Date(DAYS[n]),
  guid: { type: "Guid", value: GUIDS[n] },
  bytes: new Uint8Array([[1], [1, 2], [0xff]][n]),
  mixed: [1, "1", 1n][n],
}));
const BARE = { partitionKey: "types", rowKey: "row 3" };

/** For values a < b < c: what each comparison with b finds. */
const comparisons = (property, literal) => [
  [`${property} eq ${literal}`, "1"],
  [`${property} ne ${literal}`, "02"],
  [`${property} lt ${literal}`, "0"],
  [`${property} le ${literal}`, "01"],
  [`${property} gt ${literal}`, "2"],
  [`${property} ge ${literal}`, "12"],
  // The same from the other side.
  [`${literal} eq ${property}`, "1"],
  [`${literal} lt ${property}`, "2"],
  [`${literal} ge ${property}`, "01"],
];

const CASES = [
  ...comparisons("text", "'it''s'"),
  ...comparisons("int", "0"),
  ...comparisons("double", "3.25"),
  ...comparisons("big", "9007199254740992L"),
  ...comparisons("when", `datetime'${DAYS[1]}'`),
  ...comparisons("guid", `guid'${GUIDS[1]}'`),
  ...comparisons("bytes", "X'0102'"),
  ["bytes eq binary'0102'", "1"],
  ["flag eq true", "1"],
  ["flag eq false", "02"],
  ["flag ne true", "02"],
  ["flag", "1"],
  ["not flag", "023"],
  // Keys
  ["PartitionKey eq 'types'", "0123"],
  ["PartitionKey eq 'types' and RowKey eq 'row 1'", "1"],
  ["RowKey eq 'row 1'", "1"],
  ["PartitionKey eq 'types' and RowKey gt 'row 0' and RowKey le 'row 2'", "12"],
  ["PartitionKey eq 'types' and (RowKey eq 'row 0' or RowKey eq 'row 2')", "02"],
  ["PartitionKey eq 'types' and RowKey eq 'row 1' and flag eq false", ""],
  ["PartitionKey ge 'type' and PartitionKey lt 'typet'", "0123"],
  ["PartitionKey eq 'no'", ""],
  ["PartitionKey eq 'types' and PartitionKey eq 'no'", ""],
  ["PartitionKey eq 'types' or RowKey eq 'row 0'", "0123"],
  ["PartitionKey eq guid'00000000-0000-0000-0000-000000000001'", ""],
  // Time
  ["Timestamp gt datetime'2020-01-01T00:00:00Z'", "0123"],
  ["Timestamp lt datetime'2020-01-01T00:00:00Z'", ""],
  // Logic
  ["int gt 0 or flag eq true", "12"],
  ["int gt -10 and double lt 4.0", "01"],
  ["not (int eq 0)", "023"],
  ["not int eq 0", "023"],
  ["not (int gt 0 or flag eq true)", "03"],
  ["int eq -5 or int eq 0 and flag eq false", "0"],
  ["(int eq -5 or int eq 0) and flag eq false", "0"],
  ["(int eq -5 or int eq 0) and flag eq true", "1"],
  ["((((int eq 7))))", "2"],
  ["(int eq 7)and(flag eq false)", "2"],
  ["  int   eq   7  ", "2"],
  ["int EQ 7 AND flag NE true", "2"],
  ["(true and RowKey eq 'row 1') or (false or int eq 7)", "12"],
  // Numbers among each other
  ["int eq 7.0", "2"],
  ["int eq 7L", "2"],
  ["int lt 0.5", "01"],
  ["double gt 3", "12"],
  ["double eq 10000000000", "2"],
  ["double eq 1e10", "2"],
  ["big gt 0", "12"],
  ["big eq 9007199254740993L", "2"],
  ["int ge -2147483648", "012"],
  // Other types do not match, nor do missing properties
  ["text eq 0", ""],
  ["int eq '0'", ""],
  ["guid eq 'c9da6455-213d-42c9-9a79-3e9149a57833'", ""],
  ["when eq '2020-09-17T00:00:00.111Z'", ""],
  ["mixed eq 1", "02"],
  ["mixed eq '1'", "1"],
  ["nothing eq 1", ""],
  ["nothing ne 1", ""],
  ["TEXT eq 'Ann'", ""],
  ["", "0123"],
];

for (const flavour of FLAVOURS) {
  test(`filters (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await fill(table, [...ROWS, BARE]);
    for (const [filter, expected] of CASES) {
      const rows = [...expected].map((n) => `row ${n}`);
      assert.deepEqual(await rowsOf(table, filter), rows, filter);
    }
  });

  test(`the odata template (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await fill(table, [...ROWS, BARE]);
    for (const [filter, expected] of [
      [odata`text eq ${"it's"}`, "1"],
      [odata`text eq '${"it's"}'`, "1"],
      [odata`PartitionKey eq ${"types"} and RowKey eq ${"row 2"}`, "2"],
      [odata`int ge ${0}`, "12"],
      [odata`double lt ${3.5}`, "01"],
      [odata`flag eq ${true}`, "1"],
      [odata`big eq ${9007199254740993n}L`, "2"],
      [odata`when le ${new Date(DAYS[1])}`, "01"],
      [odata`guid eq guid'${GUIDS[1]}'`, "1"],
    ]) {
      assert.deepEqual(
        await rowsOf(table, filter),
        [...expected].map((n) => `row ${n}`),
        filter,
      );
    }
  });

  test(`filters that are none (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    for (const filter of [
      "int eq",
      "(1)",
      "(1 1 1)",
      "(1 === 1)",
      '("a" eq "a")',
      "int eq 5 eq 5",
      "int eq 5 and and int eq 5",
      "int like 5",
      "(int eq 5",
      "text eq 'open",
      "int eq 5 and",
      "int eq 5 6",
      "guid eq guid'x'",
      "eq eq eq eq",
    ]) {
      await refused(all(table.listEntities({ queryOptions: { filter } })), 400, "InvalidInput");
    }
  });

  test(`pages, and taking a list up again (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const rows = Array.from({ length: 23 }, (_, n) => ({ partitionKey: "p", rowKey: String(n).padStart(3, "0"), n }));
    await fill(table, rows);
    for (let n = 0; n < 7; n += 1) await table.createEntity({ partitionKey: `q${n}`, rowKey: "r", n: 100 + n });
    for (const [filter, expected] of [
      ["PartitionKey eq 'p'", 23],
      ["PartitionKey eq 'p' and n ge 10", 13],
      ["n ge 10", 20],
      [undefined, 30],
    ]) {
      const queryOptions = { filter };
      const everything = (await all(table.listEntities({ queryOptions }))).map(({ n }) => n);
      assert.equal(everything.length, expected);
      for (const maxPageSize of [1, 5, 23, 1000]) {
        const found = await pages(table.listEntities({ queryOptions }), { maxPageSize });
        assert.ok(found.every((page) => page.length <= maxPageSize));
        assert.deepEqual(
          found.flat().map(({ n }) => n),
          everything,
          `${filter} by ${maxPageSize}`,
        );
      }
      const first = (await table.listEntities({ queryOptions }).byPage({ maxPageSize: 4 }).next()).value;
      assert.equal(first.length, 4);
      const settings = { maxPageSize: 5, continuationToken: first.continuationToken };
      const rest = await pages(context.table(flavour, table.tableName).listEntities({ queryOptions }), settings);
      assert.deepEqual(
        [...first, ...rest.flat()].map(({ n }) => n),
        everything,
      );
      assert.equal(rest.at(-1).continuationToken, undefined);
    }
    const token = Buffer.from(JSON.stringify({ nextPartitionKey: "nonsense" })).toString("base64");
    await refused(pages(table.listEntities(), { continuationToken: token }), 400);
  });

  test(`a partition comes in the order of its row keys (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const keys = ["b", "a", "10", "9", "B", "é", "z", "表", "aa", "-", "_"];
    await fill(
      table,
      keys.map((rowKey) => ({ partitionKey: "p", rowKey, even: rowKey.length % 2 === 0 })),
    );
    const ordered = [...keys].sort();
    for (const maxPageSize of [undefined, 3]) {
      const found = (
        await pages(table.listEntities({ queryOptions: { filter: "PartitionKey eq 'p'" } }), { maxPageSize })
      ).flat();
      assert.deepEqual(
        found.map(({ rowKey }) => rowKey),
        ordered,
      );
    }
    const filter = "PartitionKey eq 'p' and even eq false";
    const odd = await all(table.listEntities({ queryOptions: { filter } }));
    assert.deepEqual(
      odd.map(({ rowKey }) => rowKey),
      ordered.filter((key) => key.length % 2 === 1),
    );
  });

  test(`ranges of row keys, by page (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const odd = [
      "a",
      "a ",
      "a  ",
      "a b",
      "a!",
      "b",
      "b ",
      "B",
      "ba",
      "%",
      "%20",
      "é",
      "é ",
      "~",
      "😀",
      "\uffee",
      " ",
      "  x ",
    ];
    const keys = flavour === "storage" ? ["", ...odd] : odd;
    await fill(
      table,
      keys.map((rowKey, n) => ({ partitionKey: "p", rowKey, n })),
    );
    for (const partitionKey of ["o", "q"]) await table.createEntity({ partitionKey, rowKey: "b" });
    const ordered = [...keys].sort();
    // Where the partition alone is asked for, others come in the order of their items' ids.
    const isPlain = (key) => key !== "" && !key.endsWith(" ") && key !== "😀";
    const compare = {
      eq: (a, b) => a === b,
      ne: (a, b) => a !== b,
      lt: (a, b) => a < b,
      le: (a, b) => a <= b,
      gt: (a, b) => a > b,
      ge: (a, b) => a >= b,
    };
    const cases = [["PartitionKey eq 'p'", () => true]];
    for (const bound of ["a", "a ", "b", "b ", "%", "é", "", "😀", " ", "zz"]) {
      for (const [name, holds] of Object.entries(compare)) {
        cases.push([`PartitionKey eq 'p' and RowKey ${name} '${bound}'`, (key) => holds(key, bound)]);
      }
    }
    cases.push(["PartitionKey eq 'p' and RowKey gt 'a' and RowKey lt 'b '", (key) => key > "a" && key < "b "]);
    cases.push(["RowKey ge 'a ' and RowKey le 'a!' and PartitionKey eq 'p'", (key) => key >= "a " && key <= "a!"]);
    cases.push(["PartitionKey eq 'p' and RowKey gt 'b' and RowKey lt 'a'", () => false]);
    cases.push(["PartitionKey eq 'p' and RowKey ge 'a' and n ge 3", (key) => key >= "a" && keys.indexOf(key) >= 3]);
    cases.push(["PartitionKey eq 'p' and not (RowKey lt 'b')", (key) => key >= "b"]);
    cases.push(["PartitionKey eq 'p' and (RowKey lt 'a' or RowKey gt 'b')", (key) => key < "a" || key > "b"]);
    for (const [filter, holds] of cases) {
      for (const maxPageSize of [undefined, 2]) {
        const found = (await pages(table.listEntities({ queryOptions: { filter } }), { maxPageSize })).flat();
        const given = found.map(({ rowKey }) => rowKey);
        assert.deepEqual([...given].sort(), ordered.filter(holds), `${filter} by ${maxPageSize}`);
        assert.deepEqual(given.filter(isPlain), ordered.filter(holds).filter(isPlain), `${filter} by ${maxPageSize}`);
      }
    }
  });

  test(`more than a page of a thousand (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const count = 1_100;
    await fill(
      table,
      Array.from({ length: count }, (_, n) => ({ partitionKey: "p", rowKey: String(n).padStart(4, "0"), n })),
    );
    const found = await pages(table.listEntities());
    assert.deepEqual(
      found.map((page) => page.length),
      [1000, 100],
    );
    const listed = await all(table.listEntities({ queryOptions: { filter: "PartitionKey eq 'p'" } }));
    assert.deepEqual(
      listed.map(({ n }) => n),
      Array.from({ length: count }, (_, n) => n),
    );
  });

  test(`selection in lists (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await fill(table, [...ROWS, BARE]);
    const list = (select, filter) => all(table.listEntities({ queryOptions: { select, filter } }));
    const chosen = await list(["rowKey", "int", "big"], "int ge 0");
    assert.deepEqual(
      chosen.map(({ etag, ...rest }) => (assert.ok(etag), rest)).sort((a, b) => a.int - b.int),
      [
        { rowKey: "row 1", int: 0, big: 9007199254740992n },
        { rowKey: "row 2", int: 7, big: 9007199254740993n },
      ],
    );
    // What is filtered need not be selected.
    assert.deepEqual(
      (await list(["flag"], "text eq 'Ann'")).map(({ flag }) => flag),
      [false],
    );
    assert.ok((await list(["timestamp"])).every(({ timestamp }) => timestamp));
    assert.equal((await list(["nothing"])).length, 4);
  });
}

test("a list can be walked by hand", async (t) => {
  const table = await context.makeTable(t);
  await table.createEntity({ partitionKey: "p", rowKey: "1" });
  const list = table.listEntities();
  assert.equal((await list.next()).value.rowKey, "1");
  assert.equal((await list.next()).done, true);
});

test("a list over several physical partitions", async (t) => {
  const table = await context.makeTable(t, "cosmos", 30_000);
  const container = context.client.database("TablesDB").container(table.tableName);
  assert.ok((await container.readPartitionKeyRanges().fetchAll()).resources.length > 1);
  const expected = [];
  for (let n = 0; n < 24; n += 1) {
    const rows = ["a", "b", "c"].map((rowKey, m) => ({ partitionKey: `p${n}`, rowKey, n: 3 * n + m }));
    await fill(table, rows);
    expected.push(...rows.map((row) => row.n));
  }
  for (const [filter, wanted] of [
    [undefined, () => true],
    ["n ge 20 and n lt 50", (n) => n >= 20 && n < 50],
    ["RowKey eq 'b'", (n) => n % 3 === 1],
    [
      "PartitionKey ge 'p1' and PartitionKey lt 'p2'",
      (n) =>
        [
          1,
          ...Array(10)
            .fill(10)
            .map((ten, m) => ten + m),
        ].includes(Math.floor(n / 3)),
    ],
  ]) {
    for (const maxPageSize of [undefined, 1, 7]) {
      const found = (await pages(table.listEntities({ queryOptions: { filter } }), { maxPageSize })).flat();
      const numbers = found.map(({ n }) => n).sort((a, b) => a - b);
      assert.deepEqual(numbers, expected.filter(wanted), `${filter} by ${maxPageSize}`);
      for (let at = 1; at < found.length; at += 1) {
        const [one, other] = [found[at - 1], found[at]];
        if (one.partitionKey === other.partitionKey) assert.ok(one.rowKey < other.rowKey, "row keys rise");
      }
    }
  }
});

test("entities that do not fit in one answer", async (t) => {
  const table = await context.makeTable(t);
  const text = "x".repeat(1_000_000);
  for (let n = 0; n < 9; n += 1) await table.createEntity({ partitionKey: "p", rowKey: String(n), text });
  const found = await pages(table.listEntities({ queryOptions: { filter: "PartitionKey eq 'p'" } }));
  assert.deepEqual(
    found.flat().map(({ rowKey }) => rowKey),
    [..."012345678"],
  );
  assert.equal((await all(table.listEntities({ queryOptions: { select: ["rowKey"] } }))).length, 9);
});

test("what is written or deleted between two pages", async (t) => {
  const table = await context.makeTable(t);
  await fill(
    table,
    [..."bdfhjl"].map((rowKey) => ({ partitionKey: "p", rowKey })),
  );
  const list = table.listEntities({ queryOptions: { filter: "PartitionKey eq 'p'" } }).byPage({ maxPageSize: 2 });
  assert.deepEqual(
    (await list.next()).value.map(({ rowKey }) => rowKey),
    ["b", "d"],
  );
  await table.deleteEntity("p", "d");
  await table.deleteEntity("p", "f");
  for (const rowKey of ["a", "g"]) await table.createEntity({ partitionKey: "p", rowKey });
  const rest = [];
  for await (const page of list) rest.push(...page.map(({ rowKey }) => rowKey));
  assert.deepEqual(rest, ["g", "h", "j", "l"]);
});

test("Storage gives partitions in the order of their keys", async (t) => {
  const table = await context.makeTable(t, "storage", 30_000);
  const keys = [];
  for (let n = 19; n >= 0; n -= 1) {
    const partitionKey = `${"ab "[n % 3]}${n}`;
    for (const rowKey of ["2", "1"]) {
      await table.createEntity({ partitionKey, rowKey, n });
      keys.push(`${partitionKey}/${rowKey}`);
    }
  }
  keys.sort();
  for (const [filter, holds] of [
    [undefined, () => true],
    ["PartitionKey ge 'a' and PartitionKey lt 'b'", (key) => key >= "a" && key < "b"],
    ["RowKey eq '2'", (key) => key.endsWith("/2")],
    ["PartitionKey gt 'a1' and RowKey lt '2'", (key) => key.split("/")[0] > "a1" && key.endsWith("/1")],
  ]) {
    for (const maxPageSize of [undefined, 7]) {
      const found = (await pages(table.listEntities({ queryOptions: { filter } }), { maxPageSize })).flat();
      const given = found.map(({ partitionKey, rowKey }) => `${partitionKey}/${rowKey}`);
      assert.deepEqual(given, keys.filter(holds), `${filter} by ${maxPageSize}`);
    }
  }
});
