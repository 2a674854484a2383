// Values of every Edm type: as JavaScript values, as typed objects, and without the SDK's conversions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { all, FLAVOURS, own, refused, useTables } from "../lib/tables.mjs";

const context = useTables();

const GUID = "c9da6455-213d-42c9-9a79-3e9149a57833";

const PLAIN = {
  text: "Ann",
  empty: "",
  unicode: "größe 表 😀 \u0000 \u001f \" \\ / ' \u2028",
  looksLikeDate: "2020-09-17T00:00:00Z",
  looksLikeNumber: "12",
  yes: true,
  no: false,
  zero: 0,
  minusOne: -1,
  int32Max: 2147483647,
  int32Min: -2147483648,
  pastInt32: 2147483648,
  pastInt32Min: -2147483649,
  safeMax: Number.MAX_SAFE_INTEGER,
  safeMin: Number.MIN_SAFE_INTEGER,
  fraction: 3.14,
  negative: -0.5,
  huge: 1.7976931348623157e308,
  tiny: 5e-324,
  pastSafe: 2 ** 53,
  far: 1e21,
  int64: 1125899906842624n,
  int64Zero: 0n,
  int64Small: 7n,
  int64Odd: 9007199254740993n,
  int64Max: 9223372036854775807n,
  int64Min: -9223372036854775808n,
  date: new Date("1973-10-04T00:00:00.000Z"),
  dateWithFraction: new Date("2020-09-17T23:59:59.111Z"),
  dateBeforeEpoch: new Date("1601-01-01T00:00:00.000Z"),
  dateFirst: new Date("0001-01-01T00:00:00.000Z"),
  dateLast: new Date("9999-12-31T23:59:59.999Z"),
  binary: Buffer.from("binary"),
  binaryEmpty: Buffer.alloc(0),
  binaryAll: Buffer.from(Array.from({ length: 256 }, (_, n) => n)),
};

// What is written, what comes back converted, what comes back unconverted.
const TYPED = {
  string: [{ type: "String", value: "x" }, "x", { type: "String", value: "x" }],
  emptyString: [{ type: "String", value: "" }, "", { type: "String", value: "" }],
  yes: [{ type: "Boolean", value: true }, true, { type: "Boolean", value: "true" }],
  no: [{ type: "Boolean", value: false }, false, { type: "Boolean", value: "false" }],
  int32: [{ type: "Int32", value: 123 }, 123, { type: "Int32", value: "123" }],
  int32Zero: [{ type: "Int32", value: 0 }, 0, { type: "Int32", value: "0" }],
  int64: [{ type: "Int64", value: "12345543221" }, 12345543221n, { type: "Int64", value: "12345543221" }],
  int64Min: [
    { type: "Int64", value: "-9223372036854775808" },
    -9223372036854775808n,
    { type: "Int64", value: "-9223372036854775808" },
  ],
  double: [{ type: "Double", value: 1.5 }, 1.5, { type: "Double", value: "1.5" }],
  // The SDK cannot tell 3.0 from 3.
  doubleWhole: [{ type: "Double", value: 3 }, 3, { type: "Int32", value: "3" }],
  notANumber: [{ type: "Double", value: "NaN" }, "NaN", { type: "Double", value: "NaN" }],
  infinity: [{ type: "Double", value: "Infinity" }, "Infinity", { type: "Double", value: "Infinity" }],
  minusInfinity: [{ type: "Double", value: "-Infinity" }, "-Infinity", { type: "Double", value: "-Infinity" }],
  guid: [
    { type: "Guid", value: GUID },
    { type: "Guid", value: GUID },
    { type: "Guid", value: GUID },
  ],
  date: [
    { type: "DateTime", value: "2020-09-17T00:00:00.1234567Z" },
    new Date("2020-09-17T00:00:00.123Z"),
    { type: "DateTime", value: "2020-09-17T00:00:00.1234567Z" },
  ],
  binary: [{ type: "Binary", value: "YmluYXJ5" }, Buffer.from("binary"), { type: "Binary", value: "YmluYXJ5" }],
};

