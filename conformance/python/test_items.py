"""Items: create, read, replace, upsert, delete, and what comes back with them."""

import base64
import uuid

import pytest
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

import wire
from sdk import last_headers, refused, without_system_properties


def test_created_item_comes_back_whole(container):
    body = {"id": "1", "city": "Oslo", "people": 709_037}
    created = container.create_item(body)
    assert without_system_properties(created) == body
    assert set(created) - set(body) == {"_rid", "_self", "_etag", "_attachments", "_ts"}
    assert container.read_item("1", "Oslo") == created


def test_system_properties_have_their_forms(container):
    created = container.create_item({"id": "1", "city": "Oslo"})
    properties = container.read()
    rid = base64.b64decode(created["_rid"].replace("-", "/"))
    assert len(rid) == 16
    assert rid.startswith(base64.b64decode(properties["_rid"].replace("-", "/")))
    assert rid[15] >> 4 == 0, "the high nibble of the last byte says document"
    assert created["_self"] == f"{properties['_self']}docs/{created['_rid']}/"
    assert created["_attachments"] == "attachments/"
    assert created["_etag"] == created.get_response_headers()["etag"]
    assert isinstance(created["_ts"], int)


def test_rid_ordinals_grow_in_insertion_order(container):
    rids = [container.create_item({"id": str(n), "city": "Oslo"})["_rid"] for n in range(20)]
    ordinals = [int.from_bytes(base64.b64decode(rid.replace("-", "/"))[8:], "little") for rid in rids]
    assert ordinals == sorted(set(ordinals))


def test_user_values_of_system_properties_are_overwritten(container):
    fake = {"_rid": "mine", "_self": "mine", "_etag": "mine", "_ts": 1, "_attachments": "mine"}
    created = container.create_item({"id": "1", "city": "Oslo", **fake})
    assert all(created[name] != value for name, value in fake.items())
    assert container.read_item("1", "Oslo") == created


def test_item_is_addressed_by_its_self_link_too(container):
    created = container.create_item({"id": "1", "city": "Oslo"})
    assert container.read_item(created, "Oslo") == created
    container.delete_item(created, "Oslo")
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "Oslo")


def test_second_item_of_an_id_conflicts(container):
    container.create_item({"id": "1", "city": "Oslo"})
    with pytest.raises(CosmosResourceExistsError) as caught:
        container.create_item({"id": "1", "city": "Oslo", "n": 2})
    assert caught.value.status_code == 409
    assert "n" not in container.read_item("1", "Oslo")


def test_missing_item_is_not_found_by_any_verb(container):
    with pytest.raises(CosmosResourceNotFoundError) as caught:
        container.read_item("no", "Oslo")
    assert (caught.value.sub_status or 0) == 0
    with pytest.raises(CosmosResourceNotFoundError):
        container.replace_item("no", {"id": "no", "city": "Oslo"})
    with pytest.raises(CosmosResourceNotFoundError):
        container.delete_item("no", "Oslo")
    with pytest.raises(CosmosResourceNotFoundError):
        container.patch_item("no", "Oslo", [{"op": "set", "path": "/n", "value": 1}])


def test_replace_puts_a_new_body_in_place(container):
    before = container.create_item({"id": "1", "city": "Oslo", "old": True})
    after = container.replace_item("1", {"id": "1", "city": "Oslo", "new": True})
    assert without_system_properties(after) == {"id": "1", "city": "Oslo", "new": True}
    assert after["_rid"] == before["_rid"]
    assert after["_self"] == before["_self"]
    assert after["_etag"] != before["_etag"]
    assert after["_ts"] >= before["_ts"]
    assert container.read_item("1", "Oslo") == after


