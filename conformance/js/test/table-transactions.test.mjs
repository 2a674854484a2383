// Transactions: every action, all or nothing, the index of the culprit, and their limits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { AzureSASCredential, generateTableSas, TableTransaction } from "@azure/data-tables";

import { together } from "../lib/scripts.mjs";
import { all, FLAVOURS, own, refused, useTables } from "../lib/tables.mjs";

const context = useTables();

const entity = (rowKey, members = {}) => ({ partitionKey: "p", rowKey, ...members });
const create = (rowKey, members) => ["create", entity(rowKey, members)];
const stored = async (table) => (await all(table.listEntities())).sort((a, b) => (a.rowKey < b.rowKey ? -1 : 1));

/** A table with three entities, and their etags. */
async function prepared(t, flavour) {
  const table = await context.makeTable(t, flavour);
  const etags = {};
  for (const rowKey of ["a", "b", "c"])
    etags[rowKey] = (await table.createEntity(entity(rowKey, { n: 1, kept: true }))).etag;
  return { table, etags };
}

for (const flavour of FLAVOURS) {
  test(`a transaction does every kind of action (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const before = ["deleted", "merged", "replaced", "merged by etag", "upserted", "replaced by upsert"];
    for (const rowKey of before) await table.createEntity(entity(rowKey, { n: 1, kept: true }));
    const { etag } = await table.getEntity("p", "merged by etag");
    const answer = await table.submitTransaction([
      create("created", { n: 0 }),
      ["delete", entity("deleted")],
      ["update", entity("merged", { n: 2 })],
      ["update", entity("replaced", { n: 3 }), "Replace"],
      ["update", entity("merged by etag", { n: 4 }), "Merge", { etag }],
      ["upsert", entity("upserted", { n: 5 })],
      ["upsert", entity("replaced by upsert", { n: 6 }), "Replace"],
      ["upsert", entity("made by upsert", { n: 7 }), "Merge"],
      ["upsert", entity("made by replacing upsert", { n: 8 }), "Replace"],
    ]);
    assert.equal(answer.status, 202);
    assert.deepEqual(
      answer.subResponses.map(({ status }) => status),
      Array(9).fill(204),
    );
    const found = await stored(table);
    assert.deepEqual(
      found.map(({ rowKey, n, kept }) => [rowKey, n, kept]),
      [
        ["created", 0, undefined],
        ["made by replacing upsert", 8, undefined],
        ["made by upsert", 7, undefined],
        ["merged", 2, true],
        ["merged by etag", 4, true],
        ["replaced", 3, undefined],
        ["replaced by upsert", 6, undefined],
        ["upserted", 5, true],
      ],
    );
    const etags = new Map(found.map(({ rowKey, etag: current }) => [rowKey, current]));
    for (const { rowKey, etag: given } of answer.subResponses) {
      if (given !== undefined) assert.equal(etags.get(decodeURIComponent(rowKey)), given, rowKey);
    }
    assert.equal(answer.subResponses.filter(({ etag: given }) => given).length, 8, "all but the deletion have an etag");
  });

  test(`the answer to one entity (${flavour})`, async (t) => {
    const { table } = await prepared(t, flavour);
    const answer = await table.submitTransaction([
      create("d"),
      ["update", entity("a", { n: 2 })],
      ["upsert", entity("b", { n: 3 }), "Replace"],
      ["delete", entity("c")],
    ]);
    for (const rowKey of ["a", "b", "d"]) {
      const part = answer.getResponseForEntity(rowKey);
      assert.equal(part.status, 204);
      assert.equal(part.etag, (await table.getEntity("p", rowKey)).etag);
    }
    assert.equal(answer.getResponseForEntity("no"), undefined);
  });

  test(`the helper builds the same actions (${flavour})`, async (t) => {
    const { table, etags } = await prepared(t, flavour);
    const transaction = new TableTransaction([create("first")]);
    transaction.createEntity(entity("second", { n: 2 }));
    transaction.updateEntity(entity("a", { n: 3 }), { etag: etags.a });
    transaction.updateEntity(entity("b", { n: 4 }), "Replace", { etag: etags.b });
    transaction.upsertEntity(entity("third", { n: 5 }), "Replace");
    transaction.upsertEntity(entity("fourth", { n: 6 }));
    transaction.deleteEntity("p", "c");
    const answer = await table.submitTransaction(transaction.actions);
    assert.equal(answer.subResponses.length, 7);
    const found = (await stored(table)).map(({ rowKey, n, kept }) => [rowKey, n, kept]);
    assert.deepEqual(found, [
      ["a", 3, true],
      ["b", 4, undefined],
      ["first", undefined, undefined],
      ["fourth", 6, undefined],
      ["second", 2, undefined],
      ["third", 5, undefined],
    ]);
    await refused(table.submitTransaction(transaction.actions), 409, "EntityAlreadyExists");
  });

  test(`a failing member leaves nothing behind and is named (${flavour})`, async (t) => {
    const { table, etags } = await prepared(t, flavour);
    await table.updateEntity(entity("b", { n: 2 }));
    const before = await stored(table);
    const stale = { etag: etags.b };
    const failures = [
      [create("a"), 409, "EntityAlreadyExists"],
      [["update", entity("no", { n: 1 })], 404, "ResourceNotFound"],
      [["update", entity("no", { n: 1 }), "Replace"], 404, "ResourceNotFound"],
      [["update", entity("b", { n: 1 }), "Merge", stale], 412, "UpdateConditionNotSatisfied"],
      [["update", entity("b", { n: 1 }), "Replace", stale], 412, "UpdateConditionNotSatisfied"],
      [["delete", entity("no")], 404, "ResourceNotFound"],
      [create("bad", { value: { type: "Int64", value: "many" } }), 400, "InvalidInput"],
      [create("b\\d"), 400, undefined],
    ];
    for (const [failing, status, code] of failures) {
      for (const index of [0, 2, 4]) {
        const others = [
          create("new"),
          ["upsert", entity("a", { n: 9 }), "Replace"],
          ["delete", entity("c")],
          create("newer"),
        ];
        if (failing[0] === "create" && failing[1].rowKey === "a") others[1] = create("newest");
        const actions = others.toSpliced(index, 0, failing);
        const error = await refused(table.submitTransaction(actions), status, code);
        assert.equal(error.message.split(":")[0], String(index), error.message);
        assert.equal(error.response.status, 202);
        assert.deepEqual(await stored(table), before, `${failing[0]} at ${index}`);
      }
    }
  });

  test(`the first of several culprits is named (${flavour})`, async (t) => {
    const { table, etags } = await prepared(t, flavour);
    await table.updateEntity(entity("b", { n: 2 }));
    const culprits = [
      [create("a"), 409],
      [["update", entity("b"), "Merge", { etag: etags.b }], 412],
      [["update", entity("no"), "Merge"], 404],
      [["update", entity("nobody"), "Replace"], 404],
      [["delete", entity("none")], 404],
    ];
    for (let turn = 0; turn < culprits.length; turn += 1) {
      const turned = [...culprits.slice(turn), ...culprits.slice(0, turn)];
      const actions = [create("x"), ...turned.map(([action]) => action)];
      const error = await refused(table.submitTransaction(actions), turned[0][1]);
      assert.match(error.message, /^1:/);
    }
  });

  test(`at most a hundred actions (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const actions = Array.from({ length: 101 }, (_, n) => create(String(n).padStart(3, "0")));
    const error = await refused(table.submitTransaction(actions), 400, "InvalidInput");
    assert.match(error.message, /^99:The batch request operation exceeds the maximum 100 changes per change set\./);
    assert.deepEqual(await stored(table), []);
    const answer = await table.submitTransaction(actions.slice(0, 100));
    assert.equal(answer.subResponses.length, 100);
    assert.deepEqual(
      answer.subResponses.map(({ rowKey }) => rowKey),
      actions.slice(0, 100).map(([, { rowKey }]) => rowKey),
    );
    assert.equal((await stored(table)).length, 100);
  });

  test(`an entity stands in a transaction once, and all in one partition (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const twice = [create("a"), ["upsert", entity("a", { n: 1 })]];
    const error = await refused(table.submitTransaction(twice), 400, "InvalidDuplicateRow");
    assert.match(error.message, /^1:The batch request contains multiple changes with same row key\./);
    const scattered = [create("a"), ["create", { partitionKey: "other", rowKey: "b" }]];
    await assert.rejects(table.submitTransaction(scattered), /must target the same partitionKey/);
    assert.deepEqual(await stored(table), []);
  });

  test(`a transaction in no table (${flavour})`, async () => {
    const table = context.table(flavour, "nosuchtable");
    const code = { cosmos: "ResourceNotFound", storage: "TableNotFound" }[flavour];
    await refused(table.submitTransaction([create("a"), create("b")]), 404, code);
  });

  test(`keys of every kind in a transaction (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const keys = ["it's", "{x}", "a+b&c=d", "100%", "größe", "😀", "(x)", "two words", '"'];
    const partitionKey = "it's {odd} 100% größe";
    const answer = await table.submitTransaction(
      keys.map((rowKey) => ["create", { partitionKey, rowKey, rowKey2: rowKey }]),
    );
    assert.equal(answer.subResponses.length, keys.length);
    const merges = keys.map((rowKey) => ["update", { partitionKey, rowKey, n: 1 }]);
    await table.submitTransaction(merges);
    for (const rowKey of keys) {
      assert.deepEqual(own(await table.getEntity(partitionKey, rowKey)), {
        partitionKey,
        rowKey,
        rowKey2: rowKey,
        n: 1,
      });
    }
    await table.submitTransaction(keys.map((rowKey) => ["delete", { partitionKey, rowKey }]));
    assert.deepEqual(await stored(table), []);
  });

  test(`transactions of many writers are seen whole (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const pair = (n) => ["a", "b"].map((rowKey) => ["upsert", entity(rowKey, { n }), n % 4 ? "Merge" : "Replace"]);
    await table.submitTransaction(pair(-1));
    await together(8, 80, async (n) => {
      if (n % 2 === 0) return table.submitTransaction(pair(n));
      const [a, b] = await stored(table);
      return assert.equal(a.n, b.n);
    });
  });

  test(`merges of many, alone and in transactions, all arrive (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await together(8, 40, (n) => {
      const member = { [`p${n}`]: n };
      if (n % 2) return table.upsertEntity(entity("a", member), "Merge");
      return table.submitTransaction(["a", "b"].map((rowKey) => ["upsert", entity(rowKey, member), "Merge"]));
    });
    const [a, b] = await stored(table);
    const members = (step) =>
      Object.fromEntries(Array.from({ length: 40 / step }, (_, n) => [`p${n * step}`, n * step]));
    assert.deepEqual(own(a), entity("a", members(1)));
    assert.deepEqual(own(b), entity("b", members(2)));
  });

  test(`a transaction by shared access signature (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const { credential } = context.door(flavour);
    const holder = (permissions) =>
      context.table(flavour, table.tableName, {
        credential: new AzureSASCredential(generateTableSas(table.tableName, credential, { permissions })),
      });
    const writer = holder({ add: true, update: true });
    await writer.submitTransaction([create("a"), ["upsert", entity("b")]]);
    await refused(writer.submitTransaction([create("c"), ["delete", entity("a")]]), 403);
    assert.deepEqual(
      (await stored(table)).map(({ rowKey }) => rowKey),
      ["a", "b"],
    );
    await holder({ delete: true }).submitTransaction([["delete", entity("a")]]);
    assert.deepEqual(
      (await stored(table)).map(({ rowKey }) => rowKey),
      ["b"],
    );
  });
}

test("a transaction has at most four megabytes", async (t) => {
  const table = await context.makeTable(t, "cosmos");
  const actions = ["a", "b", "c"].map((rowKey) => create(rowKey, { text: "x".repeat(1_500_000) }));
  await refused(table.submitTransaction(actions), 413, "RequestBodyTooLarge");
  assert.deepEqual(await stored(table), []);
});

test("a transaction in empty keys (storage)", async (t) => {
  const table = await context.makeTable(t, "storage");
  const empty = { partitionKey: "", rowKey: "" };
  await table.submitTransaction([
    ["create", { ...empty, n: 1 }],
    ["create", { ...empty, rowKey: "r" }],
  ]);
  await table.submitTransaction([["update", { ...empty, m: 1 }]]);
  assert.deepEqual(own(await table.getEntity("", "")), { ...empty, n: 1, m: 1 });
  await table.submitTransaction([["delete", empty]]);
  assert.equal((await stored(table)).length, 1);
});
