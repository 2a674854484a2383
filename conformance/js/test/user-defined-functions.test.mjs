// User-defined functions: resources of a container, and queries that call them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { refused, useServer } from "../lib/fixture.mjs";

const context = useServer();

test("a user-defined function lives through every verb", async (t) => {
  const { scripts } = await context.makeContainer(t);
  const { userDefinedFunctions } = scripts;
  const created = (await userDefinedFunctions.create({ id: "f", body: (x) => x + 1 })).resource;
  assert.equal(created.body, "(x) => x + 1");
  await refused(userDefinedFunctions.create({ id: "f", body: "x => x" }), 409);
  assert.deepEqual((await scripts.userDefinedFunction("f").read()).resource, created);
  assert.deepEqual((await userDefinedFunctions.readAll().fetchAll()).resources, [created]);
  const query = "SELECT * FROM r WHERE r.id = 'f'";
  assert.deepEqual((await userDefinedFunctions.query(query).fetchAll()).resources, [created]);
  const replaced = (await scripts.userDefinedFunction("f").replace({ id: "f", body: "x => 2" })).resource;
  assert.equal(replaced._rid, created._rid);
  await scripts.userDefinedFunction("f").delete();
  assert.deepEqual((await userDefinedFunctions.readAll().fetchAll()).resources, []);
});

test("queries call user-defined functions", async (t) => {
  const container = await context.makeContainer(t);
  for (let n = 0; n < 4; n++) await container.items.create({ id: String(n), city: n % 2 ? "Oslo" : "Rome", n });
  const body = "function (n) { return { n, even: n % 2 === 0 }; }";
  await container.scripts.userDefinedFunctions.create({ id: "look", body });
  const query = "SELECT VALUE udf.look(c.n) FROM c WHERE udf.look(c.n).even ORDER BY c.n";
  for (const options of [{}, { forceQueryPlan: true }]) {
    const found = (await container.items.query(query, options).fetchAll()).resources;
    assert.deepEqual(found, [{ n: 0, even: true }, { n: 2, even: true }]);
  }
  await refused(container.items.query("SELECT VALUE udf.nobody(1) FROM c").fetchAll(), 400);
});
