"""Values of every BSON type come back as they went in, bytes and order alike, wherever they stand."""

import datetime
import re
import struct
import uuid

import bson
import pytest
from bson import SON, Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp

from mongo import element, raw, refused, stored_bytes

UTC = datetime.UTC
OBJECT_ID = ObjectId("507f1f77bcf86cd799439011")

VALUES = {
    "double": 1.5,
    "double-whole": 1.0,
    "double-negative-zero": -0.0,
    "double-tiny": 5e-324,
    "double-huge": 1.7976931348623157e308,
    "double-infinity": float("inf"),
    "double-minus-infinity": float("-inf"),
    "double-nan": float("nan"),
    "int32": 1,
    "int32-min": -(2**31),
    "int32-max": 2**31 - 1,
    "int64-small": Int64(1),
    "int64-max": Int64(2**63 - 1),
    "int64-min": Int64(-(2**63)),
    "int64-beyond-double": Int64(2**53 + 1),
    "decimal": Decimal128("1.10"),
    "decimal-exponent": Decimal128("1E+6144"),
    "decimal-digits": Decimal128("0.1234567890123456789012345678901234"),
    "decimal-nan": Decimal128("NaN"),
    "decimal-infinity": Decimal128("-Infinity"),
    "decimal-zero": Decimal128("-0E-10"),
    "string": "text",
    "string-empty": "",
    "string-unicode": "é日本語😀\u0000\u2028",
    "object": {"z": 1, "a": {"b": []}, "": 2},
    "object-empty": {},
    "array": [1, "two", [3, []], {"four": 4}],
    "array-empty": [],
    "binary": b"bytes",
    "binary-empty": b"",
    "binary-0": Binary(b"\x00\xff", 0),
    "binary-function": Binary(b"abc", 1),
    "binary-old": Binary(b"abc", 2),
    "binary-uuid": Binary(uuid.UUID(int=7).bytes, 4),
    "binary-uuid-old": Binary(uuid.UUID(int=7).bytes, 3),
    "binary-md5": Binary(bytes(16), 5),
    "binary-user": Binary(b"abc", 128),
    "objectid": OBJECT_ID,
    "bool": True,
    "bool-false": False,
    "date": datetime.datetime(2020, 1, 2, 3, 4, 5, 678000, tzinfo=UTC),
    "date-before-1970": datetime.datetime(1900, 1, 1, tzinfo=UTC),
    "date-year-one": datetime.datetime(1, 1, 1, tzinfo=UTC),
    "date-9999": datetime.datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC),
    "null": None,
    "regex": Regex("^a.*b$", "imsx"),
    "regex-plain": Regex("a/b"),
    "dbref": DBRef("other", OBJECT_ID, "elsewhere"),
    "code": Code("function() {}"),
    "code-with-scope": Code("function() {}", {"x": 1}),
    "timestamp": Timestamp(4294967295, 4294967295),
    "timestamp-small": Timestamp(1, 2),
    "minkey": MinKey(),
    "maxkey": MaxKey(),
    "looks-like-extended-json": {"$oid": "507f1f77bcf86cd799439011"},
    "looks-like-a-date": {"$date": "2020-01-01T00:00:00Z"},
    "looks-like-a-number": {"$numberLong": "5"},
}
# PyMongo reads these types, but writes them no more.
OLD = {
    "undefined": element(6, "v"),
    "symbol": element(14, "v", struct.pack("<i", 4) + b"abc\0"),
    "dbpointer": element(12, "v", struct.pack("<i", 4) + b"abc\0" + OBJECT_ID.binary),
    "date-far": element(9, "v", struct.pack("<q", 2**62)),
    "date-far-back": element(9, "v", struct.pack("<q", -(2**62))),
}


def placed(value) -> dict:
    """A document with the value where values can be."""
    return {"v": value, "nested": {"v": value}, "list": [value, value], "last": "one"}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_comes_back_byte_for_byte(collection, value):
    document = {"_id": 1, **placed(value)}
    collection.insert_one(document)
    assert stored_bytes(collection, {"_id": 1}) == bson.encode(document)


@pytest.mark.parametrize("fields", OLD.values(), ids=OLD)
def test_an_old_value_comes_back_byte_for_byte(collection, fields):
    document = raw(element(16, "_id", struct.pack("<i", 1)) + fields)
    collection.insert_one(document)
    assert stored_bytes(collection, {"_id": 1}) == document.raw


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_is_set_and_found_through_an_update(collection, value):
    collection.insert_one({"_id": 1})
    collection.update_one({"_id": 1}, {"$set": {"v": value}})
    assert stored_bytes(collection, {"_id": 1}) == bson.encode({"_id": 1, "v": value})
    if not isinstance(value, (Regex, list)):
        assert collection.count_documents({"v": {"$eq": value}}) == 1


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_passes_through_a_pipeline(collection, value):
    collection.insert_one({"_id": 1, "v": value})
    (found,) = collection.with_options(bson.CodecOptions(document_class=bson.raw_bson.RawBSONDocument)).aggregate(
        [{"$project": {"w": "$v", "x": ["$v"]}}]
    )
    assert found.raw == bson.encode({"_id": 1, "w": value, "x": [value]})


