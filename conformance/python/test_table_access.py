"""Who may do what in the Table API: keys, connection strings, shared access signatures, stored policies."""

import base64
import itertools
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import HttpResponseError
from azure.data.tables import (
    AccountSasPermissions,
    ResourceTypes,
    SASProtocol,
    TableAccessPolicy,
    TableErrorCode,
    TableSasPermissions,
    UpdateMode,
    generate_account_sas,
    generate_table_sas,
)

from conftest import fresh_table
from server import KEY
from tables import (
    BOTH_FLAVOURS,
    COSMOS_ACCOUNT,
    DOORS,
    STORAGE,
    STORAGE_ACCOUNT,
    STORAGE_KEY,
    Door,
    entity,
    refused,
    rows,
)

STORAGE_EMULATOR_PORT = 10002
SOON = timedelta(hours=1)
EVERYTHING = ResourceTypes(service=True, container=True, object=True)


def _now() -> datetime:
    return datetime.now(UTC)


def _is_refused(request: Callable[[], Any]) -> bool:
    try:
        request()
    except HttpResponseError as error:
        if error.status_code not in (401, 403):
            raise
        return True
    return False


def test_every_combination_of_client_flavour_scheme_host_and_account(server):
    seen = []
    for is_async, is_storage, scheme, host, account in itertools.product(
        (False, True), (False, True), ("https", "http"), ("localhost", "127.0.0.1"), (COSMOS_ACCOUNT, STORAGE_ACCOUNT)
    ):
        door = Door(is_async, is_storage, scheme, host, account)
        with door.service(server, connection_verify=str(server.certificate)) as service:
            table = service.create_table(fresh_table())
            table.create_entity(entity("it's", n=1))
            table.update_entity(entity("it's", m=2))
            table.submit_transaction([("update", entity("it's", n=3)), ("create", entity("s"))])
            assert table.get_entity("p", "it's") == entity("it's", n=3, m=2)
            assert sorted(rows(table.query_entities("PartitionKey eq 'p'"))) == ["it's", "s"]
            table.delete_table()
            seen.append(door.name)
    assert len(seen) == 32


def test_connection_strings(server, door, table):
    text = door.connection_string(server)
    with door.connect(server, lambda sdk, **o: sdk.TableServiceClient.from_connection_string(text, **o)) as service:
        assert service.account_name == door.account
        assert table.table_name in [one.name for one in service.list_tables()]
    with door.connect(
        server, lambda sdk, **o: sdk.TableClient.from_connection_string(text, table.table_name, **o)
    ) as same:
        same.create_entity(entity("r"))
    assert rows(table.list_entities()) == ["r"]


def test_connection_strings_with_a_signature(server, door, table):
    token = generate_account_sas(
        door.credential, EVERYTHING, AccountSasPermissions.from_string("rwdlacu"), _now() + SOON
    )
    text = f"TableEndpoint={door.endpoint(server)};SharedAccessSignature={token}"
    with door.connect(
        server, lambda sdk, **o: sdk.TableClient.from_connection_string(text, table.table_name, **o)
    ) as same:
        same.create_entity(entity("r"))
        same.upsert_entity(entity("r", n=1))
        assert rows(same.list_entities()) == ["r"]


def test_the_short_form_of_the_storage_emulator(start_server):
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", STORAGE_EMULATOR_PORT)) == 0:
            pytest.skip(f"somebody listens on port {STORAGE_EMULATOR_PORT}")
    server = start_server("--storage-table-port", str(STORAGE_EMULATOR_PORT))
    text = "UseDevelopmentStorage=true"
    for door in DOORS[:2]:
        with door.connect(server, lambda sdk, **o: sdk.TableServiceClient.from_connection_string(text, **o)) as service:
            assert service.account_name == STORAGE_ACCOUNT
            table = service.create_table(fresh_table())
            table.create_entity(entity("r"))
            assert rows(table.list_entities()) == ["r"]


