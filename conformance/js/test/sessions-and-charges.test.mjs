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
