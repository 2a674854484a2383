// Entities: verbs, etags, keys of every kind, names of properties, limits, and what a refusal looks like.

import assert from "node:assert/strict";
import { test } from "node:test";

import { RestError } from "@azure/data-tables";

import { together } from "../lib/scripts.mjs";
import { all, FLAVOURS, own, refused, useTables } from "../lib/tables.mjs";

const context = useTables();

const ETAG = /^W\/"datetime'(\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d\.\d+Z)'"$/;
const entity = (rowKey, members = {}) => ({ partitionKey: "p", rowKey, ...members });
const MISSING_TABLE = { cosmos: "ResourceNotFound", storage: "TableNotFound" };

for (const flavour of FLAVOURS) {
  test(`an entity is made, read and deleted (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const answers = [];
    const onResponse = ({ status }) => answers.push(status);
    const made = await table.createEntity(entity("r", { name: "Ann", age: 39 }), { onResponse });
    assert.match(made.etag, ETAG);
    assert.equal(made.preferenceApplied, "return-no-content");
    assert.ok(made.requestId && made.clientRequestId && made.date instanceof Date);
    assert.equal(made.version, flavour === "storage" ? "2019-02-02" : undefined);
    const read = await table.getEntity("p", "r", { onResponse });
    assert.deepEqual(own(read), entity("r", { name: "Ann", age: 39 }));
    assert.equal(read.etag, made.etag);
    assert.equal(decodeURIComponent(ETAG.exec(read.etag)[1]), read.timestamp);
    assert.match(read.timestamp, /\.\d{7}Z$/);
    assert.ok(Math.abs(new Date(read.timestamp) - Date.now()) < 60_000);
    const gone = await table.deleteEntity("p", "r", { onResponse });
    assert.ok(gone.requestId && gone.clientRequestId && gone.date);
    await refused(table.getEntity("p", "r"), 404, "ResourceNotFound");
    assert.deepEqual(answers, [204, 200, 204]);
  });

  test(`update merges or replaces what is there (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("r", { a: 1, b: "two" }));
    const merged = await table.updateEntity(entity("r", { b: "three", c: 3n }));
    assert.match(merged.etag, ETAG);
    assert.deepEqual(own(await table.getEntity("p", "r")), entity("r", { a: 1, b: "three", c: 3n }));
    await table.updateEntity(entity("r", { c: 4 }), "Merge");
    assert.deepEqual(own(await table.getEntity("p", "r")), entity("r", { a: 1, b: "three", c: 4 }), "the type changed");
    const replaced = await table.updateEntity(entity("r", { d: true }), "Replace");
    const read = await table.getEntity("p", "r");
    assert.deepEqual(own(read), entity("r", { d: true }));
    assert.equal(read.etag, replaced.etag);
    for (const mode of ["Merge", "Replace"]) {
      await refused(table.updateEntity(entity("no"), mode), 404, "ResourceNotFound");
    }
    await refused(table.deleteEntity("p", "no"), 404, "ResourceNotFound");
  });

  test(`upsert makes, merges or replaces (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    for (const mode of ["Merge", "Replace"]) {
      const made = await table.upsertEntity(entity(mode, { a: 1 }), mode);
      assert.match(made.etag, ETAG);
      const again = await table.upsertEntity(entity(mode, { b: 2 }), mode);
      assert.notEqual(again.etag, made.etag);
      const expected = mode === "Merge" ? { a: 1, b: 2 } : { b: 2 };
      const read = await table.getEntity("p", mode);
      assert.deepEqual(own(read), entity(mode, expected));
      assert.equal(read.etag, again.etag);
    }
    await table.upsertEntity(entity("default", { a: 1 }));
    await table.upsertEntity(entity("default", { b: 2 }));
    assert.deepEqual(own(await table.getEntity("p", "default")), entity("default", { a: 1, b: 2 }));
    await assert.rejects(table.upsertEntity(entity("r"), "Other"), /Unexpected value for update mode/);
    await assert.rejects(table.updateEntity(entity("r"), "Other"), /Unexpected value for update mode/);
  });

  test(`writes with an etag need that version (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const { etag: first } = await table.createEntity(entity("r", { n: 1 }));
    const { etag: second } = await table.updateEntity(entity("r", { n: 2 }), "Merge", { etag: first });
    for (const mode of ["Merge", "Replace"]) {
      await refused(
        table.updateEntity(entity("r", { n: 0 }), mode, { etag: first }),
        412,
        "UpdateConditionNotSatisfied",
      );
      await refused(table.updateEntity(entity("no"), mode, { etag: first }), 404, "ResourceNotFound");
    }
    await refused(table.deleteEntity("p", "r", { etag: first }), 412, "UpdateConditionNotSatisfied");
    await refused(table.deleteEntity("p", "no", { etag: first }), 404, "ResourceNotFound");
    const { etag: third } = await table.updateEntity(entity("r", { n: 3 }), "Replace", { etag: second });
    assert.equal((await table.getEntity("p", "r")).n, 3);
    await table.updateEntity(entity("r", { n: 4 }), "Merge", { etag: "*" });
    await refused(table.deleteEntity("p", "r", { etag: third }), 412);
    const { etag } = await table.getEntity("p", "r");
    await table.deleteEntity("p", "r", { etag });
    await refused(table.deleteEntity("p", "r", { etag }), 404, "ResourceNotFound");
    // Made again, it is another version.
    await table.createEntity(entity("r", { n: 1 }));
    await refused(table.updateEntity(entity("r"), "Merge", { etag }), 412);
  });

  test(`etags that are none, and etags of others (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const { etag } = await table.createEntity(entity("r"));
    const writes = [
      (options) => table.updateEntity(entity("r"), "Merge", options),
      (options) => table.updateEntity(entity("r"), "Replace", options),
      (options) => table.deleteEntity("p", "r", options),
    ];
    for (const write of writes) {
      for (const other of ['W/"wrong"', "W/\"datetime'2015-01-01T23%3A14%3A33.4980000Z'\""]) {
        await refused(write({ etag: other }), 412, "UpdateConditionNotSatisfied");
      }
      for (const none of ['"wrong"', "\"datetime'2015-01-01T23%3A14%3A33.4980000Z'\"", "wrong", '"']) {
        await refused(write({ etag: none }), 400, "InvalidInput");
      }
    }
    assert.equal((await table.getEntity("p", "r")).etag, etag);
  });

  test(`every write has a later etag (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    let { etag } = await table.createEntity(entity("r", { n: 0 }));
    const seen = [etag];
    for (let n = 1; n <= 40; n += 1) {
      ({ etag } = await table.updateEntity(entity("r", { n }), n % 2 ? "Merge" : "Replace", { etag }));
      seen.push(etag);
    }
    assert.deepEqual(seen, [...new Set(seen)].sort());
  });

  test(`one of many conditional writers wins, and merges of many all arrive (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const { etag } = await table.createEntity(entity("r"));
    const outcomes = await together(8, 8, (n) =>
      table.updateEntity(entity("r", { n }), "Merge", { etag }).then(
        () => 204,
        ({ statusCode }) => statusCode,
      ),
    );
    assert.deepEqual(outcomes.sort(), [204, ...Array(7).fill(412)]);
    await together(8, 32, (n) => table.upsertEntity(entity("r", { [`p${n}`]: n }), "Merge"));
    const read = await table.getEntity("p", "r");
    for (let n = 0; n < 32; n += 1) assert.equal(read[`p${n}`], n);
    const creations = await together(8, 8, () =>
      table.createEntity(entity("once")).then(
        () => 204,
        ({ statusCode }) => statusCode,
      ),
    );
    assert.deepEqual(creations.sort(), [204, ...Array(7).fill(409)]);
  });

  test(`select names what comes back (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const stored = entity("r", { foo: "x", bar: 123, baz: true, big: 1n, when: new Date(0) });
    const { etag } = await table.createEntity(stored);
    const get = async (select) => {
      const { ["odata.metadata"]: _, ...rest } = await table.getEntity("p", "r", { queryOptions: { select } });
      return rest;
    };
    assert.deepEqual(await get(["baz", "partitionKey", "rowKey", "etag"]), {
      etag,
      partitionKey: "p",
      rowKey: "r",
      baz: true,
    });
    assert.deepEqual(await get(["big", "when"]), { etag, big: 1n, when: new Date(0) });
    const { timestamp } = await table.getEntity("p", "r");
    assert.deepEqual(await get(["timestamp"]), { etag, timestamp });
    assert.equal((await get(["foo", "no"])).foo, "x");
    assert.equal((await get(["foo", "no"])).no ?? undefined, undefined);
    const [listed] = await all(table.listEntities({ queryOptions: { select: ["bar"] } }));
    assert.deepEqual(listed, { etag, bar: 123 });
  });

  test(`null and undefined are no properties (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("r", { a: null, b: undefined, c: 1 }));
    assert.deepEqual(own(await table.getEntity("p", "r")), entity("r", { c: 1 }));
    await table.updateEntity(entity("r", { c: null, d: 2 }), "Merge");
    assert.deepEqual(own(await table.getEntity("p", "r")), entity("r", { c: 1, d: 2 }), "a merge leaves it alone");
    await table.updateEntity(entity("r", { c: null, d: 2 }), "Replace");
    assert.deepEqual(own(await table.getEntity("p", "r")), entity("r", { d: 2 }));
  });

  test(`keys of every kind (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const keys = [
      "A'aaa_bbbb2\"",
      "''",
      "two words",
      " leading",
      "trailing ",
      "100%",
      "%27",
      "a+b&c=d;e,f",
      "(x)",
      "{x}",
      "[x]<y>|z^`~",
      "mixed:@!$*.",
      "größe",
      "表",
      "😀",
      "e\u0301",
      "-",
      ".",
      "..",
      "RowKey='x'",
      "k".repeat(250),
    ];
    for (const key of keys) {
      const { etag } = await table.createEntity({ partitionKey: key, rowKey: key, key });
      await refused(table.createEntity({ partitionKey: key, rowKey: key }), 409, "EntityAlreadyExists");
      await table.updateEntity({ partitionKey: key, rowKey: key, n: 1 }, "Merge", { etag });
      const expected = { partitionKey: key, rowKey: key, key, n: 1 };
      assert.deepEqual(own(await table.getEntity(key, key)), expected, key);
      await table.upsertEntity({ partitionKey: key, rowKey: "other" }, "Replace");
      await table.deleteEntity(key, "other");
    }
    const found = await all(table.listEntities());
    assert.deepEqual(found.map(({ rowKey }) => rowKey).sort(), [...keys].sort());
    for (const key of keys) await table.deleteEntity(key, key);
    assert.deepEqual(await all(table.listEntities()), []);
  });

  test(`characters that keys cannot have (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    for (const character of ["/", "\\", "#", "?", "\t", "\n", "\u0000", "\u007f", "\u009f"]) {
      await refused(table.createEntity({ partitionKey: "p", rowKey: `a${character}b` }), 400);
      await refused(table.createEntity({ partitionKey: `a${character}b`, rowKey: "r" }), 400);
    }
    assert.deepEqual(await all(table.listEntities()), []);
  });

  test(`names of properties that items use themselves (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const odd = {
      id: "mine",
      ID: 1,
      rid: "x",
      ResourceId: "y",
      _rid: 1n,
      _self: "s",
      _etag: true,
      _ts: 7,
      _attachments: "a",
    };
    const members = { ...odd, ttl: 1, partitionkey: "lower", größe: 1.5, _x: "under", A1: new Uint8Array([1]) };
    await table.createEntity(entity("r", members));
    await table.updateEntity(entity("r", { ttl: 2, added: 1 }), "Merge");
    assert.deepEqual(
      own(await table.getEntity("p", "r")),
      entity("r", { ...members, A1: Buffer.from([1]), ttl: 2, added: 1 }),
    );
    const filter = "id eq 'mine' and _ts eq 7 and _etag eq true and ttl eq 2";
    assert.equal((await all(table.listEntities({ queryOptions: { filter } }))).length, 1);
  });

  test(`a refusal says what is wrong (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("r"));
    const error = await refused(table.createEntity(entity("r")), 409, "EntityAlreadyExists");
    assert.ok(error instanceof RestError);
    assert.equal(error.details.odataError.code, "EntityAlreadyExists");
    assert.match(error.details.odataError.message.lang, /^en-us$/i);
    assert.match(
      error.details.odataError.message.value,
      /^The specified entity already exists\.\nRequestID:[-0-9a-f]{36}\n/i,
    );
    assert.equal(error.details.errorCode, "EntityAlreadyExists");
    assert.ok(error.response.headers.get("x-ms-request-id"));
    assert.equal(error.response.headers.get("x-ms-client-request-id"), error.request.requestId);
    assert.match(error.response.headers.get("content-type"), /^application\/json/);
    const none = context.table(flavour, "nosuchtable");
    for (const operation of [
      () => none.getEntity("p", "r"),
      () => none.createEntity(entity("r")),
      () => none.updateEntity(entity("r")),
      () => none.upsertEntity(entity("r"), "Replace"),
      () => none.deleteEntity("p", "r"),
      () => all(none.listEntities()),
      () => none.getAccessPolicy(),
      () => none.setAccessPolicy([]),
    ]) {
      await refused(operation(), 404, MISSING_TABLE[flavour]);
    }
  });

  test(`names of properties have at most 255 characters (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("r", { ["n".repeat(255)]: 1 }));
    assert.equal((await table.getEntity("p", "r"))["n".repeat(255)], 1);
    await refused(table.createEntity(entity("s", { ["n".repeat(256)]: 1 })), 400, "PropertyNameTooLong");
  });
}

