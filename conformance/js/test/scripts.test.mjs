// Stored procedures: resources, execution, results, logs, errors, items, queries, time and permissions.
/* global getContext, __, ErrorCodes */

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect, fresh, refused, useServer } from "../lib/fixture.mjs";
import { readAll, register, run, script } from "../lib/scripts.mjs";
import { makeFolder, Server } from "../lib/server.mjs";

const context = useServer();

const LOG_HEADER = "x-ms-documentdb-script-log-results";

// Resources

test("a stored procedure lives through every verb", async (t) => {
  const container = await context.makeContainer(t);
  const { scripts } = container;
  const body = script("greet");
  const created = (await scripts.storedProcedures.create({ id: "greet", body })).resource;
  assert.equal(created.body, body);
  await refused(scripts.storedProcedures.create({ id: "greet", body }), 409);
  const one = scripts.storedProcedure("greet");
  assert.deepEqual((await one.read()).resource, created);
  assert.deepEqual((await scripts.storedProcedures.readAll().fetchAll()).resources, [created]);
  const query = { query: "SELECT * FROM r WHERE r.id = @id", parameters: [{ name: "@id", value: "greet" }] };
  assert.deepEqual((await scripts.storedProcedures.query(query).fetchAll()).resources, [created]);
  const replaced = (await one.replace({ id: "greet", body: "function () { }" })).resource;
  assert.equal(replaced._rid, created._rid);
  assert.notEqual(replaced._etag, created._etag);
  assert.equal((await one.execute("Oslo", [])).resource, null);
  assert.equal((await one.delete()).statusCode, 204);
  await refused(one.read(), 404);
  await refused(one.replace({ id: "greet", body }), 404);
  await refused(one.delete(), 404);
  await refused(one.execute("Oslo", []), 404);
});

test("a trigger lives through every verb", async (t) => {
  const { scripts } = await context.makeContainer(t);
  const definition = { id: "stamp", body: script("stamp"), triggerType: "pre", triggerOperation: "all" };
  const created = (await scripts.triggers.create(definition)).resource;
  for (const [name, value] of Object.entries(definition)) assert.equal(created[name], value);
  await refused(scripts.triggers.create(definition), 409);
  const one = scripts.trigger("stamp");
  assert.deepEqual((await one.read()).resource, created);
  assert.deepEqual((await scripts.triggers.readAll().fetchAll()).resources, [created]);
  assert.deepEqual((await scripts.triggers.query("SELECT * FROM r").fetchAll()).resources, [created]);
  const changed = { ...definition, triggerType: "Post", triggerOperation: "Replace" };
  assert.equal((await one.replace(changed)).resource.triggerOperation, "Replace");
  assert.equal((await one.delete()).statusCode, 204);
  await refused(one.read(), 404);
});

test("text that is no function fails when it runs", async (t) => {
  const { scripts } = await context.makeContainer(t);
  for (const [number, body] of ["function (", "var x = 1;", "42"].entries()) {
    const id = `bad${number}`;
    assert.equal((await scripts.storedProcedures.create({ id, body })).resource.body, body);
    await scripts.triggers.create({ id, body, triggerType: "Pre", triggerOperation: "All" });
    await refused(scripts.storedProcedure(id).execute("Oslo", []), 400, 65535);
  }
});

// Arguments, results, logs

test("values come back as they went", async (t) => {
  const container = await context.makeContainer(t);
  const echo = await register(container, (value) => getContext().getResponse().setBody(value));
  for (const value of [null, true, false, 0, -1.5, 1e300, "", 'é " \u{1F600}', [], [1, [null]], {}, { a: [{}] }]) {
    assert.deepEqual(await echo(value), value);
  }
});

