// The change feed of latest versions: every start, every scope, pages, positions, and the SDK's older iterator.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ChangeFeedStartFrom as From, PartitionKeyBuilder } from "@azure/cosmos";

import { connect, fresh, refused, through, useServer } from "../lib/fixture.mjs";
import { drain, expectNothing, nextSecond, open } from "../lib/feed.mjs";
import { register } from "../lib/scripts.mjs";
import { makeFolder, Server } from "../lib/server.mjs";

const context = useServer();

const TWO_RANGES = 20_000;

const ids = (changes) => changes.map(({ id }) => id);
const sorted = (changes) => ids(changes).toSorted();
const names = (prefix, count) => Array.from({ length: count }, (_, n) => `${prefix} ${n}`);

async function create(container, wanted, city = "Oslo") {
  for (const id of wanted) await container.items.create({ id, city });
}

/** Creates an item in each of so many cities, which lie on both sides of the ring. */
async function createWidely(container, prefix, count) {
  for (const city of names("city", count)) await container.items.create({ id: prefix, city });
}

test("from the beginning every item comes once, as it is now, in the order of the last writes", async (t) => {
  const container = await context.makeContainer(t);
  await create(container, names("item", 6));
  const item = (id) => container.item(id, "Oslo");
  await item("item 3").replace({ id: "item 3", city: "Oslo", n: 1 });
  await item("item 0").patch([{ op: "add", path: "/n", value: 1 }]);
  await container.items.upsert({ id: "item 4", city: "Oslo", n: 1 });
  await item("item 1").delete();
  const { changes } = await drain(open(container, From.Beginning()));
  assert.deepEqual(ids(changes), ["item 2", "item 5", "item 3", "item 0", "item 4"]);
  for (const { _lsn, ...change } of changes) {
    assert.deepEqual(change, (await item(change.id).read()).resource);
  }
  const commits = changes.map(({ _lsn }) => _lsn);
  assert.deepEqual(commits, [...new Set(commits)].toSorted((a, b) => a - b));
});

test("what batches, bulk requests and scripts write comes too", async (t) => {
  const container = await context.makeContainer(t);
  const iterator = open(container, From.Now());
  await expectNothing(iterator);
  const create = (id) => ({ operationType: "Create", resourceBody: { id, city: "Oslo" } });
  await container.items.batch([create("batch 1"), create("batch 2")], "Oslo");
  await container.items.executeBulkOperations([{ ...create("bulk"), partitionKey: "Oslo" }]);
  const write = await register(container, (id) => {
    const collection = getContext().getCollection();
    collection.createDocument(collection.getSelfLink(), { id, city: "Oslo" });
  });
  await write("script");
  assert.deepEqual(sorted((await drain(iterator)).changes), ["batch 1", "batch 2", "bulk", "script"]);
});

test("pages hold what was asked for, and 304 is the end until something changes", async (t) => {
  const container = await context.makeContainer(t);
  await create(container, names("item", 8));
  const iterator = open(container, From.Beginning(), { maxItemCount: 3 });
  const { pages, changes } = await drain(iterator);
  assert.deepEqual(pages.map(({ count }) => count), [3, 3, 2]);
  assert.deepEqual(ids(changes), names("item", 8));
  assert.equal(iterator.hasMoreResults, true);
  await expectNothing(iterator);
  await create(container, ["new"]);
  assert.deepEqual(ids((await drain(iterator)).changes), ["new"]);
  assert.throws(() => open(container, From.Beginning(), { maxItemCount: 0 }));
});

test("an asynchronous iterator goes on behind the end", async (t) => {
  const container = await context.makeContainer(t);
  await create(container, names("item", 5));
  const seen = [];
  let ends = 0;
  for await (const page of open(container, From.Beginning(), { maxItemCount: 2 }).getAsyncIterator()) {
    seen.push(...ids(page.result));
    if (page.statusCode !== 304) continue;
    ends += 1;
    if (ends === 1) await create(container, ["late"]);
    else break;
  }
  assert.deepEqual(seen, [...names("item", 5), "late"]);
});

for (const [name, start] of [
  ["by default", () => undefined],
  ["when asked for", () => From.Now()],
  ["of one key", () => From.Now("Oslo")],
]) {
  test(`from now on, ${name}`, async (t) => {
    const container = await context.makeContainer(t);
    await create(container, ["before"]);
    const iterator = open(container, start());
    await expectNothing(iterator);
    await create(container, ["after"]);
    await container.item("before", "Oslo").patch([{ op: "add", path: "/n", value: 1 }]);
    assert.deepEqual(ids((await drain(iterator)).changes), ["after", "before"]);
  });
}