IDS = {
    "objectid": OBJECT_ID,
    "string": "text",
    "string-empty": "",
    "string-slashes": "a/b\\c?d#e",
    "string-tilde": "~n1",
    "string-hex": "507f1f77bcf86cd799439011",
    "string-long": "x" * 900,
    "int32": 7,
    "int32-zero": 0,
    "int32-negative": -7,
    "int64": Int64(2**53 + 1),
    "double": 1.5,
    "double-nan": float("nan"),
    "double-infinity": float("-inf"),
    "decimal": Decimal128("1.1"),
    "null": None,
    "bool": True,
    "date": datetime.datetime(2020, 1, 2, tzinfo=UTC),
    "binary": b"bytes",
    "uuid": Binary(uuid.UUID(int=7).bytes, 4),
    "object": SON([("b", 1), ("a", {"c": [1, 2]})]),
    "object-empty": {},
    "object-long": {"text": "x" * 600},
    "timestamp": Timestamp(1, 2),
    "minkey": MinKey(),
    "maxkey": MaxKey(),
    "code": Code("x"),
}


@pytest.mark.parametrize("key", IDS.values(), ids=IDS)
def test_an_id_may_be(collection, key):
    collection.insert_one({"_id": key, "a": 1})
    assert stored_bytes(collection, {"_id": {"$eq": key}}) == bson.encode({"_id": key, "a": 1})
    with refused(11000):
        collection.insert_one({"_id": key})
    assert collection.update_one({"_id": key}, {"$set": {"a": 2}}).modified_count == 1
    assert collection.replace_one({"_id": key}, {"b": 3}).modified_count == 1
    assert stored_bytes(collection, {"_id": {"$in": [key]}}) == bson.encode({"_id": key, "b": 3})
    assert collection.update_one({"_id": key}, {"$set": {"c": 1}}, upsert=True).upserted_id is None
    assert collection.find_one_and_update({"_id": key}, {"$unset": {"c": 1}})["c"] == 1
    assert collection.delete_one({"_id": key}).deleted_count == 1
    assert collection.count_documents({}) == 0
    collection.update_one({"_id": key}, {"$set": {"a": 1}}, upsert=True)
    assert stored_bytes(collection, {}) == bson.encode({"_id": key, "a": 1})


def test_all_ids_live_side_by_side_and_in_order(collection):
    order = ["minkey", "null", "double-nan", "double-infinity", "int32-negative", "int32-zero", "decimal", "double"]
    order += ["int32", "int64", "string-empty", "string-slashes", "text", "object-empty", "binary", "objectid", "bool"]
    order += ["date", "timestamp", "maxkey"]
    named = {**IDS, "text": "text"}
    collection.insert_many({"_id": named[name], "name": name} for name in reversed(order))
    assert [found["name"] for found in collection.find().sort("_id", 1)] == order
    assert [found["name"] for found in collection.find().sort("_id", -1)] == order[::-1]


@pytest.mark.parametrize("key", [[], [1], Regex("a")], ids=["array-empty", "array", "regex"])
def test_an_id_may_not_be(collection, key):
    with refused(53, 2) as caught:
        collection.insert_one({"_id": key})
    assert caught.value.code in {53, 2}
    assert collection.count_documents({}) == 0


def test_an_id_may_not_be_undefined(collection):
    with refused(53, 2):
        collection.insert_one(raw(element(6, "_id")))


ONES = [1, 1.0, Int64(1), Decimal128("1"), Decimal128("1.0"), Decimal128("1E0")]


@pytest.mark.parametrize("stored", ONES, ids=repr)
def test_numbers_of_every_type_are_one_key(collection, stored):
    collection.insert_one({"_id": stored, "a": stored})
    for asked in ONES:
        with refused(11000):
            collection.insert_one({"_id": asked})
        assert collection.count_documents({"_id": asked}) == 1
        assert collection.count_documents({"a": asked}) == 1
        assert collection.count_documents({"a": {"$in": [asked]}}) == 1
        assert collection.count_documents({"a": {"$gte": asked, "$lte": asked}}) == 1