test("arguments arrive in order, one alone is wrapped", async (t) => {
  const container = await context.makeContainer(t);
  const all = await register(container, function () {
    getContext().getResponse().setBody(Array.prototype.slice.call(arguments));
  });
  assert.deepEqual(await all(1, "b", [2], { c: 3 }), [1, "b", [2], { c: 3 }]);
  assert.deepEqual(await all(), []);
  assert.deepEqual((await all.storedProcedure.execute("Oslo")).resource, []);
  assert.deepEqual((await all.storedProcedure.execute("Oslo", "alone")).resource, ["alone"]);
});

test("a procedure that sets no body answers with none", async (t) => {
  const container = await context.makeContainer(t);
  assert.equal(await run(container, "function () { }"), null);
  assert.equal(await run(container, "function () { return 1; }"), null);
});

test("the log comes only when asked for", async (t) => {
  const container = await context.makeContainer(t);
  const { storedProcedure } = await register(container, function () {
    console.log("The value of %s is %s.", "x", 1);
    getContext().getResponse().setBody("Success!");
  });
  for (const [options, wanted] of [
    [{}, undefined],
    [{ enableScriptLogging: true }, encodeURIComponent("The value of x is 1.")],
    [{ enableScriptLogging: false }, undefined],
  ]) {
    const response = await storedProcedure.execute("Oslo", [], options);
    assert.equal(response.resource, "Success!");
    assert.equal(response.headers[LOG_HEADER], wanted);
  }
});

// Errors

test("an error is a bad request with its text, its number the sub-status", async (t) => {
  const container = await context.makeContainer(t);
  const plain = await refused(
    run(container, () => {
      throw new Error("boom");
    }),
    400,
  );
  assert.match(plain.message, /Encountered exception while executing/);
  assert.match(plain.message, /Error: boom/);
  for (const number of [404, 409, 4711]) {
    const body = (n) => {
      throw new Error(n, "with a number");
    };
    const error = await refused(run(container, body, number), 400, number);
    assert.match(error.message, /with a number/);
  }
});

test("whatever is thrown undoes the writes", async (t) => {
  const container = await context.makeContainer(t);
  for (const statement of [
    "throw 'text'",
    "throw null",
    "throw { number: 5 }",
    "null.x",
    "Promise.reject(new Error('rejected'))",
    "getContext().abort(new Error('aborted'))",
    "(function again() { again(); })()",
  ]) {
    const body = `function () {
      const collection = getContext().getCollection();
      collection.createDocument(collection.getSelfLink(), { id: 'x', city: 'Oslo' });
      ${statement};
    }`;
    await refused(run(container, body), 400);
  }
  assert.deepEqual(await readAll(container), []);
});

test("a refused transfer leaves both accounts as they were", async (t) => {
  const container = await context.makeContainer(t);
  await container.items.create({ id: "a", city: "Oslo", balance: 10 });
  await container.items.create({ id: "b", city: "Oslo", balance: 0 });
  const before = await readAll(container);
  const transfer = await register(container, script("transfer"));
  await refused(transfer("a", "b", 11), 400, 4001);
  await refused(transfer("a", "nobody", 5), 400, 404);
  assert.deepEqual(await readAll(container), before);
  assert.equal(await transfer("a", "b", 10), "done");
  const balances = (await readAll(container)).map(({ id, balance }) => [id, balance]);
  assert.deepEqual(Object.fromEntries(balances), { a: 0, b: 10 });
});

test("errors take a number first, codes have names", async (t) => {
  const container = await context.makeContainer(t);
  const seen = await run(container, function () {
    const look = (e) => [e.number ?? null, e.message, e.name, e instanceof Error];
    getContext()
      .getResponse()
      .setBody([look(new Error("a")), look(new Error(7, "b")), look(new TypeError("c")), ErrorCodes.NotFound]);
  });
  assert.deepEqual(seen, [[null, "a", "Error", true], [7, "b", "Error", true], [null, "c", "TypeError", true], 404]);
});

// Items

