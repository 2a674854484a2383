"""The first words on a connection: what the server says it is, and how the conversation is secured and compressed."""

import ssl

import pytest
from bson import Int64, ObjectId, Timestamp
from pymongo import MongoClient, monitoring
from pymongo.errors import ConfigurationError, ServerSelectionTimeoutError
from pymongo.server_api import ServerApi

import mongo as api
from mongo import ACCOUNT, REPLICA_SET, connect, refused, wait_until
from server import KEY

WIRE_VERSION = 21


@pytest.mark.parametrize("name", ["hello", "isMaster", "ismaster"])
def test_the_server_is_a_primary_of_a_set_of_one(mongo, mongo_server, name):
    said = mongo.admin.command(name)
    address = f"localhost:{mongo_server.mongo_port}"
    assert said["hosts"] == [address]
    assert said["me"] == said["primary"] == address
    assert said["setName"] == REPLICA_SET
    assert said["isWritablePrimary" if name == "hello" else "ismaster"] is True
    assert said["secondary"] is False
    assert said["readOnly"] is False
    assert (said["minWireVersion"], said["maxWireVersion"]) == (0, WIRE_VERSION)
    assert said["maxBsonObjectSize"] == 16 * 1024 * 1024
    assert said["maxMessageSizeBytes"] == 48_000_000
    assert said["maxWriteBatchSize"] == 100_000
    assert said["logicalSessionTimeoutMinutes"] == 30
    assert isinstance(said["electionId"], ObjectId)
    assert isinstance(said["connectionId"], int)
    assert said["localTime"]
    assert said["lastWrite"]["opTime"]["ts"]
    assert said["ok"] == 1.0
    assert isinstance(said["ok"], float)


def test_every_reply_tells_the_time(mongo):
    for said in (mongo.admin.command("ping"), mongo.admin.command("hello")):
        assert isinstance(said["operationTime"], Timestamp)
        gossip = said["$clusterTime"]
        assert gossip["clusterTime"] >= said["operationTime"]
        assert gossip["signature"] == {"hash": bytes(20), "keyId": Int64(0)}


def test_time_moves_with_writes(mongo, collection):
    before = mongo.admin.command("ping")["$clusterTime"]["clusterTime"]
    first = collection.database.command("insert", collection.name, documents=[{"_id": 1}])["operationTime"]
    second = collection.database.command("insert", collection.name, documents=[{"_id": 2}])["operationTime"]
    assert before <= first < second


def test_errors_tell_the_time_too(mongo):
    with refused(59) as caught:
        mongo.admin.command("noSuchCommand")
    assert isinstance(caught.value.details["operationTime"], Timestamp)
    assert caught.value.details["codeName"] == "CommandNotFound"
    assert caught.value.details["errmsg"] == "no such command: 'noSuchCommand'"
    assert caught.value.details["ok"] == 0.0


def test_the_topology_is_discovered(mongo_server):
    with connect(mongo_server) as client:
        assert client.admin.command("ping")["ok"] == 1.0
        assert client.primary == ("localhost", mongo_server.mongo_port)
        assert client.topology_description.topology_type_name == "ReplicaSetWithPrimary"
        assert client.topology_description.replica_set_name == REPLICA_SET


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("replica_set", [REPLICA_SET, None])
def test_each_way_to_name_the_topology(mongo_server, direct, replica_set):
    with connect(mongo_server, directConnection=direct, replicaSet=replica_set) as client:
        assert client.admin.command("ping")["ok"] == 1.0


def test_another_set_is_not_here(mongo_server):
    with (
        connect(mongo_server, replicaSet="another", serverSelectionTimeoutMS=500) as client,
        pytest.raises(ServerSelectionTimeoutError),
    ):
        client.admin.command("ping")


def test_the_address_is_the_one_the_client_came_by(mongo_server):
    # A certificate for localhost names 127.0.0.1 as well.
    with connect(mongo_server, host="127.0.0.1", replicaSet=REPLICA_SET) as client:
        assert client.admin.command("ping")["ok"] == 1.0
        assert client.address == ("127.0.0.1", mongo_server.mongo_port)


