"""The Table API's account: its tables, their names, and the settings of the service."""

from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.data.tables import (
    TableAnalyticsLogging,
    TableCorsRule,
    TableErrorCode,
    TableItem,
    TableMetrics,
    TableRetentionPolicy,
)

from conftest import fresh_table
from tables import DOORS, ROOMY, STORAGE, entity, refused, rows

STORAGE_DOORS = [one for one in DOORS if one.is_storage]
COSMOS_DOORS = [one for one in DOORS if not one.is_storage]


def names(tables) -> list[str]:
    return [one.name for one in tables]


def test_a_table_is_made_listed_and_deleted(table_service):
    name = fresh_table()
    table = table_service.create_table(name)
    assert table.table_name == name
    assert name in names(table_service.list_tables())
    table_service.delete_table(name)
    assert name not in names(table_service.list_tables())
    with pytest.raises(ResourceNotFoundError):
        table.get_entity("p", "r")


def test_a_table_client_makes_and_deletes_its_own_table(server, door):
    with door.table(server, fresh_table()) as table:
        made = table.create_table()
        assert isinstance(made, TableItem)
        assert made.name == table.table_name
        with refused(409, TableErrorCode.TABLE_ALREADY_EXISTS, ResourceExistsError):
            table.create_table()
        table.create_entity(entity("r"))
        assert table.delete_table() is None
        assert table.delete_table() is None, "the SDK takes a table that is not there for deleted"


def test_a_table_that_exists(table_service, make_table):
    table = make_table()
    table.create_entity(entity("r"))
    with refused(409, TableErrorCode.TABLE_ALREADY_EXISTS, ResourceExistsError):
        table_service.create_table(table.table_name)
    same = table_service.create_table_if_not_exists(table.table_name)
    assert rows(same.list_entities()) == ["r"], "nothing was made anew"
    new = fresh_table()
    assert table_service.create_table_if_not_exists(new).table_name == new
    assert new in names(table_service.list_tables())
    table_service.delete_table(new)
    table_service.delete_table(new)


def test_a_table_made_again_is_empty(table_service, make_table):
    table = make_table()
    table.create_entity(entity("r"))
    table_service.delete_table(table.table_name)
    table_service.create_table(table.table_name)
    assert list(table.list_entities()) == []


def test_a_table_client_of_the_service_sees_the_same_table(table_service, table):
    table.create_entity(entity("r", n=1))
    other = table_service.get_table_client(table.table_name)
    assert other.account_name == table_service.account_name
    assert other.url == table_service.url
    assert other.get_entity("p", "r")["n"] == 1


def test_pages_of_tables(table_service, make_table):
    prefix = fresh_table()
    expected = sorted(make_table(f"{prefix}x{n}").table_name for n in range(5))
    chosen = f"TableName ge '{prefix}x' and TableName lt '{prefix}y'"
    assert sorted(names(table_service.query_tables(chosen))) == expected

    pages = table_service.query_tables(chosen, results_per_page=2).by_page()
    sizes, found, tokens = [], [], []
    for page in pages:
        page = names(page)
        sizes.append(len(page))
        found += page
        tokens.append(pages.continuation_token)
    assert sorted(found) == expected
    assert len(found) == len(set(found))
    assert max(sizes) == 2
    assert tokens[-1] is None
    rest = table_service.query_tables(chosen, results_per_page=2).by_page(tokens[0])
    assert found[:2] + [name for page in rest for name in names(page)] == found

    everything = [name for page in table_service.list_tables(results_per_page=3).by_page() for name in names(page)]
    assert sorted(everything) == sorted(names(table_service.list_tables()))
    assert set(expected) <= set(everything)


@pytest.mark.parametrize(
    ("query_filter", "parameters", "expected"),
    [
        ("TableName eq '{0}a'", None, ["a"]),
        ("TableName ne '{0}a' and TableName ge '{0}' and TableName lt '{0}z'", None, ["b", "c"]),
        ("TableName gt '{0}a' and TableName le '{0}c'", None, ["b", "c"]),
        ("TableName eq '{0}a' or TableName eq '{0}c'", None, ["a", "c"]),
        ("not (TableName lt '{0}b') and TableName lt '{0}z'", None, ["b", "c"]),
        ("TableName eq @name", {"name": "{0}b"}, ["b"]),
        ("TableName eq @name", {"name": "it's not there"}, []),
    ],
)
def test_queries_of_tables(table_service, make_table, query_filter, parameters, expected):
    prefix = fresh_table()
    for letter in "abc":
        make_table(prefix + letter)
    parameters = parameters and {name: value.format(prefix) for name, value in parameters.items()}
    found = names(table_service.query_tables(query_filter.format(prefix), parameters=parameters))
    assert sorted(found) == [prefix + letter for letter in expected]