def test_documents_as_keys_have_an_order(collection):
    collection.insert_one({"_id": SON([("a", 1), ("b", 2)])})
    collection.insert_one({"_id": SON([("b", 2), ("a", 1)])})
    with refused(11000):
        collection.insert_one({"_id": SON([("a", 1.0), ("b", Int64(2))])})
    assert collection.count_documents({"_id": SON([("b", 2), ("a", 1)])}) == 1
    assert collection.count_documents({"_id.a": 1}) == 2


def test_the_server_makes_an_id(collection):
    # PyMongo would make one itself; runCommand leaves it to the server.
    collection.database.command("insert", collection.name, documents=[{"a": 1}, {"a": 2}])
    made = [found["_id"] for found in collection.find()]
    assert all(isinstance(key, ObjectId) for key in made)
    assert len(set(made)) == 2


def test_the_id_comes_first(collection):
    collection.insert_one(SON([("b", 1), ("_id", 5), ("a", 2)]))
    assert list(collection.find_one()) == ["_id", "b", "a"]


def test_names_of_rest_are_ordinary_names(collection):
    document = {"_id": 1, "id": "mine", "_rid": 1, "_self": 2, "_etag": 3, "_ts": 4, "_attachments": 5}
    collection.insert_one(document)
    assert stored_bytes(collection, {"id": "mine"}) == bson.encode(document)
    collection.update_one({"_ts": 4}, {"$set": {"_etag": "new", "id": None}})
    assert collection.find_one() == {**document, "_etag": "new", "id": None}


def test_a_name_with_dollars_is_not_the_name_without(collection):
    document = {"_id": 1, "id": "mine", "$$id": "other", "x": {"$$id": 1, "id": 2}}
    collection.insert_one(document)
    assert stored_bytes(collection, {}) == bson.encode(document)


def test_system_properties_do_not_show(collection):
    collection.insert_one({"_id": 1})
    assert collection.find_one() == {"_id": 1}
    assert list(collection.aggregate([{"$project": {"all": {"$objectToArray": "$$ROOT"}}}])) == [
        {"_id": 1, "all": [{"k": "_id", "v": 1}]}
    ]
    assert collection.count_documents({"_ts": {"$exists": True}}) == 0


@pytest.mark.parametrize("name", ["a.b", "$a", "a$b", "", " ", "é", "😀", "\u2028", "x" * 1000, "__proto__", "0"])
def test_a_field_may_be_called(collection, name):
    document = {"_id": 1, "in": {name: 1}, "after": 2}
    collection.insert_one(document)
    assert stored_bytes(collection, {}) == bson.encode(document)


def test_a_name_occurs_once(collection):
    twice = raw(element(16, "_id", struct.pack("<i", 1)) + element(8, "a", b"\1") + element(8, "a", b"\0"))
    with refused(2):
        collection.insert_one(twice)


def test_bytes_that_are_no_document_are_refused(collection):
    for broken in (
        element(2, "a", struct.pack("<i", 4) + b"\xff\xfe\xfd\0"),
        element(99, "a"),
        element(8, "a", b"\2"),
        element(2, "a", struct.pack("<i", 100) + b"abc\0"),
    ):
        with refused(22, 9):
            collection.insert_one(raw(element(16, "_id", struct.pack("<i", 1)) + broken))
    assert collection.count_documents({}) == 0
    assert collection.database.client.admin.command("ping")["ok"] == 1.0


def nested(levels: int) -> dict:
    """A document of this depth."""
    document: dict = {"end": 1}
    for _ in range(levels - 1):
        document = {"a": document}
    return document


def test_documents_nest_a_hundred_levels(collection):
    deep = {"_id": 1, **nested(95)}
    collection.insert_one(deep)
    assert collection.find_one() == deep
    with refused(15, 2, 22):
        collection.insert_one({"_id": 2, **nested(250)})


def deep_document(levels):
    """A document of so many levels, itself counted."""
    document = {}
    for _ in range(levels - 1):
        document = {"a": document}
    return document


def test_inserts_and_updates_nest_as_deep(collection):
    collection.insert_one({"_id": 1, **deep_document(100)})
    collection.replace_one({"_id": 1}, deep_document(100))
    with refused(15):
        collection.insert_one({"_id": 2, **deep_document(101)})
    with refused(15):
        collection.replace_one({"_id": 1}, deep_document(101))
    with refused(15):
        collection.update_one({"_id": 1}, {"$set": {"b": deep_document(100)}})


def test_a_python_regex_is_stored_as_one(collection):
    collection.insert_one({"_id": 1, "v": re.compile("^a", re.IGNORECASE)})
    assert collection.find_one()["v"] == Regex("^a", re.IGNORECASE | re.UNICODE)


def test_large_documents(collection):
    document = {"_id": 1, "text": "x" * (1024 * 1024)}
    collection.insert_one(document)
    assert collection.find_one() == document
