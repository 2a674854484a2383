// The MongoDB API through the Node driver: documents, types, queries, updates, batches, indexes, cursors.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Binary,
  BSONRegExp,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from "mongodb";

import { ids, refused, useMongo } from "../lib/mongo.mjs";

const context = useMongo();

test("a document lives through every verb", async (t) => {
  const collection = context.collection(t);
  const { insertedId } = await collection.insertOne({ name: "Ann", age: 39 });
  assert.ok(insertedId instanceof ObjectId);
  assert.deepEqual(await collection.findOne({ name: "Ann" }), { _id: insertedId, name: "Ann", age: 39 });
  const updated = await collection.updateOne({ name: "Ann" }, { $inc: { age: 1 } });
  assert.deepEqual([updated.matchedCount, updated.modifiedCount, updated.upsertedId], [1, 1, null]);
  const replaced = await collection.replaceOne({ name: "Ann" }, { name: "Bob" });
  assert.equal(replaced.modifiedCount, 1);
  assert.deepEqual(await collection.findOne(), { _id: insertedId, name: "Bob" });
  const found = await collection.findOneAndUpdate({}, { $set: { x: 1 } }, { returnDocument: "after" });
  assert.equal(found.x, 1);
  assert.equal((await collection.deleteOne({})).deletedCount, 1);
  assert.equal(await collection.findOne(), null);
});

const VALUES = {
  int32: new Int32(7),
  double: new Double(7),
  long: Long.fromString("9223372036854775807"),
  decimal: Decimal128.fromString("1.10"),
  string: "é日😀",
  object: { b: new Int32(1), a: { c: [] } },
  array: [new Int32(1), "two", [new Double(3)]],
  binary: new Binary(Buffer.from([0, 255])),
  uuid: new UUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
  objectId: new ObjectId("507f1f77bcf86cd799439011"),
  bool: true,
  date: new Date("2020-01-02T03:04:05.678Z"),
  null: null,
  regex: new BSONRegExp("^a", "im"),
  code: new Code("function() {}"),
  codeWithScope: new Code("function() {}", { x: new Int32(1) }),
  timestamp: new Timestamp({ t: 4_000_000_000, i: 5 }),
  minKey: new MinKey(),
  maxKey: new MaxKey(),
};

for (const [name, value] of Object.entries(VALUES)) {
  test(`a value of type ${name} comes back as it went`, async (t) => {
    const exact = { promoteValues: false, bsonRegExp: true };
    const collection = context.collection(t, exact);
    await collection.insertOne({ _id: new Int32(1), v: value, list: [value] });
    const found = await collection.findOne({}, exact);
    assert.deepEqual(JSON.stringify(found.v), JSON.stringify(value));
    assert.equal(found.v?._bsontype, value?._bsontype);
    assert.deepEqual(JSON.stringify(found.list), JSON.stringify([value]));
  });
}

test("queries, projections, sorts", async (t) => {
  const collection = context.collection(t);
  await collection.insertMany([...Array(20).keys()].map((n) => ({ _id: n, n, odd: n % 2 === 1, tags: [`t${n % 3}`] })));
  assert.deepEqual(ids(await collection.find({ n: { $gte: 17 } }).sort({ n: -1 }).toArray()), [19, 18, 17]);
  assert.deepEqual(ids(await collection.find({ tags: "t1", odd: true }).sort({ _id: 1 }).toArray()), [1, 7, 13, 19]);
  assert.deepEqual(await collection.find({ _id: 3 }).project({ n: 1, _id: 0 }).toArray(), [{ n: 3 }]);
  assert.deepEqual(ids(await collection.find().sort({ _id: 1 }).skip(5).limit(2).toArray()), [5, 6]);
  assert.equal(await collection.countDocuments({ odd: true }), 10);
  assert.equal(await collection.estimatedDocumentCount(), 20);
  assert.deepEqual((await collection.distinct("tags")).sort(), ["t0", "t1", "t2"]);
  assert.deepEqual(ids(await collection.find({ tags: /^T2/i, n: { $lt: 6 } }).sort({ _id: 1 }).toArray()), [2, 5]);
  await refused(collection.findOne({ a: { $nonsense: 1 } }), 2);
});

test("pipelines", async (t) => {
  const collection = context.collection(t);
  await collection.insertMany([...Array(12).keys()].map((n) => ({ _id: n, k: n % 3, n })));
  const groups = await collection
    .aggregate([{ $group: { _id: "$k", sum: { $sum: "$n" } } }, { $sort: { _id: 1 } }])
    .toArray();
  assert.deepEqual(groups, [
    { _id: 0, sum: 18 },
    { _id: 1, sum: 22 },
    { _id: 2, sum: 26 },
  ]);
  const joined = await collection
    .aggregate([
      { $match: { _id: 1 } },
      { $lookup: { from: collection.collectionName, localField: "k", foreignField: "k", as: "same" } },
      { $project: { count: { $size: "$same" } } },
    ])
    .toArray();
  assert.deepEqual(joined, [{ _id: 1, count: 4 }]);
});