def test_urls_of_tables(server, door, table):
    table.create_entity(entity("r"))
    url = f"{door.endpoint(server)}/{table.table_name}"
    token = generate_table_sas(door.credential, table.table_name, permission="r", expiry=_now() + SOON)
    for make in (
        lambda sdk, **o: sdk.TableClient.from_table_url(url, credential=door.credential, **o),
        lambda sdk, **o: sdk.TableClient.from_table_url(url, credential=AzureSasCredential(token), **o),
        lambda sdk, **o: sdk.TableClient.from_table_url(f"{url}?{token}", **o),
    ):
        with door.connect(server, make) as same:
            assert same.table_name == table.table_name
            assert rows(same.list_entities()) == ["r"]


@pytest.mark.parametrize(
    ("account", "key"),
    [
        (COSMOS_ACCOUNT, "bm90IHRoZSBrZXk="),
        (STORAGE_ACCOUNT, "bm90IHRoZSBrZXk="),
        ("nobody", KEY[:-4] + "AA=="),
        (COSMOS_ACCOUNT, STORAGE_KEY),
    ],
)
def test_keys_that_are_wrong(server, door, account, key):
    with door.service(server, credential=AzureNamedKeyCredential(account, key)) as service:
        with pytest.raises(HttpResponseError) as caught:
            list(service.list_tables())
        assert caught.value.status_code == (403 if door.is_storage else 401), caught.value
        with pytest.raises(HttpResponseError):
            service.create_table("never")


def test_no_credential_at_all(server, door):
    make = lambda sdk, **o: sdk.TableServiceClient(door.endpoint(server) + "?sv=2019-02-02", **o)  # noqa: E731
    with door.connect(server, make) as service, pytest.raises(HttpResponseError) as caught:
        list(service.list_tables())
    assert caught.value.status_code in (401, 403)


def test_keys_of_the_servers_own(start_server):
    keys = {name: base64.b64encode(name.encode() * 8).decode() for name in ("first", "second", "reading")}
    flags = ["--key", keys["first"], "--secondary-key", keys["second"], "--read-only-key", keys["reading"]]
    server = start_server(*flags)
    for door in BOTH_FLAVOURS:
        for account, key, may_read, may_write in (
            (COSMOS_ACCOUNT, keys["first"], True, True),
            (COSMOS_ACCOUNT, keys["second"], True, True),
            (COSMOS_ACCOUNT, keys["reading"], True, False),
            (STORAGE_ACCOUNT, keys["first"], True, True),
            (STORAGE_ACCOUNT, STORAGE_KEY, False, False),
            (COSMOS_ACCOUNT, KEY, False, False),
        ):
            with door.service(server, credential=AzureNamedKeyCredential(account, key)) as service:
                assert _is_refused(lambda service=service: list(service.list_tables())) != may_read, (account, key)
                made = fresh_table()
                assert _is_refused(lambda service=service, made=made: service.create_table(made)) != may_write


# What an account signature of these permissions may do, with all resource types.
REQUESTS = {
    "list tables": lambda service, table: list(service.list_tables()),
    "create table": lambda service, table: service.create_table(table.table_name + "x"),
    "read": lambda service, table: table.get_entity("p", "r"),
    "list": lambda service, table: list(table.list_entities()),
    "add": lambda service, table: table.create_entity(entity("new")),
    "update": lambda service, table: table.update_entity(entity("r", n=2)),
    "upsert": lambda service, table: table.upsert_entity(entity("r", n=3), mode=UpdateMode.REPLACE),
    "delete": lambda service, table: table.delete_entity("p", "r"),
    "transaction": lambda service, table: table.submit_transaction([("create", entity("t")), ("delete", entity("r"))]),
}


