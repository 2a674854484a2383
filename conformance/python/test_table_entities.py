"""Single entities of the Table API: every verb in both modes, conditions, metadata, keys of every kind."""

import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import TableEntity, TableErrorCode, UpdateMode

from tables import FULL_METADATA, NO_METADATA, STORAGE, entity, refused, rows

ETAG = re.compile(r"""^W/"datetime'\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d\.\d{7}Z'"$""")


def test_an_entity_is_created_read_and_deleted(table):
    made = table.create_entity(entity("r", name="Ann", age=39))
    assert ETAG.match(made["etag"])
    assert isinstance(made["date"], datetime)
    read = table.get_entity("p", "r")
    assert isinstance(read, TableEntity)
    assert read == entity("r", name="Ann", age=39)
    assert read.metadata["etag"] == made["etag"]
    assert abs(datetime.now(UTC) - read.metadata["timestamp"]) < timedelta(minutes=5)
    assert table.delete_entity("p", "r") is None
    with refused(404, TableErrorCode.RESOURCE_NOT_FOUND, ResourceNotFoundError):
        table.get_entity("p", "r")


def test_an_entity_that_exists_is_not_created_again(table):
    table.create_entity(entity("r", n=1))
    with refused(409, TableErrorCode.ENTITY_ALREADY_EXISTS, ResourceExistsError):
        table.create_entity(entity("r", n=2))
    assert table.get_entity("p", "r")["n"] == 1
    table.create_entity(entity("r", "other partition"))


@pytest.mark.parametrize(("preference", "status"), [("return-content", 201), ("return-no-content", 204)])
def test_the_answer_to_a_create(table, preference, status):
    seen = []
    made = table.create_entity(
        entity("r", n=1), response_preference=preference, raw_response_hook=lambda answer: seen.append(answer)
    )
    assert seen[0].http_response.status_code == status
    assert made["preference_applied"] == preference
    if status == 201:
        assert made["content"]["n"] == 1
        assert made["content"]["odata.etag"] == made["etag"]
    else:
        assert not made["content"]
    location = seen[0].http_response.headers["Location"]
    assert location.endswith(f"/{table.table_name}(PartitionKey='p',RowKey='r')")


@pytest.mark.parametrize(
    ("verb", "mode", "expected"),
    [
        ("update_entity", UpdateMode.MERGE, {"a": 1, "b": "two", "c": 3}),
        ("update_entity", UpdateMode.REPLACE, {"b": "two", "c": 3}),
        ("upsert_entity", UpdateMode.MERGE, {"a": 1, "b": "two", "c": 3}),
        ("upsert_entity", UpdateMode.REPLACE, {"b": "two", "c": 3}),
    ],
)
def test_writing_over_an_entity(table, verb, mode, expected):
    made = table.create_entity(entity("r", a=1, b=2))
    written = getattr(table, verb)(entity("r", b="two", c=3), mode=mode)
    assert ETAG.match(written["etag"])
    assert written["etag"] > made["etag"]
    read = table.get_entity("p", "r")
    assert read == entity("r", **expected)
    assert read.metadata["etag"] == written["etag"]


@pytest.mark.parametrize("mode", list(UpdateMode))
def test_writing_an_entity_that_is_not_there(table, mode):
    with refused(404, TableErrorCode.RESOURCE_NOT_FOUND, ResourceNotFoundError):
        table.update_entity(entity("r", n=1), mode=mode)
    assert list(table.list_entities()) == []
    written = table.upsert_entity(entity("r", n=1), mode=mode)
    read = table.get_entity("p", "r")
    assert read == entity("r", n=1)
    assert read.metadata["etag"] == written["etag"]


def test_a_merge_changes_types_and_keeps_what_it_does_not_name(table):
    table.create_entity(entity("r", a=1, b="text", c=2.5, d=True))
    table.update_entity(entity("r", a="one", b=None, c=7))
    assert table.get_entity("p", "r") == entity("r", a="one", b="text", c=7, d=True)


def test_deleting_in_every_way(table):
    for row in "abcd":
        table.create_entity(entity(row))
    table.delete_entity("p", "a")
    table.delete_entity(partition_key="p", row_key="b")
    table.delete_entity(entity("c"))
    table.delete_entity(table.get_entity("p", "d"))
    assert list(table.list_entities()) == []
    assert table.delete_entity("p", "a") is None, "the SDK takes an entity that is not there for deleted"


