// mongosh, run as a process: what it prints for the helpers people type.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { connectionString, useMongo } from "../lib/mongo.mjs";

const SHELL = fileURLToPath(new URL("../node_modules/.bin/mongosh", import.meta.url));
const SHELL_MS_MAX = 60_000;
const context = useMongo();
const run = promisify(execFile);

let home;

before(async () => {
  home = await mkdtemp(join(tmpdir(), "armilla-mongosh-"));
});

after(() => rm(home, { recursive: true, force: true }));

/** Runs a script in the shell, on the database `shell`, and returns what it printed. */
async function shell(script, parameters = {}) {
  const uri = connectionString(context.server, parameters).replace("/?", "/shell?authSource=admin&");
  const { stdout } = await run(SHELL, [uri, "--quiet", "--eval", script], {
    timeout: SHELL_MS_MAX,
    env: { ...process.env, HOME: home },
  });
  return stdout.trim();
}

/** Runs an expression and returns its value. */
const value = async (script, parameters) => JSON.parse(await shell(`EJSON.stringify(${script})`, parameters));

test("the shell connects and writes", async () => {
  assert.equal(await shell("db.notes.insertOne({_id: 1, a: [1, 2]}).acknowledged"), "true");
  assert.deepEqual(await value("db.notes.find().toArray()"), [{ _id: 1, a: [1, 2] }]);
  assert.deepEqual(await value("db.notes.updateOne({_id: 1}, {$push: {a: 3}}).modifiedCount"), 1);
  assert.deepEqual(await value("db.notes.findOne({_id: 1})"), { _id: 1, a: [1, 2, 3] });
  assert.deepEqual(await value("db.notes.countDocuments()"), 1);
  assert.deepEqual(await value("db.notes.estimatedDocumentCount()"), 1);
});

test("the same without TLS, and as a member of the set", async () => {
  assert.equal(await shell("db.runCommand({ping: 1}).ok", { tls: false }), "1");
  assert.equal(await shell("db.runCommand({ping: 1}).ok", { replicaSet: "globaldb" }), "1");
  assert.match(await shell("db.hello().setName"), /globaldb/);
});

test("lists", async () => {
  await shell("db.one.insertOne({}); db.two.createIndex({a: 1})");
  assert.match(await shell("show('dbs')"), /shell/);
  const collections = await shell("show('collections')");
  assert.match(collections, /one/);
  assert.match(collections, /two/);
  assert.deepEqual(
    (await value("db.two.getIndexes()")).map(({ name }) => name),
    ["_id_", "a_1"],
  );
  assert.deepEqual((await value("db.getCollectionNames()")).includes("one"), true);
});

test("statistics and plans", async () => {
  await shell("db.stats_of.insertMany([{a: 1}, {a: 2}])");
  assert.equal(await value("db.stats_of.stats().count"), 2);
  assert.equal(await value("db.stats().ok"), 1);
  assert.equal(await value("db.serverStatus().ok"), 1);
  assert.ok(await value("db.stats_of.find({a: 1}).explain().queryPlanner.winningPlan.stage"));
  assert.match(await shell("db.version()"), /^7\.0\./);
  assert.ok(Array.isArray(await value("db.currentOp().inprog")));
  assert.equal(await value("rs.status().members.length"), 1);
  assert.equal(await value("db.hostInfo().ok"), 1);
});

test("pipelines, bulk writes, errors", async () => {
  assert.deepEqual(
    await value(
      "(db.sales.insertMany([{k: 1, n: 2}, {k: 1, n: 3}]), db.sales.aggregate([{$group: {_id: '$k', n: {$sum: '$n'}}}]).toArray())",
    ),
    [{ _id: 1, n: 5 }],
  );
  assert.equal(await value("db.bulk.bulkWrite([{insertOne: {document: {_id: 1}}}]).insertedCount"), 1);
  await assert.rejects(shell("db.bulk.insertOne({_id: 1})"), /E11000 duplicate key error collection: shell\.bulk/);
  await assert.rejects(shell("db.bulk.find({a: {$nonsense: 1}}).toArray()"), /unknown operator: \$nonsense/);
});

test("transactions and change streams", async () => {
  const script = `
    db.accounts.insertMany([{_id: 1, n: 10}, {_id: 2, n: 0}]);
    const session = db.getMongo().startSession();
    session.withTransaction(() => {
      const inside = session.getDatabase("shell").accounts;
      inside.updateOne({_id: 1}, {$inc: {n: -4}});
      inside.updateOne({_id: 2}, {$inc: {n: 4}});
    });
    session.endSession();
    EJSON.stringify(db.accounts.find().sort({_id: 1}).toArray().map(found => found.n))`;
  assert.deepEqual(JSON.parse(await shell(script)), [6, 4]);
  const watch = `
    const stream = db.accounts.watch();
    stream.tryNext();
    db.accounts.insertOne({_id: 3});
    let event = null;
    while (event === null) event = stream.tryNext();
    stream.close();
    event.operationType`;
  assert.equal(await shell(watch), "insert");
});

test("commands of the service", async () => {
  const created = "db.runCommand({customAction: 'CreateCollection', collection: 'made', offerThroughput: 600}).ok";
  assert.equal(await value(created), 1);
  assert.equal(
    await value("db.runCommand({customAction: 'GetCollection', collection: 'made'}).provisionedThroughput"),
    600,
  );
  assert.equal(
    await value("db.runCommand({shardCollection: 'shell.sharded', key: {city: 'hashed'}}).collectionsharded"),
    "shell.sharded",
  );
  assert.equal(await shell("db.made.find().toArray(); db.runCommand({getLastRequestStatistics: 1}).CommandName"), "find");
});

test("a wrong key", async () => {
  await assert.rejects(shell("1", { key: "wrong" }), /Authentication failed/);
});