def test_a_filter_of_tables_that_cannot_be_read(table_service):
    with refused(400, TableErrorCode.INVALID_INPUT):
        list(table_service.query_tables("TableName eq eq 'x'"))


@pytest.mark.parametrize("door", COSMOS_DOORS, indirect=True, ids=[one.name for one in COSMOS_DOORS])
class TestNamesOfCosmos:
    @pytest.mark.parametrize("name", ["a", "with space", "under_score", "1digit", "Straße-тест-表", "x" * 254])
    def test_allowed(self, table_service, make_table, name):
        table = make_table(name)
        table.create_entity(entity("r", n=1))
        assert name in names(table_service.list_tables())
        assert table.get_entity("p", "r")["n"] == 1

    @pytest.mark.parametrize("name", ["a/b", "\\", "//", "a#b", "?", "ends with space ", "x" * 255])
    def test_refused(self, table_service, name):
        with pytest.raises(ValueError, match="Cosmos table names must contain from 1-255 characters"):
            table_service.create_table(name)

    @pytest.mark.parametrize("name", ["a/b", "\\", "//", "a#b", "?", "ends with space "])
    def test_refused_by_every_request(self, table_service, name):
        table = table_service.get_table_client(name)
        for request in (
            lambda: table.delete_table(),
            lambda: table.create_entity(entity("r")),
            lambda: table.upsert_entity(entity("r")),
            lambda: table.delete_entity("p", "r"),
            lambda: table.submit_transaction([("upsert", entity("r"))]),
        ):
            with pytest.raises(ValueError, match="Cosmos table names must contain from 1-255 characters"):
                request()

    def test_too_long_to_be_there(self, table_service):
        table = table_service.get_table_client("x" * 255)
        for request in (
            lambda: table.create_entity(entity("r")),
            lambda: table.upsert_entity(entity("r")),
            lambda: table.submit_transaction([("upsert", entity("r"))]),
        ):
            with refused(404, TableErrorCode.RESOURCE_NOT_FOUND):
                request()

    def test_case_matters(self, make_table):
        name = fresh_table()
        lower, upper = make_table(name), make_table(name.upper())
        lower.create_entity(entity("lower"))
        upper.create_entity(entity("upper"))
        assert rows(lower.list_entities()) == ["lower"]
        assert rows(upper.list_entities()) == ["upper"]


@pytest.mark.parametrize("door", STORAGE_DOORS, indirect=True, ids=[one.name for one in STORAGE_DOORS])
class TestNamesOfStorage:
    @pytest.mark.parametrize("name", ["abc", "Mixed123", "x" * 63])
    def test_allowed(self, table_service, make_table, name):
        make_table(name)
        assert name in names(table_service.list_tables())

    @pytest.mark.parametrize("name", ["ab", "1abc", "under_score", "a-b-c", "x" * 64, "größe"])
    def test_refused(self, table_service, name):
        with pytest.raises(ValueError, match="Storage table names must be alphanumeric"):
            table_service.create_table(name)

    def test_case_does_not_matter(self, table_service, make_table):
        name = fresh_table()
        table = make_table(name)
        with refused(409, TableErrorCode.TABLE_ALREADY_EXISTS, ResourceExistsError):
            table_service.create_table(name.upper())
        table.create_entity(entity("r"))
        assert rows(table_service.get_table_client(name.upper()).list_entities()) == ["r"]
        assert name in names(table_service.list_tables()), "listed as it was made"


def test_both_flavours_show_the_same_tables(server, table_service, make_table):
    name = make_table().table_name
    for other in DOORS:
        with other.service(server) as client:
            assert name in names(client.list_tables()), other.name


LOGGING = TableAnalyticsLogging(
    read=True, write=False, delete=True, retention_policy=TableRetentionPolicy(enabled=True, days=5)
)
METRICS = TableMetrics(enabled=True, include_apis=True, retention_policy=TableRetentionPolicy(enabled=True, days=365))
CORS = [
    TableCorsRule(["www.xyz.example"], ["GET"]),
    TableCorsRule(
        ["www.abc.example", "www.def.example"],
        ["GET", "PUT"],
        max_age_in_seconds=500,
        exposed_headers=["x-ms-meta-data*", "x-ms-meta-source*"],
        allowed_headers=["x-ms-meta-data*"],
    ),
]