@pytest.mark.parametrize("door", BOTH_FLAVOURS, indirect=True, ids=[door.name for door in BOTH_FLAVOURS])
@pytest.mark.parametrize(
    ("permission", "may"),
    [
        ("r", {"read", "list"}),
        ("a", {"add"}),
        ("u", {"update"}),
        ("d", {"delete"}),
        ("l", {"list tables"}),
        ("au", {"add", "update", "upsert"}),
        ("ad", {"add", "delete", "transaction"}),
        ("w", {"create table"}),
        ("c", {"create table"}),
        ("rwdlacup", set(REQUESTS)),
    ],
)
def test_permissions_of_account_signatures(server, door, table_service, make_table, permission, may):
    token = generate_account_sas(
        door.credential, EVERYTHING, AccountSasPermissions.from_string(permission), _now() + SOON
    )
    _check_requests(server, door, table_service, make_table, lambda name: token, may)


@pytest.mark.parametrize("door", BOTH_FLAVOURS, indirect=True, ids=[door.name for door in BOTH_FLAVOURS])
@pytest.mark.parametrize(
    ("permission", "may"),
    [
        ("r", {"read", "list"}),
        ("a", {"add"}),
        ("u", {"update"}),
        ("d", {"delete"}),
        ("au", {"add", "update", "upsert"}),
        ("ad", {"add", "delete", "transaction"}),
        ("raud", {"read", "list", "add", "update", "upsert", "delete", "transaction"}),
    ],
)
def test_permissions_of_table_signatures(server, door, table_service, make_table, permission, may):
    def token(name: str) -> str:
        return generate_table_sas(
            door.credential, name, permission=TableSasPermissions.from_string(permission), expiry=_now() + SOON
        )

    _check_requests(server, door, table_service, make_table, token, may)


def _check_requests(server, door, table_service, make_table, token_for, may: set[str]) -> None:
    table = make_table()
    table.create_entity(entity("r"))
    done = set()
    with door.service(server, credential=AzureSasCredential(token_for(table.table_name))) as service:
        signed = service.get_table_client(table.table_name)
        for name, request in REQUESTS.items():
            table.upsert_entity(entity("r"))
            if not _is_refused(lambda request=request: request(service, signed)):
                done.add(name)
    assert done == may
    if "create table" in done:
        table_service.delete_table(table.table_name + "x")


def test_resource_types_of_account_signatures(server, door, table):
    everything = AccountSasPermissions.from_string("rwdlacu")
    table.create_entity(entity("r"))
    for types, may in (("s", (False, False)), ("c", (True, False)), ("o", (False, True)), ("co", (True, True))):
        token = generate_account_sas(door.credential, ResourceTypes.from_string(types), everything, _now() + SOON)
        with door.service(server, credential=AzureSasCredential(token)) as service:
            signed = service.get_table_client(table.table_name)
            requests = (lambda s=service: list(s.list_tables()), lambda t=signed: t.upsert_entity(entity("r")))
            worked = tuple(not _is_refused(request) for request in requests)
        assert worked == may, types


@pytest.mark.parametrize(
    ("options", "is_allowed"),
    [
        ({"expiry": SOON}, True),
        ({"expiry": -SOON}, False),
        ({"expiry": SOON, "start": -SOON}, True),
        ({"expiry": SOON * 2, "start": SOON}, False),
        ({"expiry": SOON, "ip_address_or_range": "127.0.0.1"}, True),
        ({"expiry": SOON, "ip_address_or_range": "127.0.0.0-127.255.255.255"}, True),
        ({"expiry": SOON, "ip_address_or_range": "10.0.0.1"}, False),
        ({"expiry": SOON, "ip_address_or_range": "10.0.0.1-10.0.0.9"}, False),
        ({"expiry": SOON, "protocol": "https,http"}, True),
        ({"expiry": SOON, "protocol": SASProtocol.HTTPS.value}, None),
    ],
)
def test_bounds_of_signatures(server, door, common_table, partition, options, is_allowed):
    if is_allowed is None:
        is_allowed = door.scheme == "https"
    # `localhost` may be the IPv6 address, which no signature can name.
    door = Door(door.is_async, door.is_storage, door.scheme, "127.0.0.1", door.account)
    options = {name: _now() + value if isinstance(value, timedelta) else value for name, value in options.items()}
    name = common_table.table_name
    common_table.create_entity(entity("r", partition))
    reading = AccountSasPermissions(read=True)
    for token in (
        generate_table_sas(door.credential, name, permission="r", **options),
        generate_account_sas(door.credential, ResourceTypes(object=True), reading, **options),
    ):
        with door.table(server, name, credential=AzureSasCredential(token)) as signed:
            if is_allowed:
                assert signed.get_entity(partition, "r") == entity("r", partition)
            else:
                with pytest.raises(HttpResponseError) as caught:
                    signed.get_entity(partition, "r")
                assert caught.value.status_code in (401, 403), caught.value