const column = (n) => Object.fromEntries(Object.entries(TYPED).map(([name, row]) => [name, row[n]]));
const entity = (rowKey, members) => ({ partitionKey: "p", rowKey, ...members });

for (const flavour of FLAVOURS) {
  test(`JavaScript values come back as they went (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("created", PLAIN));
    await table.upsertEntity(entity("replaced", PLAIN), "Replace");
    await table.upsertEntity(entity("merged", { text: 1 }), "Merge");
    await table.updateEntity(entity("merged", PLAIN), "Merge");
    await table.submitTransaction([["create", entity("in a transaction", PLAIN)]]);
    for (const rowKey of ["created", "replaced", "merged", "in a transaction"]) {
      assert.deepEqual(own(await table.getEntity("p", rowKey)), entity(rowKey, PLAIN), rowKey);
    }
    const listed = await all(table.listEntities());
    assert.equal(listed.length, 4);
    for (const found of listed) assert.deepEqual(own(found), entity(found.rowKey, PLAIN));
  });

  test(`typed objects come back converted or not, and can be written back (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("r", column(0)));
    assert.deepEqual(own(await table.getEntity("p", "r")), entity("r", column(1)));
    const options = { disableTypeConversion: true };
    const unconverted = async (rowKey) => {
      const { ["odata.metadata"]: _, ...read } = own(await table.getEntity("p", rowKey, options));
      return read;
    };
    assert.deepEqual(await unconverted("r"), entity("r", column(2)));
    const [listed] = await all(table.listEntities(options));
    assert.deepEqual(own(listed), entity("r", column(2)));
    // What was read without conversions has text for every value; it means the same.
    await table.upsertEntity({ ...(await unconverted("r")), rowKey: "again" }, "Replace");
    assert.deepEqual(await unconverted("again"), entity("again", column(2)));
    assert.deepEqual(own(await table.getEntity("p", "again")), entity("again", column(1)));
  });

  test(`spellings of values (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const spellings = [
      [
        { type: "Guid", value: GUID.toUpperCase() },
        { type: "Guid", value: GUID },
      ],
      [{ type: "Boolean", value: "true" }, true],
      [{ type: "Int32", value: "-5" }, -5],
      [{ type: "Double", value: "1e3" }, 1000],
      [{ type: "Int64", value: "007" }, 7n],
      [{ type: "DateTime", value: "2020-09-17T00:00:00Z" }, new Date("2020-09-17T00:00:00Z")],
      [{ type: "DateTime", value: "2020-09-17T00:00:00.99999Z" }, new Date("2020-09-17T00:00:00.999Z")],
    ];
    const written = Object.fromEntries(spellings.map(([value], n) => [`p${n}`, value]));
    const expected = Object.fromEntries(spellings.map(([, value], n) => [`p${n}`, value]));
    await table.createEntity(entity("r", written));
    assert.deepEqual(own(await table.getEntity("p", "r")), entity("r", expected));
  });

  test(`values that are none of their type (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    for (const value of [
      { type: "Int64", value: "many" },
      { type: "Int64", value: "9223372036854775808" },
      { type: "Int32", value: 2147483648 },
      { type: "Int32", value: 1.5 },
      { type: "Guid", value: "no guid" },
      { type: "DateTime", value: "yesterday" },
      { type: "DateTime", value: "2020-02-30T00:00:00Z" },
      { type: "Binary", value: "***" },
      { type: "Boolean", value: "perhaps" },
      { type: "Double", value: "much" },
      { type: "String", value: 5 },
    ]) {
      await refused(table.createEntity(entity("r", { value })), 400, "InvalidInput");
    }
    assert.deepEqual(await all(table.listEntities()), []);
    await assert.rejects(async () => table.createEntity(entity("r", { nested: { a: 1 } })), /Unknown EDM type/);
  });
}