test("empty keys are for Storage alone", async (t) => {
  const storage = await context.makeTable(t, "storage");
  for (const [partitionKey, rowKey] of [
    ["", ""],
    ["p", ""],
    ["", "r"],
  ]) {
    await storage.createEntity({ partitionKey, rowKey, n: 1 });
    await storage.updateEntity({ partitionKey, rowKey, m: 2 }, "Merge");
    assert.deepEqual(own(await storage.getEntity(partitionKey, rowKey)), { partitionKey, rowKey, n: 1, m: 2 });
  }
  assert.equal((await all(storage.listEntities({ queryOptions: { filter: "RowKey eq ''" } }))).length, 2);
  assert.equal((await all(storage.listEntities({ queryOptions: { filter: "PartitionKey eq ''" } }))).length, 2);
  await storage.deleteEntity("", "");
  assert.equal((await all(storage.listEntities())).length, 2);

  const cosmos = await context.makeTable(t, "cosmos");
  await refused(cosmos.createEntity({ partitionKey: "", rowKey: "r" }), 400, "PropertiesNeedValue");
  await refused(cosmos.createEntity({ partitionKey: "p", rowKey: "" }), 400, "PropertiesNeedValue");
});

test("keys have to be there", async (t) => {
  for (const flavour of FLAVOURS) {
    const table = await context.makeTable(t, flavour);
    await refused(table.createEntity({ partitionKey: "p" }), 400, "PropertiesNeedValue");
    await refused(table.createEntity({ rowKey: "r" }), 400, "PropertiesNeedValue");
    assert.throws(() => table.getEntity("p"), /cannot be undefined or null/);
    assert.throws(() => table.deleteEntity(undefined, "r"), /cannot be undefined or null/);
  }
});

