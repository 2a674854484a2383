// Stopping and starting again on the same folder.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../lib/fixture.mjs";
import { makeFolder, Server } from "../lib/server.mjs";

test("everything is still there", async (t) => {
  const folder = await makeFolder();
  t.after(folder.remove);
  let server = await Server.start(folder.path);
  t.after(() => server.process.kill("SIGKILL"));
  let { client, close } = connect(server);
  const { database } = await client.databases.create({ id: "kept" });
  const { container, resource: definition } = await database.containers.create({
    id: "people",
    partitionKey: { paths: ["/city"], kind: "Hash", version: 2 },
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] },
    defaultTtl: -1,
  });
  const items = [];
  for (let n = 0; n < 20; n += 1) {
    items.push((await container.items.create({ id: String(n), city: `city ${n % 3}`, email: `${n}@x` })).resource);
  }
  const { user } = await database.users.create({ id: "reader" });
  const resource = "dbs/kept/colls/people";
  const { resource: permission } = await user.permissions.create({ id: "read", permissionMode: "Read", resource });
  close();
  assert.equal(await server.stop(), 0);
  assert.deepEqual(server.complaints(), []);

  server = await Server.start(folder.path);
  ({ client, close } = connect(server));
  const again = client.database("kept").container("people");
  assert.deepEqual((await again.read()).resource, definition);
  for (const item of items) assert.deepEqual((await again.item(item.id, item.city).read()).resource, item);
  const { _token: before, ...kept } = permission;
  const { _token: after, ...found } = (await client.database("kept").user("reader").permission("read").read()).resource;
  assert.deepEqual(found, kept);
  assert.ok(before && after);
  const holder = connect(server, { key: undefined, resourceTokens: { [resource]: after } });
  assert.equal((await holder.client.database("kept").container("people").item("1", "city 1").read()).resource.id, "1");
  holder.close();
  close();
  assert.equal(await server.stop(), 0);
  assert.deepEqual(server.complaints(), []);
});