def _plain(value):
    """Returns the SDK's models of service properties as what can be compared."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if hasattr(value, "__dict__"):
        return {name: _plain(one) for name, one in vars(value).items() if name != "additional_properties"}
    return value


@pytest.mark.parametrize("door", STORAGE_DOORS, indirect=True, ids=[one.name for one in STORAGE_DOORS])
class TestServicePropertiesOfStorage:
    @pytest.fixture(autouse=True)
    def _as_they_were(self, table_service):
        yield
        table_service.set_service_properties(
            analytics_logging=TableAnalyticsLogging(),
            hour_metrics=TableMetrics(),
            minute_metrics=TableMetrics(),
            cors=[],
        )

    def test_what_is_set_is_what_is_read(self, table_service):
        given = {"analytics_logging": LOGGING, "hour_metrics": METRICS, "minute_metrics": METRICS, "cors": CORS}
        assert table_service.set_service_properties(**given) is None
        read = table_service.get_service_properties()
        assert {name: _plain(value) for name, value in read.items()} == {
            name: _plain(value) for name, value in given.items()
        }

    @pytest.mark.parametrize(
        ("name", "value"), [("analytics_logging", LOGGING), ("hour_metrics", METRICS), ("cors", CORS)]
    )
    def test_what_is_not_named_stays(self, table_service, name, value):
        before = table_service.get_service_properties()
        table_service.set_service_properties(**{name: value})
        after = table_service.get_service_properties()
        assert _plain(after[name]) == _plain(value)
        assert {one: _plain(after[one]) for one in after if one != name} == {
            one: _plain(before[one]) for one in before if one != name
        }

    def test_too_much(self, table_service):
        with refused(400, TableErrorCode.INVALID_XML_DOCUMENT):
            table_service.set_service_properties(cors=[TableCorsRule(["a.example"], ["GET"])] * 6)
        too_long = TableMetrics(
            enabled=True, include_apis=True, retention_policy=TableRetentionPolicy(enabled=True, days=366)
        )
        with refused(400, TableErrorCode.INVALID_XML_DOCUMENT):
            table_service.set_service_properties(minute_metrics=too_long)


@pytest.mark.parametrize("door", COSMOS_DOORS, indirect=True, ids=[one.name for one in COSMOS_DOORS])
def test_cosmos_has_no_service_properties(table_service):
    with refused(501, TableErrorCode.NOT_IMPLEMENTED):
        table_service.get_service_properties()
    with refused(501, TableErrorCode.NOT_IMPLEMENTED):
        table_service.set_service_properties(cors=CORS)


def test_service_stats(server, door):
    # The SDK asks the secondary endpoint; without a name for it, it would ask a host of the cloud's.
    host = door.endpoint(server).split("//")[1].split("/")[0]
    with door.service(server, secondary_hostname=host) as service:
        if not door.is_storage:
            with refused(501, TableErrorCode.NOT_IMPLEMENTED):
                service.get_service_stats()
            return
        stats = service.get_service_stats()
    assert stats["geo_replication"]["status"] == "live"
    assert abs(datetime.now(UTC) - stats["geo_replication"]["last_sync_time"]) < timedelta(minutes=5)


def test_reads_go_to_the_secondary_too(server):
    with STORAGE.service(server) as service:
        name = service.create_table(fresh_table(), headers=ROOMY).table_name
        service.get_table_client(name).create_entity(entity("r"))
    secondary = STORAGE.endpoint(server) + "-secondary"
    make = lambda sdk, **options: sdk.TableClient(secondary, name, **options)  # noqa: E731
    with STORAGE.connect(server, make, credential=STORAGE.credential) as table:
        assert rows(table.list_entities()) == ["r"]
        with refused(403):
            table.upsert_entity(entity("r", n=1))
    with STORAGE.service(server) as service:
        service.delete_table(name)


def test_account_urls_that_end_with_a_table(server, door, table):
    url = f"{door.endpoint(server)}/{table.table_name}"
    make = lambda sdk, **options: sdk.TableServiceClient(url, credential=door.credential, **options)  # noqa: E731
    with door.connect(server, make) as service:
        requests = [lambda: service.create_table("never")]
        if door.is_storage:
            requests += [lambda: service.get_service_properties(), lambda: service.set_service_properties(cors=[])]
        for request in requests:
            with pytest.raises(HttpResponseError, match="Please check your account URL"):
                request()


@pytest.mark.parametrize("api_version", ["2019-02-02", "2019-07-07", "2020-12-06"])
def test_every_version_the_sdk_sends(server, door, api_version):
    with door.service(server, api_version=api_version) as service:
        assert service.api_version == api_version
        table = service.create_table(fresh_table())
        made = table.create_entity(entity("r"))
        assert made["version"] == (api_version if door.is_storage else None)
        table.delete_table()