test("sizes that Storage admits", async (t) => {
  const table = await context.makeTable(t, "storage");
  const text = "x".repeat(32 * 1024);
  await table.createEntity(entity("text", { text }));
  assert.equal((await table.getEntity("p", "text")).text.length, text.length);
  await refused(table.createEntity(entity("no", { text: `${text}x` })), 400, "PropertyValueTooLarge");
  const bytes = new Uint8Array(64 * 1024).fill(7);
  await table.createEntity(entity("bytes", { bytes }));
  await refused(
    table.createEntity(entity("no", { bytes: new Uint8Array(64 * 1024 + 1) })),
    400,
    "PropertyValueTooLarge",
  );
  const members = (count) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, n]));
  await table.createEntity(entity("many", members(252)));
  await refused(table.createEntity(entity("no", members(253))), 400, "TooManyProperties");
  const large = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`p${n}`, text]));
  await refused(table.createEntity(entity("no", large)), 400, "EntityTooLarge");
});

test("sizes that Cosmos admits", async (t) => {
  const table = await context.makeTable(t, "cosmos");
  const text = "x".repeat(1_900_000);
  await table.createEntity(entity("large", { text }));
  assert.equal((await table.getEntity("p", "large")).text.length, text.length);
  await refused(table.createEntity(entity("no", { text: "x".repeat(2_200_000) })), 400, "EntityTooLarge");
  const members = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`p${n}`, n]));
  await table.createEntity(entity("many", members));
  assert.equal((await table.getEntity("p", "many")).p999, 999);
});