@pytest.mark.parametrize("mode", list(UpdateMode))
def test_conditional_updates(table, mode):
    first = table.create_entity(entity("r", n=1))
    seen = table.get_entity("p", "r")
    second = table.update_entity(
        entity("r", n=2), mode=mode, etag=first["etag"], match_condition=MatchConditions.IfNotModified
    )
    assert second["etag"] != first["etag"]
    with refused(412, TableErrorCode.UPDATE_CONDITION_NOT_SATISFIED, ResourceModifiedError):
        table.update_entity(
            entity("r", n=3), mode=mode, etag=first["etag"], match_condition=MatchConditions.IfNotModified
        )
    with refused(412, TableErrorCode.UPDATE_CONDITION_NOT_SATISFIED, ResourceModifiedError):
        table.update_entity(seen, mode=mode, match_condition=MatchConditions.IfNotModified)
    assert table.get_entity("p", "r")["n"] == 2
    table.update_entity(table.get_entity("p", "r"), mode=mode, match_condition=MatchConditions.IfNotModified)
    table.update_entity(entity("r", n=4), mode=mode, match_condition=MatchConditions.Unconditionally)
    assert table.get_entity("p", "r")["n"] == 4
    with refused(404, TableErrorCode.RESOURCE_NOT_FOUND, ResourceNotFoundError):
        table.update_entity(
            entity("gone"), mode=mode, etag=first["etag"], match_condition=MatchConditions.IfNotModified
        )


def test_conditional_deletes(table):
    first = table.create_entity(entity("r", n=1))
    second = table.update_entity(entity("r", n=2))
    with refused(412, TableErrorCode.UPDATE_CONDITION_NOT_SATISFIED, ResourceModifiedError):
        table.delete_entity("p", "r", etag=first["etag"], match_condition=MatchConditions.IfNotModified)
    table.delete_entity("p", "r", etag=second["etag"], match_condition=MatchConditions.IfNotModified)
    assert list(table.list_entities()) == []


def test_an_etag_that_is_none(table):
    table.create_entity(entity("r"))
    with refused(400, TableErrorCode.INVALID_INPUT):
        table.update_entity(entity("r"), etag="no etag at all", match_condition=MatchConditions.IfNotModified)


def test_every_write_has_an_etag_of_its_own(table):
    etags = [table.upsert_entity(entity("r", n=n))["etag"] for n in range(25)]
    assert etags == sorted(set(etags))
    assert table.get_entity("p", "r").metadata["etag"] == etags[-1]


@pytest.mark.parametrize("mode", list(UpdateMode))
def test_of_many_conditional_writers_one_wins(server, door, table, mode):
    etag = table.create_entity(entity("r", n=-1))["etag"]

    def write(n: int) -> bool:
        with door.table(server, table.table_name) as own:
            try:
                own.update_entity(entity("r", n=n), mode=mode, etag=etag, match_condition=MatchConditions.IfNotModified)
            except ResourceModifiedError:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(write, range(8)))
    assert won.count(True) == 1
    assert table.get_entity("p", "r")["n"] == won.index(True)


def test_merges_of_many_writers_all_arrive(server, door, table):
    def write(n: int) -> None:
        with door.table(server, table.table_name) as own:
            for step in range(5):
                own.upsert_entity(entity("r", **{f"w{n}": step}))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert table.get_entity("p", "r") == entity("r", **{f"w{n}": 4 for n in range(8)})


@pytest.mark.parametrize("select", [["n", "text"], "n,text", "text, n"])
def test_selected_properties(table, select):
    table.create_entity(entity("r", n=1, text="x", other=2))
    assert table.get_entity("p", "r", select=select) == {"n": 1, "text": "x"}
    assert list(table.list_entities(select=select)) == [{"n": 1, "text": "x"}]
    assert list(table.query_entities("n eq 1", select=select)) == [{"n": 1, "text": "x"}]


def test_selected_keys_and_timestamp(table):
    made = table.create_entity(entity("r", n=1))
    read = table.get_entity("p", "r", select=["PartitionKey", "RowKey", "Timestamp"])
    assert read == entity("r")
    assert read.metadata["etag"] == made["etag"]
    assert read.metadata["timestamp"] is not None
    assert table.get_entity("p", "r", select=["n"]).metadata["timestamp"] is None
    assert table.get_entity("p", "r", select="*") == entity("r", n=1)


