"""Unique keys: one value per logical partition, through every kind of write."""

import pytest
from azure.cosmos.exceptions import CosmosResourceExistsError


@pytest.fixture
def people(make_container):
    return make_container(unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})


def _person(number, email=None, city="Oslo"):
    return {"id": str(number), "city": city, **({} if email is None else {"email": email})}


def test_second_value_conflicts_by_every_write(people):
    people.create_item(_person(1, "a@x"))
    people.create_item(_person(2, "b@x"))
    for write in (
        lambda: people.create_item(_person(3, "a@x")),
        lambda: people.upsert_item(_person(3, "a@x")),
        lambda: people.upsert_item(_person(2, "a@x")),
        lambda: people.replace_item("2", _person(2, "a@x")),
        lambda: people.patch_item("2", "Oslo", [{"op": "set", "path": "/email", "value": "a@x"}]),
    ):
        with pytest.raises(CosmosResourceExistsError, match=r"[Uu]nique"):
            write()
    assert {item["id"]: item["email"] for item in people.read_all_items()} == {"1": "a@x", "2": "b@x"}


def test_value_may_repeat_in_another_logical_partition(people):
    people.create_item(_person(1, "a@x"))
    assert people.create_item(_person(1, "a@x", city="Bergen"))["email"] == "a@x"


def test_item_keeps_its_own_value(people):
    people.create_item(_person(1, "a@x"))
    assert people.replace_item("1", {**_person(1, "a@x"), "n": 1})["n"] == 1
    assert people.upsert_item({**_person(1, "a@x"), "n": 2})["n"] == 2


def test_value_is_free_again(people):
    people.create_item(_person(1, "a@x"))
    people.replace_item("1", _person(1, "b@x"))
    assert people.create_item(_person(2, "a@x"))["id"] == "2"
    people.delete_item("1", "Oslo")
    assert people.create_item(_person(3, "b@x"))["id"] == "3"


def test_missing_value_counts_as_null(people):
    people.create_item(_person(1))
    with pytest.raises(CosmosResourceExistsError):
        people.create_item(_person(2))
    with pytest.raises(CosmosResourceExistsError):
        people.create_item({**_person(3), "email": None})


def test_case_and_type_tell_values_apart(people):
    for number, email in enumerate(["a@x", "A@x", 1, "1", True]):
        people.create_item(_person(number, email))
    assert len(list(people.read_all_items())) == 5


def test_several_paths_are_one_key(make_container):
    people = make_container(unique_key_policy={"uniqueKeys": [{"paths": ["/first", "/last"]}, {"paths": ["/phone"]}]})
    people.create_item({"id": "1", "city": "Oslo", "first": "Ada", "last": "Byron", "phone": 1})
    people.create_item({"id": "2", "city": "Oslo", "first": "Ada", "last": "King", "phone": 2})
    with pytest.raises(CosmosResourceExistsError):
        people.create_item({"id": "3", "city": "Oslo", "first": "Ada", "last": "Byron", "phone": 3})
    with pytest.raises(CosmosResourceExistsError):
        people.create_item({"id": "3", "city": "Oslo", "first": "Eve", "last": "Byron", "phone": 2})
    assert people.create_item({"id": "3", "city": "Oslo", "first": "Eve", "last": "Byron", "phone": 3})["id"] == "3"