def test_a_connection_string_of_the_service(mongo_server):
    uri = (
        f"mongodb://{ACCOUNT}:{KEY.replace('+', '%2B').replace('/', '%2F').replace('=', '%3D')}"
        f"@localhost:{mongo_server.mongo_port}/admin?ssl=true&replicaSet={REPLICA_SET}&retrywrites=false"
        f"&maxIdleTimeMS=120000&appName=@{ACCOUNT}@"
    )
    with MongoClient(uri, tlsCAFile=str(mongo_server.certificate), serverSelectionTimeoutMS=10_000) as client:
        notes = client["handshake"]["notes"]
        notes.insert_one({"_id": 1})
        assert notes.find_one() == {"_id": 1}
        client.drop_database("handshake")


def test_tls_and_plain_share_the_port(mongo_server):
    with connect(mongo_server, tls=False) as client:
        assert client.admin.command("ping")["ok"] == 1.0
        with refused(18):
            connect(mongo_server, tls=False, password="wrong").admin.command("ping")


def test_a_client_that_does_not_trust_the_certificate_stays_away(mongo_server):
    with (
        connect(mongo_server, tlsCAFile=ssl.get_default_verify_paths().cafile, serverSelectionTimeoutMS=500) as client,
        pytest.raises(ServerSelectionTimeoutError),
    ):
        client.admin.command("ping")


@pytest.mark.parametrize("compressor", ["zlib", "zstd", "snappy", "zstd,snappy,zlib"])
@pytest.mark.parametrize("tls", [True, False])
def test_messages_are_compressed(mongo_server, compressor, tls):
    with connect(mongo_server, compressors=compressor, tls=tls) as client:
        said = client.admin.command("hello", compression=[*compressor.split(","), "lz4"])
        assert said["compression"] == compressor.split(",")
        notes = client["compression"]["notes"]
        text = "The same again. " * 10_000
        notes.insert_many({"_id": number, "text": text} for number in range(20))
        assert [note["text"] for note in notes.find(batch_size=3)] == [text] * 20
        with refused(api.DUPLICATE_KEY):
            notes.insert_one({"_id": 3})
        client.drop_database("compression")


def test_without_a_common_compressor_there_is_none(mongo):
    assert "compression" not in mongo.admin.command("hello", compression=["none"])
    assert "compression" not in mongo.admin.command("hello", compression=[])
    assert "compression" not in mongo.admin.command("hello")


def test_mechanisms_are_named_when_asked(mongo):
    said = mongo.admin.command("hello", saslSupportedMechs=f"admin.{ACCOUNT}")
    assert set(said["saslSupportedMechs"]) == {"SCRAM-SHA-1", "SCRAM-SHA-256"}
    assert "saslSupportedMechs" not in mongo.admin.command("hello")


def test_the_stable_api(mongo_server):
    with connect(mongo_server, server_api=ServerApi("1")) as client:
        assert client.admin.command("ping")["ok"] == 1.0
        client["stable"]["notes"].insert_one({"_id": 1})
        assert client["stable"]["notes"].find_one() == {"_id": 1}
        client.drop_database("stable")
    with connect(mongo_server) as client:
        with refused(322):
            client.admin.command("ping", apiVersion="2")
        with refused(323):
            client.admin.command("serverStatus", apiVersion="1", apiStrict=True)


def test_a_load_balancer_is_not_pretended(mongo_server):
    with connect(mongo_server, loadBalanced=True) as client, pytest.raises(ConfigurationError):
        client.admin.command("ping")


@pytest.mark.parametrize("mode", ["auto", "poll", "stream"])
def test_the_monitor_is_content(mongo_server, mode):
    heard = []
    failed = []

    class Listener(monitoring.ServerHeartbeatListener):
        def started(self, event):
            pass

        def succeeded(self, event):
            heard.append(event.awaited)

        def failed(self, event):
            failed.append(event.reply)

    with connect(
        mongo_server, serverMonitoringMode=mode, heartbeatFrequencyMS=500, event_listeners=[Listener()]
    ) as client:
        client.admin.command("ping")
        wait_until(lambda: len(heard) >= 3)
        client.admin.command("ping")
    assert failed == []


def test_what_clients_are_told(start_server):
    server = start_server("--mongo-advertised-address", "db.example:10255", "--mongo-set-name", "mine")
    with connect(server, directConnection=True) as client:
        said = client.admin.command("hello")
        assert said["hosts"] == ["db.example:10255"]
        assert said["me"] == "db.example:10255"
        assert said["setName"] == "mine"
