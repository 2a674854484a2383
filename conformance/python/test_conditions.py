"""Conditional reads and writes: etags, and items that must or must not be there."""

import pytest
from azure.core import MatchConditions
from azure.cosmos.exceptions import CosmosAccessConditionFailedError, CosmosResourceExistsError

STALE = '"00000000-0000-0000-0000-000000000000"'


@pytest.fixture
def item(container):
    return container.create_item({"id": "1", "city": "Oslo", "n": 0})


def test_every_write_changes_the_etag(container, item):
    etags = [item["_etag"]]
    etags += [container.replace_item("1", {"id": "1", "city": "Oslo", "n": n})["_etag"] for n in range(5)]
    etags.append(container.upsert_item({"id": "1", "city": "Oslo", "n": 4})["_etag"])
    etags.append(container.patch_item("1", "Oslo", [{"op": "set", "path": "/n", "value": 4}])["_etag"])
    assert len(set(etags)) == len(etags)


def _replace(container, **condition):
    return container.replace_item("1", {"id": "1", "city": "Oslo", "n": 1}, **condition)


def _upsert(container, **condition):
    return container.upsert_item({"id": "1", "city": "Oslo", "n": 1}, **condition)


def _patch(container, **condition):
    return container.patch_item("1", "Oslo", [{"op": "set", "path": "/n", "value": 1}], **condition)


def _delete(container, **condition):
    return container.delete_item("1", "Oslo", **condition)


WRITES = pytest.mark.parametrize("write", [_replace, _upsert, _patch, _delete])


@WRITES
def test_write_with_the_current_etag_goes_through(container, item, write):
    write(container, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
    assert [stored["n"] for stored in container.read_all_items()] == ([] if write is _delete else [1])


@WRITES
@pytest.mark.parametrize("etag", [STALE, "not even quoted"])
def test_write_with_another_etag_is_refused(container, item, write, etag):
    with pytest.raises(CosmosAccessConditionFailedError) as caught:
        write(container, etag=etag, match_condition=MatchConditions.IfNotModified)
    assert caught.value.status_code == 412
    assert container.read_item("1", "Oslo") == item


@WRITES
def test_write_after_somebody_else_is_refused(container, item, write):
    newer = container.replace_item("1", {"id": "1", "city": "Oslo", "n": 7})
    with pytest.raises(CosmosAccessConditionFailedError):
        write(container, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
    assert container.read_item("1", "Oslo") == newer


@WRITES
def test_any_etag_matches_what_is_there(container, item, write):
    write(container, match_condition=MatchConditions.IfPresent)
    assert [stored["n"] for stored in container.read_all_items()] == ([] if write is _delete else [1])


def test_upsert_if_missing_creates_once(container):
    created = container.upsert_item({"id": "1", "city": "Oslo"}, match_condition=MatchConditions.IfMissing)
    with pytest.raises(CosmosAccessConditionFailedError):
        container.upsert_item({"id": "1", "city": "Oslo", "n": 1}, match_condition=MatchConditions.IfMissing)
    assert container.read_item("1", "Oslo") == created


def test_upsert_of_a_missing_item_ignores_the_etag(container):
    created = container.upsert_item(
        {"id": "1", "city": "Oslo"}, etag=STALE, match_condition=MatchConditions.IfNotModified
    )
    assert container.read_item("1", "Oslo") == created


def test_deleted_and_recreated_item_has_another_etag(container, item):
    container.delete_item("1", "Oslo")
    container.create_item({"id": "1", "city": "Oslo", "n": 0})
    with pytest.raises(CosmosAccessConditionFailedError):
        _replace(container, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)


def test_unchanged_item_is_not_sent_again(container, item):
    read = container.read_item("1", "Oslo", etag=item["_etag"], match_condition=MatchConditions.IfModified)
    assert read == {}
    assert read.get_response_headers()["etag"] == item["_etag"]

    newer = container.replace_item("1", {"id": "1", "city": "Oslo", "n": 1})
    read = container.read_item("1", "Oslo", etag=item["_etag"], match_condition=MatchConditions.IfModified)
    assert read == newer


def test_create_stays_a_conflict_whatever_the_etag(container, item):
    with pytest.raises(CosmosResourceExistsError):
        container.create_item({"id": "1", "city": "Oslo"})
    assert container.read_item("1", "Oslo") == item