test("from a time on", async (t) => {
  const container = await context.makeContainer(t, { throughput: TWO_RANGES });
  await createWidely(container, "early", 12);
  const beforeLate = await nextSecond();
  await createWidely(container, "late", 12);
  await container.item("early", "city 3").replace({ id: "early", city: "city 3", n: 1 });
  const late = (await drain(open(container, From.Time(beforeLate)))).changes;
  assert.deepEqual(sorted(late), ["early", ...Array(12).fill("late")]);
  for (const page of [1, 5]) {
    const { changes } = await drain(open(container, From.Time(beforeLate), { maxItemCount: page }));
    assert.equal(changes.length, 13);
  }
  const ofKey = await drain(open(container, From.Time(beforeLate, "city 3")));
  assert.deepEqual(ids(ofKey.changes), ["late", "early"]);
  const all = (await drain(open(container, From.Time(new Date(0))))).changes;
  assert.equal(all.length, 24);
  const iterator = open(container, From.Time(beforeLate));
  await drain(iterator);
  await createWidely(container, "latest", 2);
  assert.deepEqual(ids((await drain(iterator)).changes), ["latest", "latest"]);
});

const KEYS = { text: "Oslo", number: -0.5, boolean: false, null: null, missing: undefined };

test("of one key of every kind", async (t) => {
  const container = await context.makeContainer(t, { throughput: TWO_RANGES });
  for (const [id, city] of Object.entries(KEYS)) {
    const members = city === undefined ? {} : { city };
    for (const n of [1, 2]) await container.items.create({ id: `${id} ${n}`, ...members });
  }
  for (const [id, city] of Object.entries(KEYS)) {
    const key = city === undefined ? new PartitionKeyBuilder().addNoneValue().build() : city;
    const { changes } = await drain(open(container, From.Beginning(key), { maxItemCount: 1 }));
    assert.deepEqual(ids(changes), [`${id} 1`, `${id} 2`]);
  }
  await expectNothing(open(container, From.Beginning("nobody lives here")));
});

test("of hierarchical keys and their prefixes", async (t) => {
  const partitionKey = { paths: ["/tenant", "/user", "/session"], kind: "MultiHash", version: 2 };
  const container = await context.makeContainer(t, { partitionKey, throughput: TWO_RANGES });
  for (const tenant of ["a", "b", "c", "d"]) {
    for (const user of ["x", "y"]) {
      for (const session of [1, 2]) {
        await container.items.create({ id: tenant + user + session, tenant, user, session });
      }
    }
  }
  for (const [key, wanted] of [
    [["a", "x", 1], ["ax1"]],
    [["b", "y"], ["by1", "by2"]],
    [["c"], ["cx1", "cx2", "cy1", "cy2"]],
    [["d", "z"], []],
  ]) {
    const iterator = open(container, From.Beginning(key), { maxItemCount: 1 });
    assert.deepEqual(ids((await drain(iterator)).changes), wanted, String(key));
  }
  const iterator = open(container, From.Now(["a"]));
  const token = await expectNothing(iterator);
  await container.items.create({ id: "new", tenant: "a", user: "z", session: 1 });
  await container.items.create({ id: "other", tenant: "b", user: "z", session: 1 });
  assert.deepEqual(ids((await drain(iterator)).changes), ["new"]);
  assert.deepEqual(ids((await drain(open(container, From.Continuation(token)))).changes), ["new"]);
});

test("of feed ranges, which share the container between them", async (t) => {
  const container = await context.makeContainer(t, { throughput: TWO_RANGES });
  await createWidely(container, "item", 40);
  const ranges = await container.getFeedRanges();
  assert.equal(ranges.length, 2);
  const seen = [];
  for (const range of ranges) {
    const { changes, token } = await drain(open(container, From.Beginning(range), { maxItemCount: 4 }));
    assert.ok(changes.length > 5, `${changes.length} of 40 items in one of two ranges`);
    seen.push(...changes.map(({ city }) => city));
    await expectNothing(open(container, From.Continuation(token)));
  }
  assert.deepEqual(seen.toSorted(), names("city", 40).toSorted());
  const [first, second] = ranges.map((range) => open(container, From.Now(range)));
  await expectNothing(first);
  await expectNothing(second);
  await createWidely(container, "new", 20);
  const [one, other] = [(await drain(first)).changes, (await drain(second)).changes];
  assert.ok(one.length > 0 && other.length > 0);
  assert.equal(one.length + other.length, 20);
});