def test_full_metadata(door, table):
    table.create_entity(entity("it's", n=1))
    read = table.get_entity("p", "it's", headers=FULL_METADATA)
    listed = list(table.list_entities(headers=FULL_METADATA))
    edit_link = f"{table.table_name}(PartitionKey='p',RowKey='it''s')"
    for one in [read, *listed]:
        assert one == entity("it's", n=1)
        assert one.metadata["type"] == f"{door.account}.{table.table_name}"
        assert one.metadata["editLink"].replace("%27", "'") == edit_link
        assert one.metadata["id"].replace("%27", "'").endswith("/" + edit_link)
        assert ETAG.match(one.metadata["etag"])


def test_no_metadata(table):
    table.create_entity(entity("r", big=(2**40, "Edm.Int64"), when=datetime(2020, 1, 1, tzinfo=UTC)))
    read = table.get_entity("p", "r", headers=NO_METADATA)
    assert read["big"] == str(2**40)
    assert read["when"] == "2020-01-01T00:00:00.0000000Z"
    assert set(read.metadata) == {"etag", "timestamp"}


@pytest.mark.parametrize(
    "key",
    [
        "plain",
        "with space",
        "trailing ",
        " leading",
        "it's",
        "''",
        'say "hi"',
        "a,b=c;d:e@f&g+h",
        "%41%2F",
        "(1)",
        "100%",
        "Ünïcödé-表-🙂",
        "$x",
        "~`!*[]{}|<>^",
        "PartitionKey='x'",
        "k" * 255,
        ".",
        "..",
    ],
)
def test_keys_of_every_kind(common_table, key):
    table = common_table
    table.create_entity(entity(key, key, n=1))
    table.create_entity(entity("other", key, n=0))
    assert table.get_entity(key, key) == entity(key, key, n=1)
    table.update_entity(entity(key, key, n=2))
    table.upsert_entity(entity(key, key, m=3), mode=UpdateMode.MERGE)
    found = table.query_entities("PartitionKey eq @key and RowKey eq @key", parameters={"key": key})
    assert list(found) == [entity(key, key, n=2, m=3)]
    assert sorted(rows(table.query_entities("PartitionKey eq @key", parameters={"key": key}))) == sorted([key, "other"])
    table.submit_transaction([("upsert", entity(key, key, n=4), {"mode": UpdateMode.REPLACE})])
    assert table.get_entity(key, key) == entity(key, key, n=4)
    table.delete_entity(key, key)
    assert rows(table.query_entities("PartitionKey eq @key", parameters={"key": key})) == ["other"]


@pytest.mark.parametrize("character", ["/", "\\", "#", "?", "\t", "\n", "\x7f", "\x9f"])
def test_keys_that_are_refused(common_table, partition, character):
    with refused(400):
        common_table.create_entity(entity(f"a{character}b", partition))
    with refused(400):
        common_table.create_entity(entity("r", f"{partition}{character}b"))
    assert list(common_table.query_entities(f"PartitionKey ge '{partition}' and PartitionKey lt '{partition}~'")) == []


def test_empty_keys(door, table):
    if not door.is_storage:
        with refused(400, TableErrorCode.PROPERTIES_NEED_VALUE):
            table.create_entity(entity("", "p"))
        with refused(400, TableErrorCode.PROPERTIES_NEED_VALUE):
            table.create_entity(entity("r", ""))
        return
    for partition, row in [("", ""), ("", "r"), ("p", "")]:
        table.create_entity(entity(row, partition, n=1))
        table.update_entity(entity(row, partition, m=2))
        assert table.get_entity(partition, row) == entity(row, partition, n=1, m=2)
    assert len(list(table.list_entities())) == 3
    assert rows(table.query_entities("PartitionKey eq ''")) == ["", "r"]
    table.delete_entity("", "")
    assert len(list(table.list_entities())) == 2


@pytest.mark.parametrize("door", [STORAGE], indirect=True, ids=[STORAGE.name])
def test_keys_that_are_no_text(common_table):
    # The asynchronous client takes such keys for text and fails by itself.
    when, guid = datetime(2022, 4, 1, 9, 30, 45, tzinfo=UTC), uuid.uuid4()
    common_table.upsert_entity({"PartitionKey": when, "RowKey": guid, "n": 1})
    common_table.update_entity({"PartitionKey": when, "RowKey": guid, "m": 2})
    partition, row = "2022-04-01T09:30:45.000000Z", str(guid)
    assert common_table.get_entity(partition, row) == entity(row, partition, n=1, m=2)


