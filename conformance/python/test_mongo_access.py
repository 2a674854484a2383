"""Who may connect, with which of the account's keys, and what each of them permits."""

import base64

import pytest
from pymongo.errors import OperationFailure

from mongo import ACCOUNT, READ_ONLY_KEY, SECONDARY_KEY, connect, refused
from server import KEY

UNAUTHORIZED = 13
AUTHENTICATION_FAILED = 18
MECHANISMS = ["SCRAM-SHA-1", "SCRAM-SHA-256", None]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("key", [KEY, SECONDARY_KEY], ids=["primary", "secondary"])
@pytest.mark.parametrize("source", ["admin", "anything", None])
def test_the_keys_of_the_account_open_it(mongo_server, mechanism, key, source):
    with connect(mongo_server, password=key, authMechanism=mechanism, authSource=source) as client:
        notes = client["access"]["notes"]
        notes.update_one({"_id": 1}, {"$set": {"seen": True}}, upsert=True)
        assert notes.find_one() == {"_id": 1, "seen": True}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(
    ("user", "key"),
    [
        (ACCOUNT, "wrong"),
        (ACCOUNT, KEY[:-1]),
        (ACCOUNT, base64.b64encode(b"x" * 64).decode()),
        ("another", KEY),
        ("a,b=c", KEY),
        ("é", KEY),
    ],
)
def test_other_words_do_not(mongo_server, mechanism, user, key):
    with (
        connect(mongo_server, username=user, password=key, authMechanism=mechanism) as client,
        refused(AUTHENTICATION_FAILED, text="Authentication failed.") as caught,
    ):
        client.admin.command("ping")
    assert caught.value.details["codeName"] == "AuthenticationFailed"


def test_a_refused_client_may_try_again_on_the_same_connection_pool(mongo_server):
    with connect(mongo_server, password="wrong") as client:
        for _ in range(3):
            with refused(AUTHENTICATION_FAILED):
                client.admin.command("ping")


@pytest.mark.parametrize("mechanism", ["PLAIN", "MONGODB-X509"])
def test_other_mechanisms_are_not_offered(mongo_server, mechanism):
    password = KEY if mechanism == "PLAIN" else None
    with (
        connect(mongo_server, authMechanism=mechanism, authSource="$external", password=password) as client,
        pytest.raises(OperationFailure) as caught,
    ):
        client.admin.command("ping")
    assert caught.value.code in {334, 2, 18, 59, 115}, caught.value


WRITES = {
    "insert": lambda c: c.insert_one({}),
    "update": lambda c: c.update_one({"_id": 1}, {"$set": {"a": 2}}),
    "upsert": lambda c: c.update_one({"_id": 9}, {"$set": {"a": 2}}, upsert=True),
    "delete": lambda c: c.delete_one({"_id": 1}),
    "findAndModify": lambda c: c.find_one_and_delete({"_id": 1}),
    "create": lambda c: c.database.create_collection("made-by-a-reader"),
    "drop": lambda c: c.drop(),
    "dropDatabase": lambda c: c.database.client.drop_database(c.database.name),
    "createIndexes": lambda c: c.create_index("a"),
    "dropIndexes": lambda c: c.drop_indexes(),
    "$out": lambda c: c.aggregate([{"$out": "copied"}]),
    "$merge": lambda c: c.aggregate([{"$merge": "copied"}]),
    "renameCollection": lambda c: c.rename("renamed"),
    "customAction": lambda c: c.database.command({"customAction": "CreateCollection", "collection": "custom"}),
}


@pytest.fixture
def reader(mongo_server):
    """A client with the key that permits reading alone."""
    with connect(mongo_server, password=READ_ONLY_KEY) as client:
        yield client


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_key_for_reading_writes_nothing(collection, reader, write):
    collection.insert_one({"_id": 1, "a": 1})
    with refused(UNAUTHORIZED) as caught:
        write(reader[collection.database.name][collection.name])
    assert caught.value.details["codeName"] == "Unauthorized"
    assert list(collection.find()) == [{"_id": 1, "a": 1}]


def test_a_key_for_reading_reads(collection, reader):
    collection.insert_many([{"_id": number, "a": number % 2} for number in range(10)])
    seen = reader[collection.database.name][collection.name]
    assert seen.count_documents({}) == 10
    assert seen.estimated_document_count() == 10
    assert sorted(seen.distinct("a")) == [0, 1]
    assert len(list(seen.find(batch_size=3))) == 10
    assert [one["n"] for one in seen.aggregate([{"$group": {"_id": "$a", "n": {"$sum": 1}}}])] == [5, 5]
    assert collection.name in reader[collection.database.name].list_collection_names()
    assert collection.database.name in reader.list_database_names()
    assert "_id_" in seen.index_information()