test("updates of every kind", async (t) => {
  const collection = context.collection(t);
  await collection.insertOne({ _id: 1, list: [1, 5, 9], n: 1 });
  await collection.updateOne({ list: 5 }, { $set: { "list.$": 50 }, $inc: { n: 2 }, $unset: { nothing: 1 } });
  await collection.updateOne({}, { $set: { "list.$[big]": 0 } }, { arrayFilters: [{ big: { $gt: 8 } }] });
  await collection.updateOne({}, { $push: { list: { $each: [7, 3], $sort: 1 } } });
  await collection.updateOne({}, [{ $set: { sum: { $sum: "$list" } } }]);
  assert.deepEqual(await collection.findOne(), { _id: 1, list: [0, 0, 1, 3, 7], n: 3, sum: 11 });
  const upserted = await collection.updateOne({ _id: "new", a: 1 }, { $setOnInsert: { b: 2 } }, { upsert: true });
  assert.equal(upserted.upsertedId, "new");
  assert.deepEqual(await collection.findOne({ _id: "new" }), { _id: "new", a: 1, b: 2 });
});

test("batches of writes", async (t) => {
  const collection = context.collection(t);
  const result = await collection.bulkWrite([
    { insertOne: { document: { _id: 1 } } },
    { updateOne: { filter: { _id: 2 }, update: { $set: { a: 1 } }, upsert: true } },
    { replaceOne: { filter: { _id: 1 }, replacement: { b: 1 } } },
    { deleteMany: { filter: { a: 1 } } },
  ]);
  assert.deepEqual(
    [result.insertedCount, result.upsertedCount, result.modifiedCount, result.deletedCount],
    [1, 1, 1, 1],
  );
  const error = await refused(collection.insertMany([{ _id: 5 }, { _id: 1 }, { _id: 6 }], { ordered: false }), 11000);
  assert.equal(error.result.insertedCount, 2);
  assert.deepEqual(
    error.writeErrors.map((failed) => [failed.index, failed.code]),
    [[1, 11000]],
  );
  const duplicate = await refused(collection.insertOne({ _id: 1 }), 11000);
  assert.deepEqual(duplicate.keyPattern, { _id: 1 });
  assert.deepEqual(duplicate.keyValue, { _id: 1 });
});

test("cursors in batches", async (t) => {
  const collection = context.collection(t);
  await collection.insertMany([...Array(250).keys()].map((n) => ({ _id: n })));
  const seen = [];
  for await (const { _id } of collection.find({}, { batchSize: 30 }).sort({ _id: 1 })) seen.push(_id);
  assert.deepEqual(seen, [...Array(250).keys()]);
  const cursor = collection.find({}, { batchSize: 10 });
  await cursor.next();
  await cursor.close();
});

test("indexes", async (t) => {
  const collection = context.collection(t);
  assert.equal(await collection.createIndex({ email: 1 }, { unique: true }), "email_1");
  await collection.insertOne({ email: "a" });
  await refused(collection.insertOne({ email: "a" }), 11000);
  assert.deepEqual(
    (await collection.indexes()).map(({ name }) => name),
    ["_id_", "email_1"],
  );
  await refused(collection.createIndex({ other: 1 }, { name: "email_1" }), 86);
  await collection.createIndex({ other: 1 });
  await collection.dropIndex("other_1");
  await refused(collection.dropIndex("other_1"), 27);
});

test("writes that are not waited for", async (t) => {
  const collection = context.collection(t);
  for (let n = 0; n < 20; n += 1) await collection.insertOne({ _id: n }, { writeConcern: { w: 0 } });
  assert.equal((await context.client.db("admin").command({ ping: 1 })).ok, 1);
  const deadline = Date.now() + 10_000;
  while ((await collection.countDocuments()) < 20) assert.ok(Date.now() < deadline);
});

test("many increments at once", async (t) => {
  const collection = context.collection(t);
  await collection.insertOne({ _id: 1, n: 0 });
  await Promise.all([...Array(200).keys()].map(() => collection.updateOne({ _id: 1 }, { $inc: { n: 1 } })));
  assert.equal((await collection.findOne()).n, 200);
});

test("collections of a database", async () => {
  const database = context.client.db("listed");
  await database.createCollection("one");
  await refused(database.createCollection("one", { validator: { a: 1 } }), 48);
  await database.collection("two").insertOne({});
  assert.deepEqual((await database.listCollections().toArray()).map(({ name }) => name).sort(), ["one", "two"]);
  await database.collection("two").rename("three");
  assert.ok((await context.client.db().admin().listDatabases()).databases.some(({ name }) => name === "listed"));
  await database.dropDatabase();
  assert.deepEqual(await database.listCollections().toArray(), []);
});

test("shard keys and custom actions", async () => {
  const database = context.client.db("sharded");
  const answer = await database.command({ shardCollection: "sharded.people", key: { city: "hashed" } });
  assert.equal(answer.collectionsharded, "sharded.people");
  const people = database.collection("people");
  await refused(people.insertOne({ _id: 1 }), 61);
  await people.insertOne({ _id: 1, city: "Oslo" });
  await database.command({ customAction: "CreateCollection", collection: "more", offerThroughput: 500 });
  const found = await database.command({ customAction: "GetCollection", collection: "more" });
  assert.equal(found.provisionedThroughput, 500);
  await people.findOne({ _id: 1, city: "Oslo" });
  const statistics = await database.command({ getLastRequestStatistics: 1 });
  assert.equal(statistics.CommandName, "find");
  assert.equal(statistics.RequestCharge, 1);
  await database.dropDatabase();
});
