// Session tokens between clients, and request charges on responses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { useServer } from "../lib/fixture.mjs";

const context = useServer();

const WRITE_UNIT = 4 / 21;
const ROUNDING = 0.0051;

test("a second client reads what the first wrote", async (t) => {
  const container = await context.makeContainer(t);
  const other = context.connect({ consistencyLevel: "Session" }).database(context.database.id).container(container.id);
  for (let n = 0; n < 20; n += 1) {
    const { headers } = await container.items.upsert({ id: "1", city: "Oslo", n });
    const sessionToken = headers["x-ms-session-token"];
    assert.match(sessionToken, /^\d+:-?\d+#\d+/);
    assert.equal((await other.item("1", "Oslo").read({ sessionToken })).resource.n, n);
  }
});

test("a client with session consistency keeps its own tokens", async (t) => {
  const container = await context.makeContainer(t);
  const mine = context.connect({ consistencyLevel: "Session" }).database(context.database.id).container(container.id);
  for (let n = 0; n < 10; n += 1) {
    await mine.items.upsert({ id: "1", city: "Oslo", n });
    assert.equal((await mine.item("1", "Oslo").read()).resource.n, n);
  }
  await mine.item("1", "Oslo").delete();
  assert.equal((await mine.item("1", "Oslo").read()).statusCode, 404);
});

test("a token of the future is not served", async (t) => {
  const container = await context.makeContainer(t);
  const { headers } = await container.items.create({ id: "1", city: "Oslo" });
  const [range, progress] = headers["x-ms-session-token"].split(":");
  const [version, lsn] = progress.split("#");
  const sessionToken = `${range}:${version}#${Number(lsn) + 1_000_000}`;

  // With endpoint discovery the SDK answers 404/1002 by asking again without the token.
  const strict = context.connect({ connectionPolicy: { enableEndpointDiscovery: false } });
  const strictItem = strict.database(context.database.id).container(container.id).item("1", "Oslo");
  const behind = await strictItem.read({ sessionToken });
  assert.deepEqual([behind.statusCode, behind.substatus], [404, 1002]);
  assert.equal((await container.item("1", "Oslo").read({ sessionToken })).statusCode, 200);
});

test("charges follow the published table", async (t) => {
  const container = await context.makeContainer(t);
  // Below a kilobyte: 26 units, two terms for each of five leaves, one for the partition key.
  const created = await container.items.create({ id: "1", city: "Oslo", name: "Ada", tags: ["a", "b", "a"] });
  assert.ok(Math.abs(created.requestCharge - WRITE_UNIT * (26 + 2 * 5 + 1)) <= ROUNDING, String(created.requestCharge));
  const item = container.item("1", "Oslo");
  assert.equal((await item.read()).requestCharge, 1);
  const replaced = await item.replace({ id: "1", city: "Oslo", name: "Eve", tags: ["a", "b", "a"] });
  assert.ok(
    Math.abs(replaced.requestCharge - WRITE_UNIT * (26 + 26 + 2 + 2)) <= ROUNDING,
    String(replaced.requestCharge),
  );
});

test("a client merges the tokens of two partitions", async (t) => {
  const container = await context.makeContainer(t, { throughput: 25_100, partitionKey: { paths: ["/id"] } });
  const mine = context.connect({ consistencyLevel: "Session" }).database(context.database.id).container(container.id);
  const parts = (token) => new Map(token.split(",").map((part) => part.split(":")));
  const seen = new Map();
  // Ids until two partitions were written to: each answer has the token of its own partition alone.
  for (let n = 0; seen.size < 2; n += 1) {
    const { headers } = await mine.items.create({ id: String(n) });
    const token = parts(headers["x-ms-session-token"]);
    assert.equal(token.size, 1);
    seen.set([...token.keys()][0], { id: String(n), progress: [...token.values()][0] });
  }
  const [first, second] = [...seen.values()];
  for (const { id, progress } of [first, second]) {
    const { headers } = await mine.item(id, id).read();
    assert.deepEqual([...parts(headers["x-ms-session-token"]).values()], [progress], "reading moves nothing");
  }
  const { headers } = await mine.items.upsert({ id: first.id, more: 1 });
  assert.notDeepEqual([...parts(headers["x-ms-session-token"]).values()], [first.progress]);
  // What the other partition said before still holds.
  const again = await mine.item(second.id, second.id).read();
  assert.deepEqual([...parts(again.headers["x-ms-session-token"]).values()], [second.progress]);
  const { resources } = await mine.items.query(`SELECT * FROM c WHERE c.id = "${first.id}"`).fetchAll();
  assert.equal(resources[0].more, 1);
});
