// The Gremlin API through the JavaScript driver: who may connect, how, and how connections end.

import assert from "node:assert/strict";
import { test } from "node:test";

import { atEach, DOORS, NEWEST_DOORS, refused, run, useGremlin } from "../lib/gremlin.mjs";

const asKey = (text) => Buffer.from(text).toString("base64");
const SECONDARY_KEY = asKey("a second key that permits everything, sixty-four bytes or nearly");
const READ_ONLY_KEY = asKey("a key that permits reading alone, sixty-four bytes long or so it");

const context = useGremlin("--secondary-key", SECONDARY_KEY, "--read-only-key", READ_ONLY_KEY);

test("every key of the account opens a graph", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    for (const key of [undefined, SECONDARY_KEY, READ_ONLY_KEY]) {
      const client = context.scripts(inner, door, await context.modern(), { key });
      assert.deepEqual(await run(client, "g.V().count()"), [6]);
    }
  }));

test("a wrong key is refused", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern(), { key: "d3Jvbmc=" });
    for (const _ of [1, 2]) {
      await refused(client.submit("g.V().count()"), 401, 401, "Unauthorized: Invalid credentials provided");
    }
    const g = context.traversals(inner, door, await context.modern(), { key: "d3Jvbmc=" });
    await refused(g.V().count().next(), 401, 401, "Unauthorized: Invalid credentials provided");
  }));

test("a login is asked for", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern(), { authenticator: undefined });
    await refused(client.submit("g.V().count()"), 407, 407, "SASL");
  }));

test("graphs that are not there", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    for (const graph of ["/dbs/conformance/colls/nowhere", "/dbs/nowhere/colls/g"]) {
      const client = context.scripts(inner, door, graph);
      await refused(client.submit("g.V().count()"), 500, 404, "Owner resource does not exist");
    }
  }));

test("a key for reading writes nothing", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern(), { key: READ_ONLY_KEY });
    for (const script of ["g.addV('x').property('pk','p')", "g.V('marko').drop()", "g.V('marko').property('a',1)"]) {
      await refused(client.submit(script), 500, 403, "Insufficient permissions provided in the authorization header");
    }
    assert.deepEqual(await run(client, "g.V().count()"), [6]);
  }));

test("a server whose certificate is not trusted is not spoken to", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const [address, options] = context.arguments(door, await context.modern());
    const stranger = new door.driver.driver.Client(address, { ...options, ca: undefined, connectOnStartup: false });
    await assert.rejects(stranger.open(), /self.signed certificate/);
    const careless = { ca: undefined, rejectUnauthorized: false };
    const client = context.scripts(inner, door, await context.modern(), careless);
    assert.deepEqual(await run(client, "g.V().count()"), [6]);
  }));

test("without TLS, on the same port", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern(), { scheme: "ws" });
    assert.deepEqual(await run(client, "g.V().count()"), [6]);
    const g = context.traversals(inner, door, await context.modern(), { scheme: "ws" });
    assert.deepEqual(await g.V("no-such").toList(), []);
  }));

test("any path", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    for (const path of ["", "/", "/gremlin", "/some/where?else=1"]) {
      const client = context.scripts(inner, door, await context.modern(), { path });
      assert.deepEqual(await run(client, "g.V().count()"), [6], path);
    }
  }));

test("compression that is offered may be declined", (t) =>
  atEach(t, NEWEST_DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern(), { enableCompression: true });
    const text = "x".repeat(100_000);
    assert.deepEqual(await run(client, "g.inject(text)", { text }), [text]);
  }));

test("headers and the name of an application", (t) =>
  atEach(t, NEWEST_DOORS, async (inner, door) => {
    for (const options of [{ headers: { "X-Application": "tests" } }, { enableUserAgentOnConnect: false }]) {
      const client = context.scripts(inner, door, await context.modern(), options);
      assert.deepEqual(await run(client, "g.V().count()"), [6]);
    }
  }));

test("a connection is closed and opened again", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const codes = [];
    client.addListener("close", (code) => codes.push(code));
    for (const _ of [1, 2, 3]) {
      assert.deepEqual(await run(client, "g.V().count()"), [6]);
      await client.close();
    }
    assert.equal(codes.length, 3);
    assert.ok(codes.every((code) => code === 1000 || code === 1005), String(codes));
  }));

test("what is under way when a connection closes is given up", (t) =>
  atEach(t, NEWEST_DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    await client.submit("g.inject(1)");
    const endless = client.submit("g.V().repeat(both()).times(30).path().count()");
    const given = assert.rejects(endless, /Connection has been closed/);
    await client.close();
    await given;
    assert.deepEqual(await run(client, "g.V().count()"), [6]);
  }));

test("the driver's pings are answered", (t) =>
  atEach(t, DOORS.filter((door) => !NEWEST_DOORS.includes(door)), async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern(), { pingInterval: 50, pongTimeout: 2_000 });
    const heard = new Promise((resolve) => {
      client.addListener("log", (text) => text.includes("pong received") && resolve());
    });
    await client.submit("g.inject(1)");
    await heard;
    assert.deepEqual(await run(client, "g.V().count()"), [6]);
    // The driver goes on with its pings while it closes, and fails of them.
    clearInterval(client._connection._pingInterval);
  }));

test("many connections at once", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const graph = await context.modern();
    const clients = Array.from({ length: 20 }, () => context.scripts(inner, door, graph));
    const counts = await Promise.all(clients.map((client) => run(client, "g.V().count()")));
    assert.deepEqual(counts, clients.map(() => [6]));
  }));
