// Every public operation of the SDK has a test: what the package declares, against what the tests call.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";

import * as sdk from "@azure/data-tables";

const COVERED = {
  TableServiceClient: {
    fromConnectionString: "doors",
    createTable: "service",
    deleteTable: "service",
    listTables: "service",
    getProperties: "service",
    setProperties: "service",
    getStatistics: "service",
  },
  TableClient: {
    fromConnectionString: "doors",
    createTable: "service",
    deleteTable: "service",
    createEntity: "entities",
    getEntity: "entities",
    updateEntity: "entities",
    upsertEntity: "entities",
    deleteEntity: "entities",
    listEntities: "queries",
    submitTransaction: "transactions",
    getAccessPolicy: "access",
    setAccessPolicy: "access",
  },
  TableTransaction: {
    createEntity: "transactions",
    updateEntity: "transactions",
    upsertEntity: "transactions",
    deleteEntity: "transactions",
  },
  AzureNamedKeyCredential: { update: "access" },
  AzureSASCredential: { update: "access" },
};

const EXPORTS = {
  AzureNamedKeyCredential: "access",
  AzureSASCredential: "access",
  KnownGeoReplicationStatusType: "service",
  RestError: "entities",
  TableClient: "doors",
  TableServiceClient: "doors",
  TableTransaction: "transactions",
  generateAccountSas: "access",
  generateTableSas: "access",
  odata: "queries",
};

const folder = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const source = (subject) => readFileSync(join(folder, `table-${subject}.test.mjs`), "utf8");
const declarations = dirname(createRequire(import.meta.url).resolve("@azure/data-tables"));

/** The names a class declares as its own business. */
function privateNames(name) {
  const file = join(declarations, `${name}.d.ts`);
  return [...readFileSync(file, "utf8").matchAll(/^\s+private (?:static |readonly )*(\w+)/gm)].map(
    ([, member]) => member,
  );
}

/** The functions of a class, its static ones among them. */
function methods(type) {
  const functions = (object) =>
    Object.entries(Object.getOwnPropertyDescriptors(object))
      .filter(([, { value }]) => typeof value === "function")
      .map(([name]) => name);
  return [...functions(type.prototype), ...functions(type)].filter((name) => name !== "constructor").sort();
}

test("every public method is called by a test", () => {
  for (const [type, covered] of Object.entries(COVERED)) {
    const hidden = type.startsWith("Table") ? privateNames(type) : [];
    const open = methods(sdk[type]).filter((name) => !hidden.includes(name));
    assert.deepEqual(open, Object.keys(covered).sort(), type);
    for (const [name, subject] of Object.entries(covered)) {
      assert.ok(source(subject).includes(`.${name}(`), `${type}.${name} in ${subject}`);
    }
  }
});

test("everything exported is used by a test", () => {
  assert.deepEqual(Object.keys(sdk).sort(), Object.keys(EXPORTS).sort());
  for (const [name, subject] of Object.entries(EXPORTS))
    assert.ok(source(subject).includes(name), `${name} in ${subject}`);
  const classes = Object.keys(sdk).filter((name) => /^class\b/.test(String(sdk[name])));
  assert.deepEqual(classes.filter((name) => name !== "RestError").sort(), Object.keys(COVERED).sort());
});

test("every kind of action, mode, option and type appears", () => {
  const subjects = ["access", "entities", "queries", "service", "transactions", "types"];
  const everything = [...subjects.map(source), readFileSync(join(folder, "../lib/tables.mjs"), "utf8")].join("\n");
  const actions = ["create", "update", "upsert", "delete"].map((name) => `["${name}", `);
  const modes = ['"Merge"', '"Replace"'];
  const calls = ["getResponseForEntity(", "byPage("];
  const options = [
    ...["continuationToken", "maxPageSize", "filter", "select", "disableTypeConversion", "onResponse", "etag"],
    ...["permissions", "startsOn", "expiresOn", "ipRange", "protocol", "identifier", "resourceTypes", "services"],
    ...[
      "startPartitionKey",
      "startRowKey",
      "endPartitionKey",
      "endRowKey",
      "logging",
      "hourMetrics",
      "minuteMetrics",
      "cors",
    ],
  ];
  const types = ["Binary", "Boolean", "DateTime", "Double", "Guid", "Int32", "Int64", "String"].map(
    (name) => `type: "${name}"`,
  );
  const missing = [...actions, ...modes, ...calls, ...options, ...types].filter((text) => !everything.includes(text));
  assert.deepEqual(missing, []);
});
