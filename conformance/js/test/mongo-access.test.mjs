// The MongoDB API through the Node driver: how it connects, who may, and what the server says it is.

import assert from "node:assert/strict";
import { test } from "node:test";

import { MongoClient } from "mongodb";

import { ACCOUNT, connectionString, refused, useMongo } from "../lib/mongo.mjs";
import { KEY } from "../lib/server.mjs";

const READ_ONLY_KEY = Buffer.from("a key that permits reading alone, sixty-four bytes long or so it").toString("base64");
const context = useMongo("--read-only-key", READ_ONLY_KEY);

test("the server is a set of one", async () => {
  const hello = await context.client.db("admin").command({ hello: 1 });
  assert.equal(hello.setName, "globaldb");
  assert.deepEqual(hello.hosts, [`localhost:${context.server.mongoPort}`]);
  assert.equal(hello.isWritablePrimary, true);
  assert.ok(hello.maxWireVersion >= 21);
});

for (const parameters of [
  { authMechanism: "SCRAM-SHA-1" },
  { authMechanism: "SCRAM-SHA-256" },
  { authSource: "anything" },
  { replicaSet: "globaldb" },
  { directConnection: "true" },
  { retryWrites: "false", retryReads: "false" },
  { tls: false },
  { compressors: "zlib" },
  { compressors: "zlib", tls: false },
  { maxPoolSize: "1" },
]) {
  test(`connecting with ${JSON.stringify(parameters)}`, async () => {
    const client = await context.connect(parameters);
    assert.equal((await client.db("admin").command({ ping: 1 })).ok, 1);
    const notes = client.db("access").collection("notes");
    await notes.updateOne({ _id: 1 }, { $set: { text: "x".repeat(100_000) } }, { upsert: true });
    assert.equal((await notes.findOne({ _id: 1 })).text.length, 100_000);
  });
}

test("a connection string of the service", async () => {
  const { mongoPort, certificateFile } = context.server;
  const text =
    `mongodb://${ACCOUNT}:${encodeURIComponent(KEY)}@localhost:${mongoPort}/?ssl=true&replicaSet=globaldb` +
    `&retrywrites=false&maxIdleTimeMS=120000&appName=@${ACCOUNT}@`;
  const client = new MongoClient(text, { tlsCAFile: certificateFile });
  try {
    assert.equal((await client.db("admin").command({ ping: 1 })).ok, 1);
  } finally {
    await client.close();
  }
});

test("a wrong key is refused", async () => {
  for (const authMechanism of ["SCRAM-SHA-1", "SCRAM-SHA-256"]) {
    const client = new MongoClient(connectionString(context.server, { key: "wrong", authMechanism }));
    await refused(client.connect(), 18);
    await client.close();
  }
});

test("a key for reading writes nothing", async () => {
  const client = await context.connect({ key: READ_ONLY_KEY });
  const notes = client.db("access").collection("notes");
  assert.ok((await notes.find().toArray()).length >= 0);
  await refused(notes.insertOne({}), 13);
  await refused(notes.drop(), 13);
});

test("without a name there is little to ask", async () => {
  const { mongoPort, certificateFile } = context.server;
  const client = new MongoClient(`mongodb://localhost:${mongoPort}/?tls=true`, { tlsCAFile: certificateFile });
  try {
    assert.equal((await client.db("admin").command({ ping: 1 })).ok, 1);
    await refused(client.db("access").collection("notes").findOne(), 13);
  } finally {
    await client.close();
  }
});

test("the stable API", async () => {
  const client = await context.connect({}, { serverApi: { version: "1", strict: false } });
  assert.equal((await client.db("admin").command({ ping: 1 })).ok, 1);
});