def test_property_names_that_are_refused(door, common_table, partition):
    names = ["123", "with space", "a-b", "a.b"] if door.is_storage else ["123"]
    for name in names:
        for write in (common_table.create_entity, common_table.upsert_entity):
            with refused(400, TableErrorCode.PROPERTY_NAME_INVALID):
                write(entity("r", partition, **{name: 1}))
    assert list(common_table.query_entities(f"PartitionKey eq '{partition}'")) == []


@pytest.mark.parametrize("missing", ["PartitionKey", "RowKey"])
def test_missing_keys(table, missing):
    body = entity("r", n=1)
    del body[missing]
    with pytest.raises(ValueError, match=f"{missing} must be present in an entity"):
        table.create_entity(body)


@pytest.mark.parametrize(
    "name", ["id", "ID", "_rid", "_self", "_etag", "_ts", "_attachments", "ttl", "etag", "rid", "ResourceId"]
)
def test_property_names_that_items_use_for_themselves(common_table, partition, name):
    common_table.create_entity(entity("r", partition, **{name: "mine", "n": 1}))
    assert common_table.get_entity(partition, "r") == entity("r", partition, **{name: "mine", "n": 1})
    found = common_table.query_entities(f"PartitionKey eq '{partition}' and {name} eq 'mine'")
    assert rows(found) == ["r"]
    assert common_table.get_entity(partition, "r", select=[name]) == {name: "mine"}
    common_table.update_entity(entity("r", partition, **{name: 5}))
    assert common_table.get_entity(partition, "r") == entity("r", partition, **{name: 5, "n": 1})


def test_property_names(table):
    names = ["_", "camelCase", "Größe", "名前", "x" * 255, "n1_2", "value", "Value", "odata"]
    body = entity("r", **{name: number for number, name in enumerate(names)})
    table.create_entity(body)
    assert table.get_entity("p", "r") == body
    with refused(400, TableErrorCode.PROPERTY_NAME_TOO_LONG):
        table.create_entity(entity("s", **{"x" * 256: 1}))


def test_a_table_that_is_not_there(door, table_service):
    nowhere = table_service.get_table_client("nowhere")
    code = TableErrorCode.TABLE_NOT_FOUND if door.is_storage else TableErrorCode.RESOURCE_NOT_FOUND
    for request in (
        lambda: nowhere.get_entity("p", "r"),
        lambda: nowhere.create_entity(entity("r")),
        lambda: nowhere.update_entity(entity("r")),
        lambda: nowhere.upsert_entity(entity("r")),
        lambda: list(nowhere.list_entities()),
        lambda: list(nowhere.query_entities("n eq 1")),
        lambda: nowhere.get_table_access_policy(),
        lambda: nowhere.submit_transaction([("create", entity("r"))]),
    ):
        with refused(404, code):
            request()


class TestLimits:
    def test_a_large_value(self, door, table):
        text = "x" * 32 * 1024
        table.create_entity(entity("r", text=text, binary=b"x" * 64 * 1024))
        assert table.get_entity("p", "r")["text"] == text
        if door.is_storage:
            with refused(400, TableErrorCode.PROPERTY_VALUE_TOO_LARGE):
                table.create_entity(entity("s", text=text + "x"))
            with refused(400, TableErrorCode.PROPERTY_VALUE_TOO_LARGE):
                table.create_entity(entity("s", binary=b"x" * (64 * 1024 + 1)))
        else:
            table.create_entity(entity("s", text=text * 10))
            assert table.get_entity("p", "s")["text"] == text * 10

    def test_too_many_properties(self, door, table):
        table.create_entity(entity("r", **{f"n{n}": n for n in range(252)}))
        assert len(table.get_entity("p", "r")) == 254
        more = entity("s", **{f"n{n}": n for n in range(253)})
        if door.is_storage:
            with refused(400, TableErrorCode.TOO_MANY_PROPERTIES):
                table.create_entity(more)
        else:
            table.create_entity(more)
            assert table.get_entity("p", "s") == more

    def test_an_entity_that_is_too_large(self, table):
        with refused(400, TableErrorCode.ENTITY_TOO_LARGE):
            table.create_entity(entity("r", **{f"n{n}": "x" * 32_000 for n in range(90)}))
        assert list(table.list_entities()) == []
