"""The asynchronous client of PyMongo: the same server, many requests at once on few connections."""

import asyncio

import pytest
from bson import ObjectId
from pymongo import InsertOne, UpdateOne

from conftest import fresh
from mongo import connect_async, refused


@pytest.fixture
def run(mongo_server):
    """Runs a coroutine with a client and a collection that is gone afterwards."""

    def with_client(work, **options):
        async def whole():
            async with connect_async(mongo_server, **options) as client:
                collection = client["conformance"][fresh("async")]
                try:
                    return await work(client, collection)
                finally:
                    await collection.drop()

        return asyncio.run(whole())

    return with_client


def test_a_document_lives_through_every_verb(run):
    async def work(_, collection):
        inserted = await collection.insert_one({"name": "Ann"})
        assert isinstance(inserted.inserted_id, ObjectId)
        assert await collection.find_one({"name": "Ann"}) == {"_id": inserted.inserted_id, "name": "Ann"}
        assert (await collection.update_one({}, {"$set": {"age": 5}})).modified_count == 1
        assert (await collection.replace_one({}, {"age": 6})).modified_count == 1
        assert await collection.find_one_and_update({}, {"$inc": {"age": 1}}, return_document=True) == {
            "_id": inserted.inserted_id,
            "age": 7,
        }
        assert await collection.count_documents({}) == 1
        assert await collection.distinct("age") == [7]
        assert (await collection.delete_one({})).deleted_count == 1

    run(work)


def test_cursors(run):
    async def work(_, collection):
        await collection.insert_many([{"_id": number} for number in range(250)])
        assert [one["_id"] async for one in collection.find(sort=[("_id", 1)], batch_size=30)] == list(range(250))
        cursor = await collection.aggregate([{"$match": {"_id": {"$lt": 120}}}, {"$count": "n"}])
        assert await cursor.to_list() == [{"n": 120}]
        assert len(await collection.find().to_list(10)) == 10

    run(work)


@pytest.mark.parametrize("compressors", [None, "zstd,snappy,zlib"])
def test_many_requests_at_once(run, compressors):
    async def work(_, collection):
        await collection.insert_one({"_id": 1, "n": 0})
        await asyncio.gather(*(collection.update_one({"_id": 1}, {"$inc": {"n": 1}}) for _ in range(200)))
        assert (await collection.find_one())["n"] == 200
        await asyncio.gather(*(collection.insert_one({"_id": 10 + number}) for number in range(200)))
        assert await collection.count_documents({}) == 201

    run(work, maxPoolSize=10, compressors=compressors)


def test_bulk_writes_and_errors(run):
    async def work(_, collection):
        result = await collection.bulk_write([InsertOne({"_id": 1}), UpdateOne({"_id": 2}, {"$set": {"a": 1}}, True)])
        assert (result.inserted_count, result.upserted_count) == (1, 1)
        with refused(11000):
            await collection.insert_one({"_id": 1})
        with refused(2):
            await collection.find_one({"a": {"$nonsense": 1}})

    run(work)


def test_indexes_and_listings(run):
    async def work(client, collection):
        assert await collection.create_index("a", unique=True) == "a_1"
        assert set(await collection.index_information()) == {"_id_", "a_1"}
        assert collection.name in await collection.database.list_collection_names()
        assert collection.database.name in await client.list_database_names()

    run(work)


def test_transactions(run):
    async def work(client, collection):
        await collection.insert_one({"_id": 0, "n": 0})

        async def add(session):
            await collection.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=session)

        async def several():
            async with client.start_session() as session:
                for _ in range(5):
                    await session.with_transaction(add)

        await asyncio.gather(*(several() for _ in range(4)))
        assert (await collection.find_one())["n"] == 20

    run(work)


def test_change_streams(run):
    async def work(_, collection):
        async with await collection.watch() as stream:
            await collection.insert_many([{"_id": number} for number in range(3)])
            assert [(await stream.next())["documentKey"]["_id"] for _ in range(3)] == [0, 1, 2]

    run(work)


def test_a_wrong_key(run):
    async def work(client, _):
        with refused(18):
            await client.admin.command("ping")

    with refused(18):
        run(work, password="wrong")