for (const [scope, start, wanted] of [
  ["a container", () => From.Beginning(), 20],
  ["a key", () => From.Beginning("city 1"), 2],
  ["a feed range", (ranges) => From.Beginning(ranges[1]), undefined],
]) {
  test(`the position behind every page of ${scope} is good in another client`, async (t) => {
    const container = await context.makeContainer(t, { throughput: TWO_RANGES });
    await createWidely(container, "a", 10);
    await createWidely(container, "b", 10);
    const ranges = await container.getFeedRanges();
    const options = { maxItemCount: 1 };
    const whole = (await drain(open(container, start(ranges), options))).changes;
    if (wanted !== undefined) assert.equal(whole.length, wanted);
    const iterator = open(container, start(ranges), options);
    const stranger = through(context.connect(), container);
    const seen = [];
    for (;;) {
      const page = await iterator.readNext();
      seen.push(...page.result);
      const rest = await drain(open(stranger, From.Continuation(page.continuationToken), options));
      assert.equal(seen.length + rest.changes.length, whole.length);
      const all = [...seen, ...rest.changes].map(({ _rid }) => _rid);
      assert.deepEqual(all.toSorted(), whole.map(({ _rid }) => _rid).toSorted());
      if (page.statusCode === 304) break;
    }
  });
}

test("a transaction is never cut by a page", async (t) => {
  const container = await context.makeContainer(t);
  const create = (id) => ({ operationType: "Create", resourceBody: { id, city: "Oslo" } });
  const transactions = [1, 7, 2, 1, 5, 20, 3].map((size, n) => names(`transaction ${n} item`, size));
  for (const wanted of transactions) {
    const { code } = await container.items.batch(wanted.map(create), "Oslo");
    assert.equal(code, 200);
  }
  for (const maxItemCount of [1, 3, 6, 100]) {
    for (const start of [From.Beginning(), From.Beginning("Oslo")]) {
      const { pages } = await drain(open(container, start, { maxItemCount }));
      const commits = pages.map(({ result }) => [...new Set(result.map(({ _lsn }) => _lsn))]);
      assert.equal(new Set(commits.flat()).size, transactions.length, "a transaction is one commit");
      assert.equal(commits.flat().length, transactions.length, "every commit lies in one page");
      assert.equal(pages.reduce((sum, { count }) => sum + count, 0), transactions.flat().length);
      for (const { result } of pages) {
        const before = result.filter(({ _lsn }) => _lsn !== result.at(-1)._lsn);
        assert.ok(before.length < maxItemCount, "only the last transaction may exceed a page");
      }
    }
  }
});

test("positions outlive restarts", async (t) => {
  const folder = await makeFolder();
  t.after(folder.remove);
  let server = await Server.start(folder.path);
  t.after(() => server.process.kill("SIGKILL"));
  let { client, close } = connect(server);
  const { database } = await client.databases.create({ id: "d" });
  await database.containers.create({ id: "c", partitionKey: "/city", throughput: TWO_RANGES });
  const wanted = [];
  const tokens = {};
  for (const signal of ["SIGTERM", "SIGKILL", undefined]) {
    const container = client.database("d").container("c");
    for (const [name, token] of Object.entries(tokens)) {
      const { changes } = await drain(open(container, From.Continuation(token), { maxItemCount: 3 }));
      assert.deepEqual(changes, [], name);
    }
    const id = `item ${signal}`;
    await createWidely(container, id, 10);
    wanted.push(id);
    for (const [name, token] of Object.entries(tokens)) {
      const { changes } = await drain(open(container, From.Continuation(token), { maxItemCount: 3 }));
      assert.equal(changes.length, name === "key" ? 1 : 10, name);
      assert.deepEqual([...new Set(ids(changes))], [id]);
    }
    const all = await drain(open(container, From.Beginning()));
    assert.equal(all.changes.length, 10 * wanted.length);
    const key = await drain(open(container, From.Beginning("city 1")));
    assert.deepEqual(ids(key.changes), wanted);
    const now = await expectNothing(open(container, From.Now()));
    Object.assign(tokens, { container: all.token, key: key.token, now });
    close();
    assert.equal(await server.stop(signal), signal === "SIGKILL" ? "SIGKILL" : 0);
    assert.deepEqual(server.complaints(), []);
    if (signal === undefined) break;
    server = await Server.start(folder.path);
    ({ client, close } = connect(server));
  }
});

