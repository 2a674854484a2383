// What the tests of the MongoDB API share: clients, collections that are gone after a test, expectations.

import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";

import { MongoClient } from "mongodb";

import { fresh } from "./fixture.mjs";
import { KEY, makeFolder, Server } from "./server.mjs";

export const ACCOUNT = "localhost";

/** Returns the connection string of a server, with the account's name and key. */
export function connectionString(server, { key = KEY, tls = true, ...more } = {}) {
  const parameters = new URLSearchParams({ serverSelectionTimeoutMS: "10000", ...more });
  if (tls) {
    parameters.set("tls", "true");
    parameters.set("tlsCAFile", server.certificateFile);
  }
  return `mongodb://${ACCOUNT}:${encodeURIComponent(key)}@localhost:${server.mongoPort}/?${parameters}`;
}

/** Registers hooks that run a server for this file; returns an object filled in before the first test. */
export function useMongo(...flags) {
  const context = { opened: [] };
  let folder;
  let logged = 0;

  /** Opens another client that is closed at the end of the file. */
  context.connect = async (parameters = {}, options = {}) => {
    const client = new MongoClient(connectionString(context.server, parameters), options);
    context.opened.push(client);
    return client.connect();
  };

  before(async () => {
    folder = await makeFolder();
    // A collection that a write makes has 400 RU/s, too few for most tests.
    context.server = await Server.start(folder.path, "--throttle", "off", ...flags);
    context.client = await context.connect();
    context.database = context.client.db("conformance");
  });

  afterEach(() => {
    const surprising = context.server.complaints(logged);
    logged = context.server.logLength();
    assert.deepEqual(surprising, [], "the server logged warnings or errors that were not announced");
  });

  after(async () => {
    for (const client of context.opened) await client.close();
    const code = await context.server.stop();
    const complaints = context.server.complaints(logged);
    await folder.remove();
    assert.equal(code, 0, "SIGTERM ends the server with exit code 0");
    assert.deepEqual(complaints, []);
  });

  /** Returns a collection that does not exist yet, and is gone after the test. */
  context.collection = (test, options = {}) => {
    const collection = context.database.collection(fresh("collection"), options);
    test.after(() => collection.drop());
    return collection;
  };

  return context;
}

/** Expects the driver to reject with one of these codes; returns the error. */
export async function refused(promise, ...codes) {
  let error;
  try {
    const value = await promise;
    assert.fail(`expected code ${codes}, got ${JSON.stringify(value)}`);
  } catch (caught) {
    error = caught;
  }
  assert.ok(codes.includes(error.code), String(error.stack));
  return error;
}

/** Returns the `_id`s in the order of the answer. */
export const ids = (found) => found.map(({ _id }) => _id);
