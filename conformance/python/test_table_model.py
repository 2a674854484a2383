"""Random histories of a table against a dictionary: what succeeds, what fails and at which member, what is left."""

import random
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.data.tables import EntityProperty, TableTransactionError, UpdateMode

from tables import BOTH_FLAVOURS, entity, error_code

STEPS = 120
ROWS = [f"r{n}" for n in range(6)]
PARTITIONS = ["p", "it's q"]
NAMES = ["a", "b", "id", "ttl", "_ts"]
VALUES: list[Any] = [
    "x",
    "",
    7,
    -7,
    2.0,
    0.5,
    True,
    b"\x00",
    EntityProperty(7, "Edm.Int64"),
    EntityProperty(2**60, "Edm.Int64"),
]

pytestmark = pytest.mark.parametrize("door", BOTH_FLAVOURS, indirect=True, ids=[door.name for door in BOTH_FLAVOURS])


class Model:
    """What the table should hold: properties and etag of each entity."""

    def __init__(self):
        self.kept: dict[tuple[str, str], tuple[dict, str]] = {}

    def expect(self, operation: tuple) -> str | None:
        """Returns the code with which an operation fails, if it does."""
        kind, body, options = operation
        key = (body["PartitionKey"], body["RowKey"])
        if kind == "create":
            return "EntityAlreadyExists" if key in self.kept else None
        if kind == "upsert":
            return None
        if key not in self.kept:
            return "ResourceNotFound"
        if "etag" in options and options["etag"] != self.kept[key][1]:
            return "UpdateConditionNotSatisfied"
        return None

    def apply(self, operation: tuple, etag: str | None) -> None:
        """Does what the operation did."""
        kind, body, options = operation
        key = (body["PartitionKey"], body["RowKey"])
        if kind == "delete":
            del self.kept[key]
            return
        is_merge = kind != "create" and options["mode"] == UpdateMode.MERGE and key in self.kept
        before = self.kept[key][0] if is_merge else {}
        self.kept[key] = ({**before, **body}, etag)


def _operation(chance: random.Random, model: Model, partition: str, row: str) -> tuple:
    kind = chance.choice(["create", "update", "update", "upsert", "delete"])
    body = entity(row, partition, **{name: chance.choice(VALUES) for name in chance.sample(NAMES, 2)})
    options: dict[str, Any] = {}
    if kind in ("update", "upsert"):
        options["mode"] = chance.choice(list(UpdateMode))
    if kind in ("update", "delete") and chance.random() < 0.5:
        known = [etag for _, etag in model.kept.values()]
        mine = [model.kept[partition, row][1]] * 3 if (partition, row) in model.kept else []
        if known:
            options |= {"etag": chance.choice(known + mine * 4), "match_condition": MatchConditions.IfNotModified}
    return kind, body, options


def _single(table, operation: tuple) -> str | None:
    kind, body, options = operation
    if kind == "delete":
        table.delete_entity(body, **options)
        return None
    return getattr(table, f"{kind}_entity")(body, **options)["etag"]


def test_random_histories(door, table):
    chance = random.Random(door.name)
    model = Model()
    outcomes = {"done": 0, "failed": 0}
    for step in range(STEPS):
        partition = chance.choice(PARTITIONS)
        count = chance.choice([1, 1, 2, 3, 6])
        operations = [_operation(chance, model, partition, row) for row in chance.sample(ROWS, count)]
        expected = [model.expect(operation) for operation in operations]
        failing = next((index for index, code in enumerate(expected) if code), None)
        if count == 1 and chance.random() < 0.5:
            _check_single(table, model, operations[0], expected[0])
        elif failing is None:
            answers = table.submit_transaction(operations)
            for operation, answer in zip(operations, answers, strict=True):
                model.apply(operation, answer.get("etag"))
        else:
            with pytest.raises(TableTransactionError) as caught:
                table.submit_transaction(operations)
            assert (caught.value.index, error_code(caught.value)) == (failing, expected[failing]), (step, operations)
        outcomes["done" if failing is None else "failed"] += 1
    assert min(outcomes.values()) > STEPS / 10, outcomes
    left = {(one["PartitionKey"], one["RowKey"]): (dict(one), one.metadata["etag"]) for one in table.list_entities()}
    assert left == model.kept


def _check_single(table, model: Model, operation: tuple, expected: str | None) -> None:
    if expected is None:
        model.apply(operation, _single(table, operation))
    elif operation[0] == "delete" and expected == "ResourceNotFound":
        _single(table, operation)  # for the SDK that is a success
    else:
        with pytest.raises(HttpResponseError) as caught:
            _single(table, operation)
        assert error_code(caught.value) == expected, operation
