// The MongoDB API through the Node driver: sessions, transactions, change streams.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ids, refused, useMongo } from "../lib/mongo.mjs";

const context = useMongo();

test("a transaction is all or nothing", async (t) => {
  const collection = context.collection(t);
  await collection.insertMany([{ _id: 0 }, { _id: "gone" }]);
  const session = context.client.startSession();
  try {
    await session.withTransaction(async () => {
      await collection.insertOne({ _id: 1 }, { session });
      await collection.deleteOne({ _id: "gone" }, { session });
      assert.equal(await collection.countDocuments({ _id: { $in: [0, "gone"] } }), 2);
    });
    assert.deepEqual(ids(await collection.find().sort({ _id: 1 }).toArray()), [0, 1]);
    session.startTransaction();
    await collection.deleteMany({}, { session });
    await session.abortTransaction();
    assert.equal(await collection.countDocuments(), 2);
  } finally {
    await session.endSession();
  }
});

test("one of two writers wins", async (t) => {
  const collection = context.collection(t);
  await collection.insertOne({ _id: 1, n: 0 });
  const [first, second] = [context.client.startSession(), context.client.startSession()];
  first.startTransaction();
  second.startTransaction();
  await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: first });
  // A conflict shows at the statement, or at the latest at the commit.
  const late = async () => {
    await collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: second });
    await first.commitTransaction();
    await second.commitTransaction();
  };
  const error = await refused(late(), 112);
  assert.ok(error.hasErrorLabel("TransientTransactionError"));
  if (first.inTransaction()) await first.commitTransaction();
  if (second.inTransaction()) await second.abortTransaction();
  assert.equal((await collection.findOne()).n, 1);
  await first.endSession();
  await second.endSession();
});

test("transactions that meet are tried again", async (t) => {
  const collection = context.collection(t);
  await collection.insertOne({ _id: 1, n: 0 });
  await Promise.all(
    [...Array(4).keys()].map(() =>
      context.client.withSession(async (session) => {
        for (let step = 0; step < 5; step += 1) {
          await session.withTransaction(() => collection.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session }));
        }
      }),
    ),
  );
  assert.equal((await collection.findOne()).n, 20);
});

test("causal consistency", async (t) => {
  const collection = context.collection(t);
  await context.client.withSession({ causalConsistency: true }, async (session) => {
    await collection.insertOne({ _id: 1 }, { session });
    assert.ok(session.operationTime);
    assert.deepEqual(await collection.findOne({}, { session }), { _id: 1 });
  });
});

test("a change stream tells what happened, and goes on where it was", async (t) => {
  const collection = context.collection(t);
  await collection.insertOne({ _id: "before" });
  const stream = collection.watch([], { fullDocument: "updateLookup" });
  const next = stream.next();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await collection.insertOne({ _id: 1 });
  await collection.updateOne({ _id: 1 }, { $set: { a: 1 } });
  await collection.deleteOne({ _id: 1 });
  const events = [await next, await stream.next(), await stream.next()];
  await stream.close();
  assert.deepEqual(
    events.map(({ operationType }) => operationType),
    ["insert", "update", "delete"],
  );
  assert.deepEqual(events[1].updateDescription.updatedFields, { a: 1 });
  const again = collection.watch([], { resumeAfter: events[0]._id });
  assert.equal((await again.next()).operationType, "update");
  await again.close();
});
