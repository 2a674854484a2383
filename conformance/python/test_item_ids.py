"""Ids of items: any characters a URL can be made to carry, through every verb."""

import pytest
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

import wire

IDS = [
    "a b",
    " leading space",
    "100%",
    "%20",
    "%2F",
    "a+b",
    "a&b=c",
    "it's",
    'say "hi"',
    "a@b:c;d,e",
    "(x)[y]{z}",
    "~!$*^|`<>",
    "é",
    "e\u0301",
    "日本語",
    "😀",
    "\u200b",
    "docs",
    "true",
    "0",
    "x" * 1023,
    "é" * 511,
]

# The service takes them; whether a client can address them is another matter.
PATH_IDS = ["a/b", "a\\b", "a#b", "a?b", "a/", "trailing space "]

BAD_IDS = {
    "1024 bytes": "x" * 1024,
    "1024 bytes of two each": "é" * 512,
    "number": 5,
    "null": None,
    "object": {},
    "boolean": True,
}


@pytest.mark.parametrize("item_id", IDS)
def test_id_survives_every_verb(container, item_id):
    body = {"id": item_id, "city": item_id[:50]}
    key = body["city"]
    assert container.create_item(body)["id"] == item_id
    assert container.read_item(item_id, key)["id"] == item_id
    assert container.replace_item(item_id, {**body, "n": 1})["n"] == 1
    assert container.upsert_item({**body, "n": 2})["n"] == 2
    assert container.patch_item(item_id, key, [{"op": "incr", "path": "/n", "value": 1}])["n"] == 3
    assert [item["id"] for item in container.read_all_items()] == [item_id]
    container.delete_item(item_id, key)
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item(item_id, key)


@pytest.mark.parametrize("item_id", PATH_IDS)
def test_ids_that_paths_cannot_carry_are_taken(server, database, container, item_id):
    # This SDK refuses them by itself.
    answer = wire.send(
        server,
        "POST",
        f"/dbs/{database.id}/colls/{container.id}/docs",
        {"id": item_id, "city": "Oslo"},
        {"x-ms-documentdb-partitionkey": '["Oslo"]'},
    )
    assert answer.status == 201, answer
    found = list(container.query_items("SELECT VALUE c.id FROM c", partition_key="Oslo"))
    assert found == [item_id]


def test_a_replace_changes_the_id(container):
    created = container.create_item({"id": "1", "city": "Oslo", "n": 1})
    container.create_item({"id": "2", "city": "Oslo"})
    with pytest.raises(CosmosResourceExistsError):
        container.replace_item("1", {"id": "2", "city": "Oslo"})
    replaced = container.replace_item("1", {**created, "id": "3", "n": 2})
    assert (replaced["id"], replaced["n"]) == ("3", 2)
    assert sorted(item["id"] for item in container.read_all_items()) == ["2", "3"]
    batch = [("replace", ("3", {"id": "1", "city": "Oslo"})), ("delete", ("2",))]
    container.execute_item_batch(batch, "Oslo")
    assert [item["id"] for item in container.read_all_items()] == ["1"]


def test_ids_that_look_alike_are_different(container):
    alike = ["a b", "a+b", "a%20b", "A B", "é", "e\u0301"]
    for number, item_id in enumerate(alike):
        container.create_item({"id": item_id, "city": "Oslo", "n": number})
    assert [container.read_item(item_id, "Oslo")["n"] for item_id in alike] == list(range(len(alike)))


@pytest.mark.parametrize("item_id", BAD_IDS.values(), ids=BAD_IDS.keys())
def test_ids_the_server_refuses(server, database, container, item_id):
    answer = wire.send(
        server,
        "POST",
        f"/dbs/{database.id}/colls/{container.id}/docs",
        {"id": item_id, "city": "Oslo"},
        {"x-ms-documentdb-partitionkey": '["Oslo"]'},
    )
    assert answer.status == 400
    assert answer.body["code"] == "BadRequest"
    assert list(container.read_all_items()) == []