test("every method of the collection gives its callback what it promises", async (t) => {
  const container = await context.makeContainer(t);
  const seen = await run(container, function () {
    const collection = getContext().getCollection();
    const link = collection.getSelfLink();
    const seen = {};
    const check = (error) => {
      if (error) throw error;
    };
    collection.createDocument(link, { id: "1", city: "Oslo", n: 1 }, (error, created) => {
      check(error);
      seen.create = created.n;
      collection.readDocument(created._self, (error, read) => {
        check(error);
        seen.read = read._etag === created._etag;
        collection.replaceDocument(created._self, { ...read, n: 2 }, { etag: read._etag }, (error, replaced) => {
          check(error);
          seen.replace = [replaced.n, replaced._rid === created._rid, replaced._etag !== created._etag];
          collection.upsertDocument(link, { id: "1", city: "Oslo", n: 3 }, (error, upserted) => {
            check(error);
            seen.upsert = upserted.n;
            collection.deleteDocument(collection.getAltLink() + "/docs/1", function (error, options) {
              check(error);
              seen.delete = [arguments.length <= 2, typeof options];
              collection.readDocument(created._self, (error) => {
                seen.gone = error.number;
                collection.createDocument(link, { city: "Oslo" }, (error, generated) => {
                  check(error);
                  seen.generated = generated.id;
                  getContext().getResponse().setBody(seen);
                });
              });
            });
          });
        });
      });
    });
  });
  const { generated, ...others } = seen;
  assert.deepEqual(others, {
    create: 1,
    read: true,
    replace: [2, true, true],
    upsert: 3,
    delete: [true, "object"],
    gone: 404,
  });
  assert.match(generated, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.deepEqual((await readAll(container)).map(({ id }) => id), [generated]);
});

test("links are self links, names, and nothing out of the collection", async (t) => {
  const container = await context.makeContainer(t);
  const { resource } = await container.items.create({ id: "1", city: "Oslo" });
  const read = await register(container, (link) => {
    __.readDocument(link, (error, item) => {
      if (error) throw error;
      __.response.setBody(item);
    });
  });
  const name = `dbs/${context.database.id}/colls/${container.id}/docs/1`;
  for (const link of [resource._self, name, `${name}/`, name.replace("dbs/", "DBS/")]) {
    assert.deepEqual(await read(link), resource);
  }
  for (const link of ["1", "", "dbs/other/colls/other/docs/1"]) await refused(read(link), 400);
});

test("stale etags are refused and unchanged items are not sent", async (t) => {
  const container = await context.makeContainer(t);
  const { resource } = await container.items.create({ id: "1", city: "Oslo" });
  const seen = await run(
    container,
    (own) => {
      const collection = getContext().getCollection();
      const seen = [];
      const note = (error) => seen.push(error.number);
      collection.replaceDocument(own._self, { id: "1", city: "Oslo" }, { etag: '"stale"' }, note);
      collection.deleteDocument(own._self, { etag: '"stale"' }, note);
      collection.upsertDocument(collection.getSelfLink(), { id: "1", city: "Oslo" }, { etag: '"stale"' }, note);
      collection.readDocument(own._self, { ifNoneMatch: own._etag }, (error, item, options) => {
        if (error) throw error;
        seen.push(item === undefined, options.notModified);
        getContext().getResponse().setBody(seen);
      });
    },
    resource,
  );
  assert.deepEqual(seen, [412, 412, 412, true, true]);
});

test("reads see own writes and queries do not", async (t) => {
  const container = await context.makeContainer(t);
  const seen = await run(container, script("own-writes"), { id: "new", city: "Oslo" });
  assert.deepEqual([seen.byLink, seen.byQuery], [true, 0]);
  assert.deepEqual(seen.created, (await container.item("new", "Oslo").read()).resource);
});

test("other partition keys are out of reach", async (t) => {
  const container = await context.makeContainer(t);
  const { resource } = await container.items.create({ id: "1", city: "Bergen" });
  const body = (item) => __.createDocument(__.getSelfLink(), item);
  for (const item of [{ id: "x", city: "Bergen" }, { id: "x" }]) await refused(run(container, body, item), 400);
  const look = (link) => {
    __.readDocument(link, (error) => __.response.setBody(error.number));
  };
  assert.equal(await run(container, look, resource._self), 404);
});

test("promises and async functions run to their end", async (t) => {
  const container = await context.makeContainer(t);
  const seen = await run(container, async function () {
    const collection = getContext().getCollection();
    const create = (item) =>
      new Promise((resolve, reject) => {
        const done = (error, created) => (error ? reject(error) : resolve(created));
        collection.createDocument(collection.getSelfLink(), item, done);
      });
    const first = await create({ id: "1", city: "Oslo" });
    const again = await create({ id: "1", city: "Oslo" }).catch((error) => error.number);
    const more = await Promise.all([create({ id: "2", city: "Oslo" }), create({ id: "3", city: "Oslo" })]);
    getContext().getResponse().setBody([first.id, again, more.length]);
  });
  assert.deepEqual(seen, ["1", 409, 2]);
});

test("nothing of one run reaches the next", async (t) => {
  const container = await context.makeContainer(t);
  const leave = await register(container, function () {
    const seen = [globalThis.left, [].left, {}.left];
    globalThis.left = Array.prototype.left = Object.prototype.left = "behind";
    getContext().getResponse().setBody(seen.map((value) => value === undefined));
  });
  for (let n = 0; n < 3; n += 1) assert.deepEqual(await leave(), [true, true, true]);
});

// Queries

test("queries take parameters and have pages", async (t) => {
  const container = await context.makeContainer(t);
  const items = Array.from({ length: 25 }, (_, n) => ({ id: String(n), city: "Oslo", n }));
  assert.equal(await run(container, script("import-items"), items), 25);
  await container.items.create({ id: "elsewhere", city: "Bergen", n: 1 });
  const page = await register(container, script("page-of-query"));
  const parameters = [{ name: "@least", value: 22 }];
  const text = "SELECT VALUE c.n FROM c WHERE c.n >= @least ORDER BY c.n DESC";
  assert.deepEqual(await page(text, parameters), { found: [24, 23, 22], continuation: null });
  let found = [];
  let continuation;
  do {
    const answer = await page("SELECT VALUE c.n FROM c ORDER BY c.n", null, 10, continuation);
    found = found.concat(answer.found);
    continuation = answer.continuation;
  } while (continuation);
  assert.deepEqual(found, items.map(({ n }) => n));
  assert.deepEqual(await run(container, script("remove-items"), "SELECT * FROM c WHERE c.n > 4", 7), {
    removed: 20,
    isMoreLeft: false,
  });
  assert.equal((await readAll(container)).length, 6);
});

test("what a script deleted its queries find no more", async (t) => {
  const container = await context.makeContainer(t);
  const items = Array.from({ length: 250 }, (_, n) => ({ id: String(n), city: "Oslo", n }));
  assert.equal(await run(container, script("import-items"), items), 250);
  const cleared = await run(container, script("clear"), "SELECT c._self FROM c WHERE c.n >= 10");
  assert.deepEqual(cleared, { deleted: 240, continuation: false });
  assert.equal((await readAll(container)).length, 10);
});

test("the integrated query filters, maps, sorts and flattens", async (t) => {
  const container = await context.makeContainer(t);
  for (let n = 0; n < 6; n += 1) await container.items.create({ id: String(n), city: "Oslo", n, tags: [n, [n]] });
  const first = await run(container, function () {
    const isAccepted = __.filter(
      (item) => item.n < 2,
      (error, found) => {
        if (error) throw error;
        __.response.setBody(found.map((item) => item.n).sort());
      },
    ).isAccepted;
    if (!isAccepted) throw new Error("not accepted");
  });
  assert.deepEqual(first, [0, 1]);
  const chains = [
    ["sortByDescending((c) => c.n).pluck('n')", [5, 4, 3, 2, 1, 0]],
    ["filter((c) => c.n > 3).sortBy((c) => c.n).map((c) => ({ k: c.n }))", [{ k: 4 }, { k: 5 }]],
    ["filter((c) => c.n === 3).pluck('tags').flatten()", [3, 3]],
    ["filter((c) => c.n === 3).pluck('tags').flatten(true)", [3, [3]]],
  ];
  for (const [chain, wanted] of chains) {
    assert.deepEqual(await run(container, `function () { __.chain().${chain}.value(); }`), wanted, chain);
  }
});

// Charges and sessions

test("a run takes one step of the session and has a charge", async (t) => {
  const container = await context.makeContainer(t);
  const { headers } = await container.items.create({ id: "first", city: "Oslo" });
  const { storedProcedure } = await register(container, script("import-items"));
  const items = Array.from({ length: 5 }, (_, n) => ({ id: String(n), city: "Oslo" }));
  const response = await storedProcedure.execute("Oslo", [items]);
  assert.equal(Number(response.headers.lsn), Number(headers.lsn) + 1);
  // Twelve units for the script, and for every item 26 units, two leaves and the key, less four.
  const wanted = 12 / 21 + (5 * 4 * (26 + 2 * 2 + 1 - 4)) / 21;
  assert.ok(Math.abs(response.requestCharge - wanted) < 0.03, `${response.requestCharge} and not ${wanted}`);
});

// Time

test("time is limited, and operations are refused before it is out", async (t) => {
  const folder = await makeFolder();
  const server = await Server.start(folder.path, "--script-seconds", "1");
  const { client, close } = connect(server);
  t.after(async () => {
    close();
    await server.stop();
    await folder.remove();
  });
  const { database } = await client.databases.create({ id: "d" });
  const { container } = await database.containers.create({ id: "c", partitionKey: { paths: ["/city"] } });
  const endless = function () {
    __.createDocument(__.getSelfLink(), { id: "x", city: "Oslo" });
    for (;;);
  };
  await refused(run(container, endless), 408);
  assert.deepEqual(await readAll(container), []);

  const until = await run(container, function () {
    let count = 0;
    (function next() {
      const isAccepted = __.readDocuments(__.getSelfLink(), (error) => {
        if (error) throw error;
        count += 1;
        next();
      });
      if (!isAccepted) __.response.setBody(count);
    })();
    __.createDocument(__.getSelfLink(), { id: "kept", city: "Oslo" });
  });
  assert.ok(until > 0);
  assert.deepEqual((await readAll(container)).map(({ id }) => id), ["kept"]);
});

// Permissions

test("tokens decide who may run a procedure", async (t) => {
  const container = await context.makeContainer(t);
  const { storedProcedure } = await register(container, script("greet"));
  const resource = `dbs/${context.database.id}/colls/${container.id}`;
  const holder = async (permissionMode, members = {}) => {
    const { user } = await context.database.users.create({ id: fresh("user") });
    const definition = { id: fresh("permission"), permissionMode, resource, ...members };
    const granted = (await user.permissions.create(definition)).resource;
    return context
      .connect({ key: undefined, resourceTokens: { [resource]: granted._token } })
      .database(context.database.id)
      .container(container.id)
      .scripts.storedProcedure(storedProcedure.id);
  };
  assert.equal((await (await holder("All")).execute("Oslo", ["Ada"])).resource, "Hello, Ada");
  await refused((await holder("Read")).execute("Oslo", ["Ada"]), 403);
  const limited = await holder("All", { resourcePartitionKey: ["Oslo"] });
  assert.equal((await limited.execute("Oslo", ["Ada"])).resource, "Hello, Ada");
  await refused(limited.execute("Bergen", ["Ada"]), 403);
});
