// Who may do what: keys, shared access signatures of accounts and tables, stored access policies.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  generateAccountSas,
  generateTableSas,
  TableClient,
  TableServiceClient,
} from "@azure/data-tables";

import { all, FLAVOURS, freshName, own, refused, useTables } from "../lib/tables.mjs";

const context = useTables();

const HOUR_MS = 3_600_000;
const later = (ms) => new Date(Date.now() + ms);
const entity = (rowKey, members = {}) => ({ partitionKey: "p", rowKey, ...members });
const NOT_PERMITTED = { cosmos: "Forbidden", storage: "AuthorizationPermissionMismatch" };
const NOT_AUTHENTICATED = { cosmos: [401, "Unauthorized"], storage: [403, "AuthenticationFailed"] };
const WRONG_KEY = Buffer.alloc(64, 1).toString("base64");

/** The table as the holder of a signature sees it. */
const holding = (flavour, table, sas) =>
  context.table(flavour, table.tableName, { credential: new AzureSASCredential(sas) });

for (const flavour of FLAVOURS) {
  test(`a wrong key, a wrong account, no key (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const { url, account, key, options } = context.door(flavour);
    for (const credential of [
      new AzureNamedKeyCredential(account, WRONG_KEY),
      new AzureNamedKeyCredential("somebodyelse", key),
    ]) {
      const stranger = context.table(flavour, table.tableName, { credential });
      for (const operation of [
        () => stranger.getEntity("p", "r"),
        () => stranger.createEntity(entity("r")),
        () => all(stranger.listEntities()),
        () => stranger.getAccessPolicy(),
        () => stranger.submitTransaction([["create", entity("r")]]),
        () => context.service(flavour, { credential }).createTable(freshName()),
      ]) {
        await refused(operation(), ...NOT_AUTHENTICATED[flavour]);
      }
    }
    const nobody = new TableClient(url, table.tableName, options);
    await refused(
      nobody.getEntity("p", "r"),
      401,
      { cosmos: "Unauthorized", storage: "NoAuthenticationInformation" }[flavour],
    );
    assert.deepEqual(await all(table.listEntities()), []);
  });

  test(`a key can be exchanged in a living client (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const { account, key } = context.door(flavour);
    const credential = new AzureNamedKeyCredential(account, WRONG_KEY);
    const client = context.table(flavour, table.tableName, { credential });
    await refused(client.createEntity(entity("r")), NOT_AUTHENTICATED[flavour][0]);
    credential.update(account, key);
    await client.createEntity(entity("r"));
  });

  test(`tokens of Entra ID are refused (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const asked = [];
    const getToken = async (scopes) => {
      asked.push(scopes);
      return { token: "not.a.token", expiresOnTimestamp: Date.now() + HOUR_MS };
    };
    const client = context.table(flavour, table.tableName, { credential: { getToken } });
    await refused(client.getEntity("p", "r"), 401);
    await refused(client.createEntity(entity("r")), 401);
    await refused(client.submitTransaction([["create", entity("r")]]), 401);
    assert.ok(asked.length > 0);
    assert.deepEqual(await all(table.listEntities()), []);
  });

  // Accounts

  test(`an account signature does what it permits (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("r"));
    const { credential } = context.door(flavour);
    const client = (options) => {
      const sas = generateAccountSas(credential, options);
      return {
        table: holding(flavour, table, sas),
        service: context.service(flavour, { credential: new AzureSASCredential(sas) }),
      };
    };
    const usual = client(); // reads and lists
    assert.equal((await usual.table.getEntity("p", "r")).rowKey, "r");
    assert.equal((await all(usual.table.listEntities())).length, 1);
    assert.ok((await all(usual.service.listTables())).some(({ name }) => name === table.tableName));
    for (const operation of [
      () => usual.table.createEntity(entity("s")),
      () => usual.table.updateEntity(entity("r")),
      () => usual.table.upsertEntity(entity("r")),
      () => usual.table.deleteEntity("p", "r"),
      () => usual.service.createTable(freshName()),
      () => usual.service.deleteTable(table.tableName),
    ]) {
      await refused(operation(), 403, NOT_PERMITTED[flavour]);
    }
    const writer = client({ permissions: { add: true, update: true, delete: true, write: true } });
    await writer.table.createEntity(entity("s"));
    await writer.table.updateEntity(entity("s", { n: 1 }));
    await writer.table.upsertEntity(entity("s", { n: 2 }), "Replace");
    await writer.table.deleteEntity("p", "s");
    await refused(writer.table.getEntity("p", "r"), 403, NOT_PERMITTED[flavour]);
    await refused(all(writer.service.listTables()), 403, NOT_PERMITTED[flavour]);
    const name = freshName();
    await writer.service.createTable(name);
    await writer.service.deleteTable(name);
    const objects = client({ permissions: { query: true, list: true }, resourceTypes: "o" });
    assert.equal((await objects.table.getEntity("p", "r")).rowKey, "r");
    await refused(all(objects.service.listTables()), 403, "AuthorizationResourceTypeMismatch");
    await refused(client({ services: { blob: true } }).table.getEntity("p", "r"), 403);
  });

  test(`signatures have a time, a protocol, an address (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("r"));
    const { credential } = context.door(flavour);
    const scheme = (name) => ({ flavour, scheme: name, host: "127.0.0.1", account: context.door(flavour).account });
    for (const generate of [
      (options) => generateAccountSas(credential, options),
      (options) => generateTableSas(table.tableName, credential, options),
    ]) {
      const read = (options, door = flavour) => holding(door, table, generate(options)).getEntity("p", "r");
      assert.equal((await read({ startsOn: later(-HOUR_MS), expiresOn: later(HOUR_MS) })).rowKey, "r");
      const [status, code] = NOT_AUTHENTICATED[flavour];
      await refused(read({ expiresOn: later(-60_000) }), status, code);
      await refused(read({ startsOn: later(HOUR_MS), expiresOn: later(2 * HOUR_MS) }), status, code);
      assert.equal((await read({ protocol: "https" })).rowKey, "r");
      await refused(read({ protocol: "https" }, scheme("http")), 403, "AuthorizationProtocolMismatch");
      assert.equal((await read({ protocol: "https,http" }, scheme("http"))).rowKey, "r");
      for (const ipRange of [{ start: "127.0.0.1" }, { start: "127.0.0.0", end: "127.0.0.9" }]) {
        assert.equal((await read({ ipRange }, scheme("https"))).rowKey, "r");
      }
      await refused(read({ ipRange: { start: "10.0.0.1", end: "10.0.0.9" } }), 403, "AuthorizationSourceIPMismatch");
      const sas = generate({});
      await refused(holding(flavour, table, sas.replace(/sp=\w+/, "sp=raud")).getEntity("p", "r"), status, code);
      await refused(holding(flavour, table, sas.replace(/sig=[^&]{4}/, "sig=AAAA")).getEntity("p", "r"), status, code);
    }
  });

  // Tables

  test(`a table signature does what it permits, in its table (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const other = await context.makeTable(t, flavour);
    await table.createEntity(entity("r"));
    const { credential } = context.door(flavour);
    const client = (permissions, options) =>
      holding(flavour, table, generateTableSas(table.tableName, credential, { permissions, ...options }));
    const operations = {
      query: (one) => one.getEntity("p", "r"),
      list: (one) => all(one.listEntities()),
      add: (one, n) => one.createEntity(entity(`new ${n}`)),
      update: (one) => one.updateEntity(entity("r", { n: 1 })),
      replace: (one) => one.updateEntity(entity("r", { n: 1 }), "Replace"),
      upsert: (one) => one.upsertEntity(entity("r", { n: 1 })),
      delete: (one) => table.upsertEntity(entity("gone")).then(() => one.deleteEntity("p", "gone")),
    };
    const permitted = [
      [undefined, ["query", "list"]],
      [{ query: true }, ["query", "list"]],
      [{ add: true }, ["add"]],
      [{ update: true }, ["update", "replace"]],
      [{ add: true, update: true }, ["add", "update", "replace", "upsert"]],
      [{ delete: true }, ["delete"]],
      [{ query: true, add: true, update: true, delete: true }, Object.keys(operations)],
    ];
    let number = 0;
    for (const [permissions, allowed] of permitted) {
      const holder = client(permissions);
      for (const [name, operation] of Object.entries(operations)) {
        number += 1;
        if (allowed.includes(name)) await operation(holder, number);
        else await refused(operation(holder, number), 403, NOT_PERMITTED[flavour]);
      }
    }
    const everything = { query: true, add: true, update: true, delete: true };
    const sas = generateTableSas(table.tableName, credential, { permissions: everything });
    await refused(holding(flavour, other, sas).getEntity("p", "r"), 403);
    await refused(holding(flavour, other, sas).createEntity(entity("r")), 403);
    const service = context.service(flavour, { credential: new AzureSASCredential(sas) });
    await refused(all(service.listTables()), 403);
    await refused(service.createTable(freshName()), 403);
    await refused(holding(flavour, table, sas).getAccessPolicy(), 403);
    await refused(holding(flavour, table, sas).setAccessPolicy([]), 403);
  });

  test(`a table signature for a range of keys (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    for (const partitionKey of ["a", "b", "c", "d"]) {
      for (const rowKey of ["1", "2", "3"]) await table.createEntity({ partitionKey, rowKey });
    }
    const { credential } = context.door(flavour);
    const holder = holding(
      flavour,
      table,
      generateTableSas(table.tableName, credential, {
        permissions: { query: true, add: true, update: true, delete: true },
        startPartitionKey: "b",
        startRowKey: "2",
        endPartitionKey: "c",
        endRowKey: "2",
      }),
    );
    const inside = [
      ["b", "2"],
      ["b", "3"],
      ["c", "1"],
      ["c", "2"],
    ];
    const outside = [
      ["a", "3"],
      ["b", "1"],
      ["c", "3"],
      ["d", "1"],
    ];
    for (const [partitionKey, rowKey] of inside)
      assert.equal((await holder.getEntity(partitionKey, rowKey)).rowKey, rowKey);
    for (const [partitionKey, rowKey] of outside) {
      await refused(holder.getEntity(partitionKey, rowKey), 403, "AuthorizationFailure");
      await refused(holder.updateEntity({ partitionKey, rowKey }), 403, "AuthorizationFailure");
      await refused(holder.deleteEntity(partitionKey, rowKey), 403, "AuthorizationFailure");
    }
    await refused(holder.createEntity({ partitionKey: "z", rowKey: "1" }), 403, "AuthorizationFailure");
    const found = (await all(holder.listEntities())).map(({ partitionKey, rowKey }) => [partitionKey, rowKey]);
    assert.deepEqual(found.sort(), inside);
  });

  test(`a signature in the address, and one exchanged in a living client (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    const { url, credential, options } = context.door(flavour);
    const permissions = { query: true, add: true, update: true, delete: true, list: true, write: true };
    const sas = generateAccountSas(credential, { permissions });
    const client = new TableClient(`${url}?${sas}`, table.tableName, options);
    await client.createEntity(entity("r", { n: 1 }));
    assert.deepEqual(own(await client.getEntity("p", "r")), entity("r", { n: 1 }));
    const answer = await client.submitTransaction([
      ["create", entity("s")],
      ["update", entity("r", { m: 1 })],
    ]);
    assert.equal(answer.status, 202);
    assert.equal((await all(client.listEntities({ queryOptions: { filter: "PartitionKey eq 'p'" } }))).length, 2);
    const service = new TableServiceClient(`${url}?${sas}`, options);
    assert.ok((await all(service.listTables())).some(({ name }) => name === table.tableName));

    const exchanged = new AzureSASCredential(
      generateTableSas(table.tableName, credential, { permissions: { query: true } }),
    );
    const reader = context.table(flavour, table.tableName, { credential: exchanged });
    await refused(reader.deleteEntity("p", "s"), 403);
    exchanged.update(generateTableSas(table.tableName, credential, { permissions: { delete: true } }));
    await reader.deleteEntity("p", "s");
  });

  // Stored access policies

  test(`access policies come back (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    assert.deepEqual([...(await table.getAccessPolicy())], []);
    const start = new Date("2026-01-01T00:00:00Z");
    const expiry = new Date("2036-01-01T12:34:56Z");
    const policies = [
      { id: "whole", accessPolicy: { start, expiry, permission: "raud" } },
      { id: "reader <&>", accessPolicy: { permission: "r" } },
      { id: "time", accessPolicy: { expiry } },
      { id: "nothing", accessPolicy: {} },
      { id: "x".repeat(64) },
    ];
    const statuses = [];
    const answer = await table.setAccessPolicy(policies, { onResponse: ({ status }) => statuses.push(status) });
    assert.ok(answer.requestId && answer.date);
    const found = await table.getAccessPolicy({ onResponse: ({ status }) => statuses.push(status) });
    // The SDK leaves `permission: undefined` behind where a policy has a time and no permission.
    const given = found.map(({ id, accessPolicy }) => ({ id, accessPolicy: JSON.parse(JSON.stringify(accessPolicy)) }));
    const expected = policies.map(({ id, accessPolicy = {} }) => ({ id, accessPolicy }));
    assert.deepEqual(given, JSON.parse(JSON.stringify(expected)));
    assert.deepEqual(found[0].accessPolicy, policies[0].accessPolicy, "dates are dates");
    assert.deepEqual(statuses, [204, 200]);
    await refused(table.setAccessPolicy([...policies, { id: "sixth" }]), 400, "InvalidXmlDocument");
    await refused(table.setAccessPolicy([{ id: "x".repeat(65) }]), 400);
    assert.equal((await table.getAccessPolicy()).length, 5);
    await table.setAccessPolicy([]);
    assert.deepEqual([...(await table.getAccessPolicy())], []);
  });

  test(`a signature by a stored policy (${flavour})`, async (t) => {
    const table = await context.makeTable(t, flavour);
    await table.createEntity(entity("r"));
    const { credential } = context.door(flavour);
    const policy = (permission, expiresInMs = HOUR_MS) => [
      { id: "holders", accessPolicy: { start: later(-HOUR_MS), expiry: later(expiresInMs), permission } },
    ];
    const holder = holding(flavour, table, generateTableSas(table.tableName, credential, { identifier: "holders" }));
    const [status, code] = NOT_AUTHENTICATED[flavour];
    await refused(holder.getEntity("p", "r"), status, code);
    await table.setAccessPolicy(policy("r"));
    assert.equal((await holder.getEntity("p", "r")).rowKey, "r");
    await refused(holder.createEntity(entity("s")), 403, NOT_PERMITTED[flavour]);
    await table.setAccessPolicy(policy("ra"));
    await holder.createEntity(entity("s"));
    await table.setAccessPolicy(policy("r", -60_000));
    await refused(holder.getEntity("p", "r"), status, code);
    await table.setAccessPolicy([]);
    await refused(holder.getEntity("p", "r"), status, code);
    // The policy has the time, the signature the permissions.
    await table.setAccessPolicy([{ id: "time", accessPolicy: { expiry: later(HOUR_MS) } }]);
    const mixed = generateTableSas(table.tableName, credential, { identifier: "time", permissions: { query: true } });
    assert.equal((await holding(flavour, table, mixed).getEntity("p", "r")).rowKey, "r");
  });
}
