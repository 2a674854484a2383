// Users, permissions, and clients that hold nothing but resource tokens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fresh, refused, useServer } from "../lib/fixture.mjs";

const context = useServer();

async function grant(container, permissionMode) {
  const { user } = await context.database.users.create({ id: fresh("user") });
  const resource = `dbs/${context.database.id}/colls/${container.id}`;
  const { resource: permission } = await user.permissions.create({ id: fresh("permission"), permissionMode, resource });
  return { user, permission, resource };
}

function holder(options, container) {
  return context
    .connect({ key: undefined, ...options })
    .database(context.database.id)
    .container(container.id);
}

test("users and permissions live through every verb", async (t) => {
  const container = await context.makeContainer(t);
  const { user, permission } = await grant(container, "Read");
  assert.match(permission._token, /^type=resource&ver=1/);
  assert.equal((await user.read()).resource._permissions, "permissions/");
  const listed = (await user.permissions.readAll().fetchAll()).resources;
  assert.deepEqual(
    listed.map((one) => one.id),
    [permission.id],
  );
  const replaced = await user.permission(permission.id).replace({ ...permission, permissionMode: "All" });
  assert.equal(replaced.resource.permissionMode, "All");
  await refused(user.permissions.create({ ...permission, id: fresh("permission") }), 409);
  assert.equal((await user.permission(permission.id).delete()).statusCode, 204);
  await refused(user.permission(permission.id).read(), 404);
  assert.ok((await context.database.users.readAll().fetchAll()).resources.some((one) => one.id === user.id));
  assert.equal((await user.delete()).statusCode, 204);
  await refused(user.read(), 404);
});

for (const [name, options] of [
  ["resourceTokens", ({ permission, resource }) => ({ resourceTokens: { [resource]: permission._token } })],
  ["permissionFeed", ({ permission }) => ({ permissionFeed: [permission] })],
]) {
  test(`a read token given as ${name} reads and nothing else`, async (t) => {
    const container = await context.makeContainer(t);
    await container.items.create({ id: "1", city: "Oslo" });
    const reader = holder(options(await grant(container, "Read")), container);
    assert.equal((await reader.item("1", "Oslo").read()).resource.id, "1");
    await refused(reader.items.create({ id: "2", city: "Oslo" }), 403);
    await refused(reader.items.upsert({ id: "1", city: "Oslo" }), 403);
    await refused(reader.item("1", "Oslo").replace({ id: "1", city: "Oslo" }), 403);
    await refused(reader.item("1", "Oslo").patch([{ op: "add", path: "/n", value: 1 }]), 403);
    await refused(reader.item("1", "Oslo").delete(), 403);
  });
}

test("a full token writes, in its own container only", async (t) => {
  const container = await context.makeContainer(t);
  const other = await context.makeContainer(t);
  const granted = await grant(container, "All");
  const resourceTokens = {
    [granted.resource]: granted.permission._token,
    [`dbs/${context.database.id}/colls/${other.id}`]: granted.permission._token,
  };
  const writer = holder({ resourceTokens }, container);
  assert.equal((await writer.items.create({ id: "1", city: "Oslo" })).statusCode, 201);
  assert.equal((await writer.item("1", "Oslo").delete()).statusCode, 204);
  const stranger = holder({ resourceTokens }, other);
  await refused(stranger.read(), 403);
  await refused(stranger.item("1", "Oslo").read(), 403);
});