def test_a_signature_is_for_its_table(server, door, make_table):
    mine, other = make_table(), make_table()
    token = generate_table_sas(door.credential, mine.table_name, permission="r", expiry=_now() + SOON)
    with door.service(server, credential=AzureSasCredential(token)) as service:
        assert list(service.get_table_client(mine.table_name).list_entities()) == []
        with refused(403):
            list(service.get_table_client(other.table_name).list_entities())
    # The name of the table is signed in lower case.
    upper = generate_table_sas(door.credential, mine.table_name.upper(), permission="r", expiry=_now() + SOON)
    with door.table(server, mine.table_name, credential=AzureSasCredential(upper)) as same:
        assert list(same.list_entities()) == []


def test_a_signature_that_was_tampered_with(server, door, table):
    token = generate_table_sas(door.credential, table.table_name, permission="r", expiry=_now() + SOON)
    for forged in (token.replace("sp=r", "sp=raud"), token[:-8] + "AAAA%3D" if token.endswith("%3D") else token[:-1]):
        with (
            door.table(server, table.table_name, credential=AzureSasCredential(forged)) as signed,
            refused(403 if door.is_storage else 401),
        ):
            list(signed.list_entities())


def test_ranges_of_keys_in_signatures(server, door, table):
    for partition, row in itertools.product(("a", "b", "c"), ("1", "2", "3")):
        table.create_entity(entity(row, partition))
    token = generate_table_sas(
        door.credential,
        table.table_name,
        permission="raud",
        expiry=_now() + SOON,
        start_pk="a",
        start_rk="2",
        end_pk="b",
        end_rk="2",
    )
    inside = [("a", "2"), ("a", "3"), ("b", "1"), ("b", "2")]
    with door.table(server, table.table_name, credential=AzureSasCredential(token)) as signed:
        for partition, row in itertools.product(("a", "b", "c"), ("1", "2", "3")):
            if (partition, row) in inside:
                assert signed.get_entity(partition, row) == entity(row, partition)
                signed.upsert_entity(entity(row, partition, n=1))
            else:
                with refused(403):
                    signed.get_entity(partition, row)
                with refused(403):
                    signed.upsert_entity(entity(row, partition, n=1))
        listed = [(one["PartitionKey"], one["RowKey"]) for one in signed.list_entities()]
        assert sorted(listed) == inside
    changed = [(one["PartitionKey"], one["RowKey"]) for one in table.query_entities("n eq 1")]
    assert sorted(changed) == inside


