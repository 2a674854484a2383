// What the table tests share: the two flavours of the service and the doors into them, tables, and refusals.
//
// A door is one way to address the tables: flavour, scheme, host, and the account in the path or not. The SDK takes
// `localhost` for Cosmos, unless the path names the Storage emulator's account, and then tunnels merges through POST.

import assert from "node:assert/strict";

import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";

import { useServer } from "./fixture.mjs";
import { KEY } from "./server.mjs";

export { KEY };
export const STORAGE_ACCOUNT = "devstoreaccount1";
export const STORAGE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
export const FLAVOURS = ["cosmos", "storage"];

// Enough that no test is throttled by accident, few enough for one physical partition.
const ROOMY_THROUGHPUT = 10_000;

const USUAL = {
  cosmos: { flavour: "cosmos", scheme: "https", host: "localhost", account: "localhost" },
  storage: { flavour: "storage", scheme: "https", host: "127.0.0.1", account: STORAGE_ACCOUNT },
};

let number = 0;

/** Returns a table name no other test of this file uses, legal in both flavours. */
export function freshName(prefix = "table") {
  number += 1;
  return `${prefix}${number}`;
}

/** Options of an operation that makes a table with this throughput. */
export function withThroughput(throughput) {
  return { requestOptions: { customHeaders: { "x-ms-offer-throughput": String(throughput) } } };
}

/** One way in, with what the SDK's constructors need. */
export function door(server, described) {
  const { flavour, scheme, host, account } = typeof described === "string" ? USUAL[described] : described;
  const { port } = new URL(flavour === "cosmos" ? server.tables : server.storageTables);
  const url = `${scheme}://${host}:${port}${account === STORAGE_ACCOUNT ? `/${account}` : ""}`;
  const key = account === STORAGE_ACCOUNT ? STORAGE_KEY : KEY;
  const options = scheme === "http" ? { allowInsecureConnection: true } : { tlsOptions: { ca: server.certificate } };
  return { flavour, url, account, key, credential: new AzureNamedKeyCredential(account, key), options };
}

/** Registers hooks that run a server with both table listeners; adds what makes clients and tables to its context. */
export function useTables(...flags) {
  const context = useServer("--storage-table-port", "0", ...flags);

  context.door = (described) => door(context.server, described);

  /** Opens a client of the service. */
  context.service = (described, { credential, ...options } = {}) => {
    const { url, credential: usual, options: trust } = context.door(described);
    return new TableServiceClient(url, credential ?? usual, { ...trust, ...options });
  };

  /** Opens a client of one table. */
  context.table = (described, name, { credential, ...options } = {}) => {
    const { url, credential: usual, options: trust } = context.door(described);
    return new TableClient(url, name, credential ?? usual, { ...trust, ...options });
  };

  /** Makes a table that is gone after the test. */
  context.makeTable = async (test, described = "cosmos", throughput = ROOMY_THROUGHPUT) => {
    const table = context.table(described, freshName());
    await table.createTable(withThroughput(throughput));
    test.after(() => table.deleteTable());
    return table;
  };

  return context;
}

/** Expects the SDK to reject with this status and code, as it reports what the server said; returns the error. */
export async function refused(promise, statusCode, code) {
  let error;
  try {
    const value = await promise;
    assert.fail(`expected status ${statusCode}, got ${JSON.stringify(value)}`);
  } catch (caught) {
    error = caught;
  }
  assert.equal(error.name, "RestError", String(error.stack));
  assert.equal(error.statusCode, statusCode, error.message);
  if (code !== undefined) {
    const said = error.code ?? error.details?.odataError?.code ?? error.details?.errorCode;
    const codes = Array.isArray(code) ? code : [code];
    assert.ok(codes.includes(said), `${said} instead of ${codes.join(" or ")}: ${error.message}`);
  }
  return error;
}

/** Returns what the user stored. */
export function own(entity) {
  const { etag, timestamp, ["odata.metadata"]: _, ...rest } = entity;
  return rest;
}

/** Returns everything a list gives. */
export async function all(list) {
  const found = [];
  for await (const one of list) found.push(one);
  return found;
}

/** Returns the pages of a list. */
export async function pages(list, settings) {
  const found = [];
  for await (const page of list.byPage(settings)) found.push(page);
  return found;
}

/** Returns the row keys of what a filter finds, sorted. */
export async function rowsOf(table, filter, select) {
  const found = await all(table.listEntities({ queryOptions: { filter, select } }));
  return found.map(({ rowKey }) => rowKey).sort();
}

/** Puts entities of one partition into a table, a hundred at a time. */
export async function fill(table, entities) {
  for (let start = 0; start < entities.length; start += 100) {
    await table.submitTransaction(entities.slice(start, start + 100).map((entity) => ["upsert", entity, "Replace"]));
  }
}
