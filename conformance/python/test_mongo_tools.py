"""What shells, graphical clients, object mappers and dump tools ask, in the forms they ask it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from bson import Int64
from gridfs import GridFSBucket
from pymongo.errors import OperationFailure

from mongo import ACCOUNT, connect, refused


def test_what_a_shell_asks_at_its_start(mongo):
    built = mongo.admin.command("buildInfo")
    assert built["version"].startswith("7.0.")
    assert built["versionArray"][:2] == [7, 0]
    assert built["bits"] == 64
    assert isinstance(built["debug"], bool)
    assert built["maxBsonObjectSize"] == 16 * 1024 * 1024
    assert built["modules"] == []
    assert built["storageEngines"] == ["armilla"]
    assert built["openssl"]
    assert "ferretdb" not in built
    pipeline = [{"$match": {"managedClusterType": {"$exists": True}}}, {"$group": {"_id": 1, "n": {"$sum": 1}}}]
    assert list(mongo.admin["atlascli"].aggregate(pipeline)) == []
    with pytest.raises(OperationFailure) as caught:
        mongo.admin.command("getParameter", "foo")
    assert "documentdb_api" not in str(caught.value)
    with refused(59):
        mongo.admin.command("atlasVersion")
    version = mongo.admin.command("getParameter", 1, featureCompatibilityVersion=1)["featureCompatibilityVersion"]
    assert version["version"] == "7.0"
    assert mongo.admin.command("getLog", "startupWarnings")["log"] == []
    assert "global" in mongo.admin.command("getLog", "*")["names"]
    assert mongo.admin.command("listDatabases", nameOnly=True)["databases"] is not None


def test_what_a_graphical_client_asks_at_its_start(mongo):
    status = mongo.admin.command("connectionStatus", showPrivileges=True)["authInfo"]
    assert status["authenticatedUsers"][0]["user"] == ACCOUNT
    assert status["authenticatedUserRoles"]
    assert status["authenticatedUserPrivileges"]
    host = mongo.admin.command("hostInfo")
    assert host["system"]["hostname"]
    assert host["system"]["numCores"] > 0
    assert host["os"]["type"]
    assert host["extra"] is not None


def test_the_state_of_the_server(mongo):
    status = mongo.admin.command("serverStatus")
    assert status["version"].startswith("7.0.")
    assert status["process"]
    assert status["pid"] > 0
    assert status["uptime"] >= 0
    assert status["localTime"]
    assert status["connections"]["current"] >= 1
    assert {"insert", "query", "update", "delete", "getmore", "command"} <= set(status["opcounters"])
    assert {"bytesIn", "bytesOut", "numRequests"} <= set(status["network"])
    assert status["mem"]
    assert status["repl"]["setName"] == "globaldb"
    assert status["storageEngine"]["name"] == "armilla"


def test_the_state_of_the_set(mongo, mongo_server):
    status = mongo.admin.command("replSetGetStatus")
    assert status["set"] == "globaldb"
    assert status["myState"] == 1
    (member,) = status["members"]
    assert member["stateStr"] == "PRIMARY"
    assert member["self"] is True
    config = mongo.admin.command("replSetGetConfig")["config"]
    assert config["_id"] == "globaldb"
    assert [one["host"] for one in config["members"]] == [f"localhost:{mongo_server.mongo_port}"]


def test_parameters(mongo):
    every = mongo.admin.command("getParameter", "*")
    assert every["featureCompatibilityVersion"]["version"] == "7.0"
    assert "SCRAM-SHA-256" in every["authenticationMechanisms"]
    assert "enableTestCommands" in every
    assert every["requireApiVersion"] is False
    options = mongo.admin.command("getCmdLineOpts")
    assert options["argv"] == [] or isinstance(options["argv"], list)
    assert isinstance(options["parsed"], dict)


def test_small_commands(mongo, collection):
    database = collection.database
    collection.insert_one({"_id": 1})
    assert ":" in mongo.admin.command("whatsmyuri")["you"]
    assert "find" in mongo.admin.command("listCommands")["commands"]
    assert database.command("profile", 0)["was"] == 0
    assert mongo.admin.command("fsync")["ok"] == 1.0
    assert mongo.admin.command("top")["totals"] is not None
    assert mongo.admin.command("currentOp")["inprog"] is not None
    assert database.command("dataSize", collection.full_name)["numObjects"] == 1
    assert database.command("validate", collection.name)["valid"] is True
    assert database.command("reIndex", collection.name)["ok"] == 1.0
    assert database.command("getLastError")["err"] is None
    assert mongo.admin.command("setFeatureCompatibilityVersion", "7.0", confirm=True)["ok"] == 1.0


@pytest.mark.parametrize("command", ["getLastError", "getlasterror", "buildinfo", "buildInfo", "dbstats", "dbStats"])
def test_aliases(mongo_database, command):
    assert mongo_database.command(command)["ok"] == 1.0


@pytest.mark.parametrize("command", ["Ping", "HELLO", "Find", "dbSTATS"])
def test_other_spellings_are_no_commands(mongo_database, command):
    with refused(59):
        mongo_database.command(command)


REFUSED = {
    "mapReduce": {115, 238},
    "eval": {59, 115},
    "addShard": {59, 115},
    "moveChunk": {59, 115},
    "balancerStart": {59, 115},
    "createSearchIndexes": {31082, 115, 59},
    "applyOps": {59, 115, 13},
    "shutdown": {59, 115, 13},
    "replSetStepDown": {59, 115, 13},
    "copydb": {59, 115},
    "setParameter": {59, 115, 13, 72, 9, 20},
}


@pytest.mark.parametrize(("command", "codes"), REFUSED.items(), ids=REFUSED)
def test_what_there_is_not(mongo, command, codes):
    with refused(*codes):
        mongo.admin.command(command)


def test_search_indexes_are_of_another_product(collection):
    collection.insert_one({})
    with refused(31082, 115, 59, text="Atlas"):
        collection.create_search_index({"definition": {"mappings": {"dynamic": True}}})


def test_fail_points_are_for_test_servers(mongo):
    with refused(59, 13):
        mongo.admin.command("configureFailPoint", "failCommand", mode="off")


def test_helpers_of_the_shell(collection):
    collection.insert_many({"_id": number} for number in range(7))
    (stats,) = collection.aggregate([{"$collStats": {"storageStats": {"scale": 1}}}])
    assert stats["storageStats"]["count"] == 7
    (count,) = collection.aggregate([{"$match": {}}, {"$group": {"_id": 1, "n": {"$sum": 1}}}])
    assert count["n"] == 7
    admin = collection.database.client.admin
    assert list(admin.aggregate([{"$currentOp": {"allUsers": True, "idleConnections": False}}])) is not None
    assert collection.database.command("usersInfo", 1)["users"] == []


def test_a_shell_looks_for_shards(mongo):
    for name in ("version", "shards", "mongos", "chunks"):
        assert list(mongo["config"][name].find()) is not None


def test_what_a_dump_asks(mongo, collection):
    database = collection.database
    collection.insert_many({"_id": number} for number in range(250))
    collection.create_index("a")
    assert mongo.admin.command("isMaster")["ismaster"] is True
    listed = database.command("listCollections", cursor={"batchSize": 1000}, filter={})["cursor"]["firstBatch"]
    assert collection.name in [one["name"] for one in listed]
    assert [one["name"] for one in collection.list_indexes()] == ["_id_", "a_1"]
    found = list(collection.find({}, no_cursor_timeout=True, batch_size=100, hint=[("_id", 1)]))
    assert len(found) == 250
    assert database.command("collStats", collection.name)["count"] == 250
    assert database.command("count", collection.name)["n"] == 250


def test_what_an_object_mapper_does_at_its_start(empty_database):
    def prepare(number: int):
        made = empty_database[f"model{number % 3}"]
        made.create_index([("a", 1)], background=True)
        made.create_index([("b", 1)], unique=True)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(prepare, range(24)))
    assert sorted(empty_database.list_collection_names()) == ["model0", "model1", "model2"]
    for number in range(3):
        assert set(empty_database[f"model{number}"].index_information()) == {"_id_", "a_1", "b_1"}


def test_files(mongo_database):
    bucket = GridFSBucket(mongo_database, bucket_name="files", chunk_size_bytes=64 * 1024)
    data = bytes(range(256)) * 2000
    key = bucket.upload_from_stream("name.bin", data, metadata={"a": 1})
    with bucket.open_download_stream(key) as stream:
        assert stream.length == Int64(len(data))
        assert stream.read() == data
    bucket.rename(key, "other.bin")
    assert [found.filename for found in bucket.find({})] == ["other.bin"]
    bucket.delete(key)
    assert mongo_database["files.chunks"].count_documents({}) == 0
    mongo_database["files.files"].drop()
    mongo_database["files.chunks"].drop()


def test_users(mongo_server, empty_database):
    empty_database.command("createUser", "reader", pwd="secret", roles=["read"])
    (user,) = empty_database.command("usersInfo", "reader")["users"]
    assert (user["user"], user["db"]) == ("reader", empty_database.name)
    empty_database["notes"].insert_one({"_id": 1})
    source = {"username": "reader", "password": "secret", "authSource": empty_database.name}
    with connect(mongo_server, **source) as client:
        notes = client[empty_database.name]["notes"]
        assert notes.find_one() == {"_id": 1}
        with refused(13):
            notes.insert_one({})
    with refused(51003):
        empty_database.command("createUser", "reader", pwd="secret", roles=["read"])
    empty_database.command("dropUser", "reader")
    with connect(mongo_server, **source) as client, refused(18):
        client.admin.command("ping")
    with refused(11):
        empty_database.command("dropUser", "reader")
