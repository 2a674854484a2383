// What every test file shares: a server for the file, clients, containers, and two kinds of expectation.

import assert from "node:assert/strict";
import { Agent } from "node:https";
import { after, afterEach, before, beforeEach } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { CosmosClient } from "@azure/cosmos";

import { KEY, makeFolder, Server } from "./server.mjs";

// Enough that no test is throttled by accident, few enough for one physical partition.
const ROOMY_THROUGHPUT = 10_000;
const LOG_MS_MAX = 5_000;

let number = 0;

/** Returns a name no other test of this file uses. */
export function fresh(prefix) {
  number += 1;
  return `${prefix}-${number}`;
}

/** Opens a client over https that trusts the server's own certificate. */
export function connect(server, options = {}) {
  const agent = new Agent({ ca: server.certificate, keepAlive: true });
  const client = new CosmosClient({
    endpoint: server.https,
    ...("key" in options ? {} : { key: KEY }),
    agent,
    ...options,
  });
  return { client, close: () => (client.dispose(), agent.destroy()) };
}

/** Registers hooks that run a server for this file; returns an object filled in before the first test. */
export function useServer(...flags) {
  const context = { announced: [], opened: [] };
  let folder;
  let logged = 0;

  before(async () => {
    folder = await makeFolder();
    context.server = await Server.start(folder.path, ...flags);
    const { client, close } = connect(context.server);
    context.opened.push(close);
    context.client = client;
    context.database = (await client.databases.create({ id: "conformance" })).database;
  });

  beforeEach(() => {
    context.announced.length = 0;
  });

  afterEach(async () => {
    const { server, announced } = context;
    const missing = () => announced.filter((pattern) => !server.complaints(logged).some((line) => pattern.test(line)));
    const deadline = Date.now() + LOG_MS_MAX;
    while (missing().length > 0 && Date.now() < deadline) await sleep(20);
    assert.deepEqual(missing(), [], "announced log lines never came");
    const surprising = server.complaints(logged).filter((line) => !announced.some((pattern) => pattern.test(line)));
    logged = server.logLength();
    assert.deepEqual(surprising, [], "the server logged warnings or errors nobody announced");
  });

  after(async () => {
    for (const close of context.opened) close();
    const code = await context.server.stop();
    const complaints = context.server.complaints(logged);
    await folder.remove();
    assert.equal(code, 0, "SIGTERM ends the server with exit code 0");
    assert.deepEqual(complaints, []);
  });

  /** Announces a warning or error the test is going to cause. */
  context.expectLog = (pattern) => context.announced.push(pattern);

  /** Opens another client that is closed at the end of the file. */
  context.connect = (options) => {
    const { client, close } = connect(context.server, options);
    context.opened.push(close);
    return client;
  };

  /** Makes a container that is gone after the test. */
  context.makeContainer = async (test, definition = {}) => {
    const throughput = "maxThroughput" in definition ? {} : { throughput: ROOMY_THROUGHPUT };
    const { container } = await context.database.containers.create({
      id: fresh("container"),
      partitionKey: { paths: ["/city"], kind: "Hash", version: 2 },
      ...throughput,
      ...definition,
    });
    test.after(async () => {
      await container.delete().catch((error) => assert.equal(error.code, 404));
    });
    return container;
  };

  return context;
}

/** Starts a server for one test, on a folder of its own; at its end the server is stopped and its log checked. */
export async function serve(test, ...flags) {
  const folder = await makeFolder();
  const server = await Server.start(folder.path, ...flags);
  const opened = [];
  test.after(async () => {
    for (const close of opened) close();
    const code = await server.stop();
    const complaints = server.complaints();
    await folder.remove();
    assert.equal(code, 0, "SIGTERM ends the server with exit code 0");
    assert.deepEqual(complaints, []);
  });
  return {
    server,
    connect: (options) => {
      const { client, close } = connect(server, options);
      opened.push(close);
      return client;
    },
  };
}

/** Returns the same container as another client sees it. */
export function through(client, container) {
  return client.database(container.database.id).container(container.id);
}

/** Expects the SDK to reject with this status, and this sub-status where one is given; returns the error. */
export async function refused(promise, code, substatus) {
  let error;
  try {
    const value = await promise;
    assert.fail(`expected status ${code}, got ${JSON.stringify(value?.resource ?? value)}`);
  } catch (caught) {
    error = caught;
  }
  assert.equal(error.code, code, String(error.stack));
  if (substatus !== undefined) assert.equal(error.substatus ?? 0, substatus, error.message);
  return error;
}


/** Returns what the user stored, in the order it came back. */
export function withoutSystemProperties(item) {
  const { _rid, _self, _etag, _attachments, _ts, ...own } = item;
  return own;
}
