"""Change sets of the Table API: all operations in one transaction, and nothing of one that fails."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.core import MatchConditions
from azure.data.tables import (
    RequestTooLargeError,
    TableErrorCode,
    TableTransactionError,
    TransactionOperation,
    UpdateMode,
)

from tables import BOTH_FLAVOURS, DOORS, entity, error_code, refused, rows

ASYNC_DOORS = [door for door in DOORS if door.is_async]
WRITERS = 4
TRANSFERS = 5


def _content(table) -> dict:
    return {one["RowKey"]: dict(one) for one in table.list_entities()}


def _filled(table) -> dict[str, str]:
    made = table.submit_transaction([("create", entity(row, n=0, kept=True)) for row in "abcdef"])
    return {row: answer["etag"] for row, answer in zip("abcdef", made, strict=True)}


def test_every_kind_of_operation(table):
    etags = _filled(table)
    answers = table.submit_transaction(
        [
            ("create", entity("new", n=1)),
            ("update", entity("a", n=1)),
            ("update", entity("b", n=1), {"mode": "replace"}),
            (TransactionOperation.UPSERT, entity("c", n=1)),
            (TransactionOperation.UPSERT, entity("d", n=1), {"mode": UpdateMode.REPLACE}),
            (TransactionOperation.UPSERT, entity("upserted", n=1)),
            (TransactionOperation.UPSERT, entity("replaced", n=1), {"mode": UpdateMode.REPLACE}),
            (TransactionOperation.DELETE, entity("e")),
            (
                TransactionOperation.UPDATE,
                entity("f", n=1),
                {"etag": etags["f"], "match_condition": MatchConditions.IfNotModified},
            ),
        ]
    )
    assert len(answers) == 9
    merged, replaced = {"n": 1, "kept": True}, {"n": 1}
    content = _content(table)
    assert content == {
        row: entity(row, **properties)
        for row, properties in {
            "new": replaced,
            "a": merged,
            "b": replaced,
            "c": merged,
            "d": replaced,
            "upserted": replaced,
            "replaced": replaced,
            "f": merged,
        }.items()
    }
    written = ["new", "a", "b", "c", "d", "upserted", "replaced", None, "f"]
    for row, answer in zip(written, answers, strict=True):
        if row is not None:
            assert answer["etag"] == table.get_entity("p", row).metadata["etag"], row


def test_conditions_and_deletes_by_what_was_read(table):
    _filled(table)
    seen = table.get_entity("p", "a")
    table.submit_transaction([("delete", seen, {"match_condition": MatchConditions.IfNotModified})])
    assert "a" not in _content(table)


def test_operations_from_an_iterator(table):
    assert len(table.submit_transaction(("create", entity(f"r{n}")) for n in range(5))) == 5
    assert len(_content(table)) == 5


@pytest.mark.parametrize("door", ASYNC_DOORS, indirect=True, ids=[door.name for door in ASYNC_DOORS])
def test_operations_from_an_asynchronous_iterator(table):
    async def operations():
        for n in range(5):
            yield ("create", entity(f"r{n}"))

    assert len(table.submit_transaction(operations())) == 5
    assert len(_content(table)) == 5


def test_no_operations_at_all(table):
    assert table.submit_transaction([]) == []


def test_a_hundred_operations(table):
    answers = table.submit_transaction([("upsert", entity(f"r{n:03}", n=n)) for n in range(100)])
    assert len(answers) == len({answer["etag"] for answer in answers}) == 100
    assert len(_content(table)) == 100
    with pytest.raises(TableTransactionError) as caught:
        table.submit_transaction([("upsert", entity(f"s{n:03}", n=n)) for n in range(101)])
    assert caught.value.status_code == 400
    assert error_code(caught.value) == TableErrorCode.INVALID_INPUT
    assert len(_content(table)) == 100


STALE = "W/\"datetime'2020-01-01T00%3A00%3A00.0000000Z'\""
# What fails, its status and its code.
FAILURES: dict[str, tuple[Callable[[], tuple], int, str]] = {
    "create of what exists": (lambda: ("create", entity("a", n=9)), 409, "EntityAlreadyExists"),
    "merge of what is not there": (lambda: ("update", entity("nobody", n=9)), 404, "ResourceNotFound"),
    "replace of what is not there": (
        lambda: ("update", entity("nobody", n=9), {"mode": UpdateMode.REPLACE}),
        404,
        "ResourceNotFound",
    ),
    "delete of what is not there": (lambda: ("delete", entity("nobody")), 404, "ResourceNotFound"),
    "merge of another version": (
        lambda: ("update", entity("a", n=9), {"etag": STALE, "match_condition": MatchConditions.IfNotModified}),
        412,
        "UpdateConditionNotSatisfied",
    ),
    "replace of another version": (
        lambda: (
            "update",
            entity("a", n=9),
            {"etag": STALE, "match_condition": MatchConditions.IfNotModified, "mode": UpdateMode.REPLACE},
        ),
        412,
        "UpdateConditionNotSatisfied",
    ),
    "delete of another version": (
        lambda: ("delete", entity("a"), {"etag": STALE, "match_condition": MatchConditions.IfNotModified}),
        412,
        "UpdateConditionNotSatisfied",
    ),
    "the same row twice": (lambda: ("upsert", entity("first", n=9)), 400, "InvalidDuplicateRow"),
    "a key that is none": (lambda: ("create", entity("x/y")), 400, ""),
}


@pytest.mark.parametrize("failure", list(FAILURES))
def test_a_failing_member_leaves_nothing_behind(table, failure):
    operation, status, code = FAILURES[failure]
    _filled(table)
    before = _content(table)
    for position in (0, 1, 4):
        if failure == "the same row twice" and position == 0:
            continue
        operations = [
            ("create", entity("first", n=1)),
            ("update", entity("b", n=1)),
            ("delete", entity("c")),
            ("upsert", entity("d", n=1), {"mode": UpdateMode.REPLACE}),
        ]
        operations.insert(position, operation())
        with pytest.raises(TableTransactionError) as caught:
            table.submit_transaction(operations)
        error = caught.value
        assert error.status_code == status, error
        assert not code or error_code(error) == code
        assert error.index == position
        assert error.message.startswith(f"{position}:")
        assert _content(table) == before

    # The connection and the table go on.
    table.submit_transaction([("create", entity("first", n=1))])
    assert "first" in _content(table)


def test_partitions_are_not_mixed_by_the_sdk(table):
    with pytest.raises(ValueError, match="must all be the same"):
        table.submit_transaction([("create", entity("a", "p1")), ("create", entity("a", "p2"))])
    assert _content(table) == {}


def test_operations_the_sdk_does_not_know(table):
    with pytest.raises(ValueError, match="Unrecognized operation"):
        table.submit_transaction([("replace", entity("a"))])


def test_a_transaction_that_is_too_large(table):
    # Sixteen members below the limit of one, above that of all together.
    members = [entity(f"r{n}", **{f"x{m}": "x" * 30_000 for m in range(10)}) for n in range(16)]
    with pytest.raises(RequestTooLargeError) as caught:
        table.submit_transaction([("create", one) for one in members])
    assert caught.value.status_code == 413
    assert _content(table) == {}
    table.submit_transaction([("create", one) for one in members[:6]])
    assert sorted(_content(table)) == sorted(rows(members[:6]))


def test_etags_grow_from_one_transaction_to_the_next(table):
    etags = []
    for n in range(10):
        answers = table.submit_transaction([("upsert", entity(row, n=n)) for row in "ab"])
        etags.append([answer["etag"] for answer in answers])
    for row in range(2):
        assert [pair[row] for pair in etags] == sorted({pair[row] for pair in etags})


@pytest.mark.parametrize("door", BOTH_FLAVOURS, indirect=True, ids=[door.name for door in BOTH_FLAVOURS])
def test_transfers_of_many_writers_lose_nothing(server, door, table):
    table.submit_transaction([("create", entity(row, n=100)) for row in "ab"])

    def transfer(_: int) -> None:
        done = 0
        with door.table(server, table.table_name) as own:
            while done < TRANSFERS:
                giving, taking = own.get_entity("p", "a"), own.get_entity("p", "b")
                operations = [
                    (
                        "update",
                        entity(one["RowKey"], n=one["n"] + change),
                        {"etag": one.metadata["etag"], "match_condition": MatchConditions.IfNotModified},
                    )
                    for one, change in ((giving, -1), (taking, 1))
                ]
                try:
                    own.submit_transaction(operations)
                    done += 1
                except TableTransactionError as error:
                    if error.status_code != 412:
                        raise

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(transfer, range(WRITERS)))
    moved = WRITERS * TRANSFERS
    assert _content(table) == {"a": entity("a", n=100 - moved), "b": entity("b", n=100 + moved)}


def test_a_table_that_is_not_there(door, table_service):
    nowhere = table_service.get_table_client("nowhere")
    code = TableErrorCode.TABLE_NOT_FOUND if door.is_storage else TableErrorCode.RESOURCE_NOT_FOUND
    with refused(404, code, TableTransactionError) as caught:
        nowhere.submit_transaction([("create", entity("a"))])
    assert caught.value.index == 0