FREE = ["hello", "isMaster", "ping", "buildInfo", "whatsmyuri", "connectionStatus", "logout"]
CLOSED = {
    "find": {"find": "c"},
    "insert": {"insert": "c", "documents": [{}]},
    "aggregate": {"aggregate": "c", "pipeline": [], "cursor": {}},
    "listDatabases": {"listDatabases": 1},
    "listCollections": {"listCollections": 1},
    "serverStatus": {"serverStatus": 1},
    "getCmdLineOpts": {"getCmdLineOpts": 1},
    "getParameter": {"getParameter": "*"},
    "createUser": {"createUser": "me", "pwd": "x", "roles": []},
    "dropDatabase": {"dropDatabase": 1},
    "configureFailPoint": {"configureFailPoint": "failCommand", "mode": "off"},
    "getLastRequestStatistics": {"getLastRequestStatistics": 1},
}


@pytest.fixture
def stranger(mongo_server):
    """A client that says not who it is."""
    with connect(mongo_server, username=None, password=None) as client:
        yield client


@pytest.mark.parametrize("command", FREE)
def test_strangers_may_ask_who_is_there(stranger, command):
    assert stranger.admin.command(command)["ok"] == 1.0


@pytest.mark.parametrize("command", CLOSED.values(), ids=CLOSED)
def test_strangers_may_ask_nothing_else(stranger, command):
    with refused(UNAUTHORIZED, text="requires authentication"):
        stranger.admin.command(command)


def test_who_am_i(mongo, reader, stranger):
    (user,) = mongo.admin.command("connectionStatus", showPrivileges=True)["authInfo"]["authenticatedUsers"]
    assert user["user"] == ACCOUNT
    (user,) = reader.admin.command("connectionStatus")["authInfo"]["authenticatedUsers"]
    assert user["user"] == ACCOUNT
    assert stranger.admin.command("connectionStatus")["authInfo"]["authenticatedUsers"] == []


def test_the_client_is_described_once(mongo):
    with refused(186, 2):
        mongo.admin.command("hello", client={"driver": {"name": "x", "version": "1"}, "os": {"type": "x"}})


def test_a_role_ends_with_its_database(mongo, mongo_server):
    """A pipeline wrote where its user may not, and the users that the server keeps could be written as documents."""
    mongo["mine"]["notes"].replace_one({"_id": 1}, {}, upsert=True)
    mongo["mine"].command("createUser", "writer", pwd="x", roles=["readWrite", {"role": "readWrite", "db": "admin"}])
    try:
        with connect(mongo_server, username="writer", password="x", authSource="mine") as client:
            notes = client["mine"]["notes"]
            notes.aggregate([{"$merge": "copy"}])
            assert client["mine"]["copy"].count_documents({}) == 1
            for stage in ({"$merge": {"into": {"db": "theirs", "coll": "notes"}}}, {"$out": {"db": "theirs", "coll": "notes"}}):
                with refused(UNAUTHORIZED):
                    notes.aggregate([stage])
            with refused(UNAUTHORIZED):
                notes.aggregate([{"$merge": {"into": {"db": "admin", "coll": "system.users"}}}])
            for name in ("system.users", "system.collections"):
                with refused(UNAUTHORIZED):
                    client["admin"][name].delete_many({})
                with refused(UNAUTHORIZED):
                    client["admin"][name].find_one()
            with refused(UNAUTHORIZED):
                client["admin"].command("renameCollection", "theirs.a", to="mine.a")
            with refused(UNAUTHORIZED):
                client["mine"].command("shardCollection", "theirs.a", key={"k": "hashed"})
        assert "theirs" not in mongo.list_database_names()
    finally:
        mongo["mine"].command("dropUser", "writer")


def test_a_user_of_one_mechanism(mongo_server, mongo):
    database = mongo["mechanisms"]
    database.command("createUser", "one", pwd="secret", roles=["read"], mechanisms=["SCRAM-SHA-1"])
    try:
        assert database.command("usersInfo", "one")["users"][0]["mechanisms"] == ["SCRAM-SHA-1"]
        hello = mongo.admin.command("hello", saslSupportedMechs="mechanisms.one")
        assert hello["saslSupportedMechs"] == ["SCRAM-SHA-1"]
        named = {"username": "one", "password": "secret", "authSource": "mechanisms"}
        for mechanism in ("SCRAM-SHA-1", None):
            with connect(mongo_server, **named, authMechanism=mechanism) as client:
                assert client["mechanisms"].command("ping")["ok"] == 1.0
        with connect(mongo_server, **named, authMechanism="SCRAM-SHA-256") as client, refused(AUTHENTICATION_FAILED):
            client["mechanisms"].command("ping")
        for wrong in (["PLAIN"], []):
            with refused(2):
                database.command("createUser", "two", pwd="secret", roles=["read"], mechanisms=wrong)
    finally:
        database.command("dropUser", "one")