class TestStoredPolicies:
    def test_what_is_set_is_what_is_read(self, table):
        assert table.get_table_access_policy() == {}
        start, expiry = datetime(2021, 6, 8, 2, 10, 9, tzinfo=UTC), datetime(2031, 6, 8, 2, 10, 9, tzinfo=UTC)
        given = {
            "whole": TableAccessPolicy(start=start, expiry=expiry, permission="raud"),
            "text": TableAccessPolicy(start="2021-06-08T02:10:09Z", expiry="2031-06-08T02:10:09Z", permission="r"),
            "permission only": TableAccessPolicy(permission="r"),
            "ünïcödé": TableAccessPolicy(expiry=expiry),
            "empty": None,
        }
        assert table.set_table_access_policy(given) is None
        read = table.get_table_access_policy()
        assert set(read) == set(given)
        for name in ("whole", "text"):
            assert (read[name].start, read[name].expiry) == (start, expiry)
        assert read["whole"].permission == "raud"
        assert read["permission only"].permission == "r"
        assert not read["permission only"].expiry
        assert read["ünïcödé"].expiry == expiry
        assert read["empty"] is None or not read["empty"].permission
        table.set_table_access_policy({})
        assert table.get_table_access_policy() == {}

    def test_five_are_the_most(self, table):
        table.set_table_access_policy({f"id{n}": TableAccessPolicy(permission="r") for n in range(5)})
        with pytest.raises(ValueError, match="Too many access policies"):
            table.set_table_access_policy({f"id{n}": None for n in range(6)})
        assert len(table.get_table_access_policy()) == 5

    def test_a_name_that_is_too_long(self, table):
        table.set_table_access_policy({"x" * 64: TableAccessPolicy(permission="r")})
        with refused(400):
            table.set_table_access_policy({"x" * 65: TableAccessPolicy(permission="r")})

    def test_they_go_with_their_table(self, table_service, table):
        table.set_table_access_policy({"id": TableAccessPolicy(permission="r")})
        table_service.delete_table(table.table_name)
        table_service.create_table(table.table_name)
        assert table.get_table_access_policy() == {}

    def test_a_signature_by_policy(self, server, door, table):
        table.create_entity(entity("r"))
        table.set_table_access_policy({"id": TableAccessPolicy(permission="r", expiry=_now() + SOON)})
        token = generate_table_sas(door.credential, table.table_name, policy_id="id")
        with door.table(server, table.table_name, credential=AzureSasCredential(token)) as signed:
            assert rows(signed.list_entities()) == ["r"]
            with refused(403):
                signed.upsert_entity(entity("s"))

            table.set_table_access_policy({"id": TableAccessPolicy(permission="rau", expiry=_now() + SOON)})
            signed.upsert_entity(entity("s"))
            assert rows(signed.list_entities()) == ["r", "s"]

            table.set_table_access_policy({"id": TableAccessPolicy(permission="r", expiry=_now() - SOON)})
            with refused(403 if door.is_storage else 401):
                list(signed.list_entities())

            table.set_table_access_policy({})
            with refused(403 if door.is_storage else 401):
                list(signed.list_entities())

    def test_policy_and_signature_share_the_fields(self, server, door, table):
        table.set_table_access_policy({"id": TableAccessPolicy(expiry=_now() + SOON)})
        token = generate_table_sas(door.credential, table.table_name, policy_id="id", permission="r")
        with door.table(server, table.table_name, credential=AzureSasCredential(token)) as signed:
            assert list(signed.list_entities()) == []
        both = generate_table_sas(
            door.credential, table.table_name, policy_id="id", permission="r", expiry=_now() + SOON
        )
        with door.table(server, table.table_name, credential=AzureSasCredential(both)) as signed:
            with pytest.raises(HttpResponseError) as caught:
                list(signed.list_entities())
            assert caught.value.status_code in (400, 401, 403)


def test_what_signatures_never_may(server, door, table):
    token = generate_table_sas(door.credential, table.table_name, permission="raud", expiry=_now() + SOON)
    with door.service(server, credential=AzureSasCredential(token)) as service:
        signed = service.get_table_client(table.table_name)
        for request in (
            lambda: list(service.list_tables()),
            lambda: service.create_table(fresh_table()),
            lambda: signed.delete_table(),
            lambda: signed.set_table_access_policy({}),
            lambda: signed.get_table_access_policy(),
        ):
            with pytest.raises(HttpResponseError) as caught:
                request()
            assert caught.value.status_code in (401, 403), caught.value
    assert list(table.list_entities()) == []


def test_codes_of_refusals(server):
    with (
        STORAGE.service(server, credential=AzureNamedKeyCredential(STORAGE_ACCOUNT, "bm90IHRoZSBrZXk=")) as service,
        refused(403, TableErrorCode.AUTHENTICATION_FAILED),
    ):
        list(service.list_tables())
    cosmos = DOORS[0]
    with (
        cosmos.service(server, credential=AzureNamedKeyCredential(COSMOS_ACCOUNT, "bm90IHRoZSBrZXk=")) as service,
        refused(401, "Unauthorized"),
    ):
        list(service.list_tables())