test("positions of another container, and what is no position", async (t) => {
  const container = await context.makeContainer(t);
  await create(container, ["1"]);
  const { token } = await drain(open(container, From.Beginning()));
  const other = await context.makeContainer(t);
  await assert.rejects(open(other, From.Continuation(token)).readNext(), /not for the current container/);
  for (const condition of ['"nonsense"', '"-1"', '"1;2"', '"F1;"', '"99999999999999999999999"']) {
    await refused(container.items.changeFeed("Oslo", { continuation: condition }).fetchNext(), 400);
    const forged = JSON.parse(token);
    forged.Continuation[0].continuationToken = condition;
    await refused(open(container, From.Continuation(JSON.stringify(forged))).readNext(), 400);
  }
});

test("the older iterator reads one key", async (t) => {
  const container = await context.makeContainer(t);
  await create(container, names("item", 5));
  await create(container, ["elsewhere"], "Bergen");
  const iterator = container.items.changeFeed("Oslo", { startFromBeginning: true, maxItemCount: 2 });
  const pages = [];
  for await (const page of iterator.getAsyncIterator()) pages.push(page);
  assert.equal(iterator.hasMoreResults, false);
  assert.deepEqual(pages.map(({ count }) => count), [2, 2, 1]);
  assert.deepEqual(ids(pages.flatMap(({ result }) => result)), names("item", 5));
  const { continuation } = pages[0];
  assert.equal(continuation, pages[0].headers.etag);
  const rest = await container.items.changeFeed("Oslo", { continuation }).fetchNext();
  assert.deepEqual(ids(rest.result), names("item", 5).slice(2));

  const time = await nextSecond();
  const now = container.items.readChangeFeed("Oslo", {});
  assert.equal((await now.fetchNext()).statusCode, 304);
  await create(container, ["new"]);
  assert.deepEqual(ids((await now.fetchNext()).result), ["new"]);
  const since = container.items.changeFeed("Oslo", { startTime: time });
  assert.deepEqual(ids((await since.fetchNext()).result), ["new"]);
  assert.equal((await since.fetchNext()).statusCode, 304);
  await assert.rejects(container.items.changeFeed({ startFromBeginning: true }).fetchNext(), /partition key/);
});

test("a permission to read is a permission to follow", async (t) => {
  const container = await context.makeContainer(t);
  const other = await context.makeContainer(t);
  await create(container, ["1"]);
  const { user } = await context.database.users.create({ id: fresh("user") });
  const resource = `dbs/${context.database.id}/colls/${container.id}`;
  const granted = await user.permissions.create({ id: "read", permissionMode: "Read", resource });
  const resourceTokens = {
    [resource]: granted.resource._token,
    [`dbs/${context.database.id}/colls/${other.id}`]: granted.resource._token,
  };
  const client = context.connect({ key: undefined, resourceTokens });
  const reader = through(client, container);
  for (const start of [From.Beginning(), From.Beginning("Oslo")]) {
    assert.deepEqual(ids((await drain(open(reader, start))).changes), ["1"]);
  }
  await refused(through(client, other).items.changeFeed("Oslo", {}).fetchNext(), 403);
});

test("sessions and priorities are understood", async (t) => {
  const container = await context.makeContainer(t);
  const { headers } = await container.items.create({ id: "1", city: "Oslo" });
  const sessionToken = headers["x-ms-session-token"];
  const stranger = through(context.connect({ consistencyLevel: "Session" }), container);
  const options = { sessionToken, priorityLevel: "Low" };
  const { pages } = await drain(open(stranger, From.Beginning(), options));
  assert.deepEqual(ids(pages[0].result), ["1"]);
  assert.equal(pages[0].sessionToken, sessionToken);
  // How far behind a follower is: the newest commit less the one before its first change.
  const newest = Number(pages[0].sessionToken.split("#")[1]);
  assert.equal(newest - (pages[0].result[0]._lsn - 1), 1);
});
