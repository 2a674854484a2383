// Pages of queries: continuation tokens of the server and of the SDK, restarts, and what pages cost together.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { connect, refused, useServer } from "../lib/fixture.mjs";
import { fill, numbers, readPages } from "../lib/queries.mjs";
import { makeFolder, Server } from "../lib/server.mjs";

const context = useServer();

let container;
beforeEach(async () => {
  container ??= await fill(context.database);
});

const QUERIES = {
  filter: "SELECT * FROM c WHERE c.n >= 210",
  scan: "SELECT VALUE c.n FROM c WHERE LOWER(c.word) = 'fig'",
  order: "SELECT VALUE c.n FROM c WHERE c.n < 50 ORDER BY c.n DESC",
  "two keys": "SELECT VALUE [c.band, c.n] FROM c WHERE c.n < 40 ORDER BY c.band, c.n DESC",
  top: "SELECT TOP 25 VALUE c.n FROM c ORDER BY c.n",
  offset: "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 7 LIMIT 21",
  distinct: "SELECT DISTINCT VALUE c.word FROM c",
  groups: "SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band",
  join: "SELECT c.n, t FROM c JOIN t IN c.tags WHERE c.n < 30",
};

/** Rows as they can be compared: those of DISTINCT and GROUP BY come in another order on several pages. */
function comparable(query, rows) {
  const text = rows.map((row) => JSON.stringify(row));
  return /DISTINCT|GROUP BY/.test(query) ? text.toSorted() : text;
}

for (const [name, query] of Object.entries(QUERIES)) {
  test(`${name}: pages give the same rows, and cost one each at least`, async () => {
    const whole = await readPages(container, query, { maxItemCount: 1000 });
    for (const maxItemCount of [1, 2, 3]) {
      const cut = await readPages(container, query, { maxItemCount });
      assert.ok(cut.pages.every((page) => page.length <= maxItemCount));
      assert.deepEqual(comparable(query, cut.pages.flat()), comparable(query, whole.pages.flat()));
      assert.ok(cut.charge >= whole.charge, `${cut.charge} ${whole.charge}`);
      assert.ok(cut.charge >= cut.pages.length, `${cut.charge} for ${cut.pages.length} pages`);
    }
    assert.ok(whole.charge > 0);
  });

  test(`${name}: a token resumes in another client`, async () => {
    const other = context.connect().database(context.database.id).container(container.id);
    const whole = (await readPages(container, query, { maxItemCount: 1000 })).pages.flat();
    const found = [];
    let continuationToken;
    for (let turn = 0; turn < 100; turn += 1) {
      const iterator = (turn % 2 ? other : container).items.query(query, { maxItemCount: 4, continuationToken });
      const page = await iterator.fetchNext();
      found.push(...(page.resources ?? []));
      continuationToken = page.continuationToken;
      if (!continuationToken) break;
      assert.ok(continuationToken.length < 1024);
    }
    assert.deepEqual(comparable(query, found), comparable(query, whole));
  });
}

// Not two keys: the filter with which this SDK resumes them, `a >= 1 AND b <= 36`, leaves rows out.
for (const name of ["filter", "order", "top", "offset", "join"]) {
  test(`${name}: the SDK's own tokens resume, under query control`, async () => {
    const query = QUERIES[name];
    const whole = (await readPages(container, query, { maxItemCount: 1000 })).pages.flat();
    const found = [];
    let continuationToken;
    for (let turn = 0; turn < 100; turn += 1) {
      const options = { maxItemCount: 7, enableQueryControl: true, ...(continuationToken ? { continuationToken } : {}) };
      const page = await container.items.query(query, options).fetchNext();
      found.push(...(page.resources ?? []));
      continuationToken = page.continuationToken;
      if (!continuationToken) break;
    }
    const sorted = (rows) => (/ORDER BY/.test(query) ? rows : rows.toSorted((a, b) => a.n - b.n));
    const plain = (rows) => JSON.stringify(sorted(rows).map((row) => row.id ?? row));
    assert.equal(plain(found), plain(whole));
  });
}

test("malformed and foreign tokens are refused", async () => {
  for (const continuationToken of ["nonsense", "{}", "AAAA", "x".repeat(900)]) {
    await refused(container.items.query("SELECT * FROM c", { continuationToken }).fetchNext(), 400);
  }
  const { continuationToken } = await container.items.query(QUERIES.order, { maxItemCount: 2 }).fetchNext();
  await refused(container.items.query(QUERIES.filter, { continuationToken }).fetchNext(), 400);
});

test("a token survives a restart", async (t) => {
  const folder = await makeFolder();
  t.after(folder.remove);
  let server = await Server.start(folder.path);
  t.after(() => server.process.kill("SIGKILL"));
  let { client, close } = connect(server);
  const { database } = await client.databases.create({ id: "kept" });
  const { container: things } = await database.containers.create({ id: "c", partitionKey: "/k", throughput: 40_000 });
  for (const n of numbers(0, 30)) await things.items.create({ id: String(n), k: n % 12, n });
  const query = "SELECT VALUE c.n FROM c ORDER BY c.n";
  const { resources, continuationToken } = await things.items.query(query, { maxItemCount: 7 }).fetchNext();
  close();
  assert.equal(await server.stop(), 0);
  assert.deepEqual(server.complaints(), []);

  server = await Server.start(folder.path);
  ({ client, close } = connect(server));
  const again = client.database("kept").container("c");
  const rest = await readPages(again, query, { maxItemCount: 7, continuationToken });
  assert.deepEqual([...resources, ...rest.pages.flat()], numbers(0, 30));
  close();
  assert.equal(await server.stop(), 0);
});

test("a server that leaves the merge to the SDK", async (t) => {
  const folder = await makeFolder();
  t.after(folder.remove);
  const server = await Server.start(folder.path, "--cross-partition-queries", "plan");
  t.after(() => server.process.kill("SIGKILL"));
  const { client, close } = connect(server);
  const { database } = await client.databases.create({ id: "d" });
  const wide = await fill(database);
  for (const query of Object.values(QUERIES)) {
    const here = (await readPages(wide, query, { maxItemCount: 9 })).pages.flat();
    const there = (await readPages(container, query, { maxItemCount: 1000 })).pages.flat();
    const plain = (rows) => rows.map((row) => JSON.stringify(row.id ?? row));
    const sorted = (rows) => (/ORDER BY/.test(query) ? plain(rows) : plain(rows).toSorted());
    assert.deepEqual(sorted(here), sorted(there), query);
  }
  assert.deepEqual((await wide.items.query("SELECT VALUE AVG(c.n) FROM c").fetchAll()).resources, [119.5]);
  close();
  assert.equal(await server.stop(), 0);
  assert.deepEqual(server.complaints(), []);
});