def test_upsert_creates_then_replaces(server, database, container):
    first = container.upsert_item({"id": "1", "city": "Oslo", "n": 1})
    second = container.upsert_item({"id": "1", "city": "Oslo", "n": 2})
    assert second["_rid"] == first["_rid"]
    assert second["_etag"] != first["_etag"]
    assert container.read_item("1", "Oslo")["n"] == 2

    path = f"/dbs/{database.id}/colls/{container.id}/docs"
    headers = {"x-ms-documentdb-partitionkey": '["Oslo"]', "x-ms-documentdb-is-upsert": "True"}
    assert wire.send(server, "POST", path, {"id": "2", "city": "Oslo"}, headers).status == 201
    assert wire.send(server, "POST", path, {"id": "2", "city": "Oslo"}, headers).status == 200


def test_deleted_item_is_gone_and_its_id_free(container):
    before = container.create_item({"id": "1", "city": "Oslo"})
    container.delete_item("1", "Oslo")
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "Oslo")
    after = container.create_item({"id": "1", "city": "Oslo"})
    assert after["_rid"] != before["_rid"]


def test_id_is_made_by_the_sdk_when_asked(container):
    created = container.create_item({"city": "Oslo"}, enable_automatic_id_generation=True)
    assert uuid.UUID(created["id"])
    assert container.read_item(created["id"], "Oslo") == created


@pytest.mark.parametrize("body", [{"city": "Oslo"}, {"id": "", "city": "Oslo"}], ids=["missing", "empty"])
def test_server_makes_no_ids(container, body):
    with refused(400):
        container.create_item(body)
    with refused(400):
        container.upsert_item(body)


def test_writes_without_response_answer_with_headers_only(container):
    created = container.create_item({"id": "1", "city": "Oslo"}, no_response=True)
    assert created == {}
    headers = created.get_response_headers()
    assert headers["etag"] == container.read_item("1", "Oslo")["_etag"]
    assert float(headers["x-ms-request-charge"]) > 0
    assert headers["x-ms-session-token"]
    assert container.upsert_item({"id": "1", "city": "Oslo", "n": 1}, no_response=True) == {}
    assert container.replace_item("1", {"id": "1", "city": "Oslo", "n": 2}, no_response=True) == {}
    assert container.patch_item("1", "Oslo", [{"op": "incr", "path": "/n", "value": 1}], no_response=True) == {}
    assert container.read_item("1", "Oslo")["n"] == 3


def test_minimal_response_has_an_empty_body(server, database, container):
    answer = wire.send(
        server,
        "POST",
        f"/dbs/{database.id}/colls/{container.id}/docs",
        {"id": "1", "city": "Oslo"},
        {"x-ms-documentdb-partitionkey": '["Oslo"]', "Prefer": "return=minimal"},
    )
    assert answer.status == 201
    assert answer.body is None
    assert answer.headers["content-length"] == "0"


def test_responses_name_their_container(database, container):
    container.create_item({"id": "1", "city": "Oslo"})
    rid = container.read()["_rid"]
    container.read_item("1", "Oslo")
    headers = last_headers(container)
    assert headers["x-ms-alt-content-path"] == f"dbs/{database.id}/colls/{container.id}"
    assert headers["x-ms-content-path"] == rid
    assert headers["x-ms-documentdb-partitionkeyrangeid"] == "0"
    for verb_fails in (
        lambda: container.read_item("no", "Oslo"),
        lambda: container.create_item({"id": "1", "city": "Oslo"}),
    ):
        with pytest.raises((CosmosResourceNotFoundError, CosmosResourceExistsError)) as caught:
            verb_fails()
        assert caught.value.headers["x-ms-content-path"] == rid
        assert caught.value.headers["x-ms-alt-content-path"] == f"dbs/{database.id}/colls/{container.id}"
        assert caught.value.headers["x-ms-session-token"]


def test_errors_have_code_and_message(container):
    with pytest.raises(CosmosResourceNotFoundError, match=r"\(NotFound\)"):
        container.read_item("no", "Oslo")
    container.create_item({"id": "1", "city": "Oslo"})
    with pytest.raises(CosmosResourceExistsError, match=r"\(Conflict\)"):
        container.create_item({"id": "1", "city": "Oslo"})
