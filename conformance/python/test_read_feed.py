"""Reading all items of a container: order, pages, continuation."""

import pytest

from sdk import last_headers, refused


def _fill(container, count, city="Oslo"):
    return [container.create_item({"id": f"{city}-{n}", "city": city, "n": n})["id"] for n in range(count)]


def _ids(items):
    return [item["id"] for item in items]


def test_empty_container_has_an_empty_feed(container):
    assert list(container.read_all_items()) == []


def test_items_of_a_logical_partition_come_in_insertion_order(container):
    ids = _fill(container, 30)
    assert _ids(container.read_all_items()) == ids


def test_replaced_items_keep_their_place_and_deleted_ones_leave(container):
    ids = _fill(container, 10)
    container.replace_item(ids[2], {"id": ids[2], "city": "Oslo", "n": 100})
    container.patch_item(ids[4], "Oslo", [{"op": "set", "path": "/n", "value": 100}])
    container.delete_item(ids[7], "Oslo")
    assert _ids(container.read_all_items()) == ids[:7] + ids[8:]


def test_recreated_item_moves_to_the_end(container):
    ids = _fill(container, 5)
    container.delete_item(ids[1], "Oslo")
    container.create_item({"id": ids[1], "city": "Oslo"})
    assert _ids(container.read_all_items()) == [ids[0], *ids[2:], ids[1]]


@pytest.mark.parametrize("size", [1, 7, 10, 25, 100, -1])
def test_pages_have_the_size_asked_for(container, size):
    ids = _fill(container, 25)
    pages = [_ids(page) for page in container.read_all_items(max_item_count=size).by_page()]
    assert [item for page in pages for item in page] == ids
    filled = [page for page in pages if page]
    assert all(len(page) == size for page in filled[:-1]) if size > 0 else len(filled) == 1


def test_default_page_is_a_hundred_items(container):
    ids = _fill(container, 120)
    pages = [_ids(page) for page in container.read_all_items().by_page()]
    assert [len(page) for page in pages if page] == [100, 20]
    assert [item for page in pages for item in page] == ids


def test_continuation_resumes_in_another_client(database, container, second_client):
    ids = _fill(container, 25)
    pages = container.read_all_items(max_item_count=7).by_page()
    first = _ids(next(pages))
    other = second_client.get_database_client(database.id).get_container_client(container.id)
    rest = [_ids(page) for page in other.read_all_items(max_item_count=7).by_page(pages.continuation_token)]
    assert first + [item for page in rest for item in page] == ids


def test_continuation_survives_writes_in_between(container):
    ids = _fill(container, 10)
    pages = container.read_all_items(max_item_count=4).by_page()
    first = _ids(next(pages))
    container.delete_item(ids[0], "Oslo")
    container.delete_item(ids[4], "Oslo")
    container.create_item({"id": "late", "city": "Oslo"})
    rest = [item for page in pages for item in _ids(page)]
    assert first == ids[:4]
    assert rest == [*ids[5:], "late"]


@pytest.mark.parametrize("token", ["nonsense", "{}", "AAAA", '{"a":1}', "-1", "999999"])
def test_malformed_continuation_is_refused(container, token):
    _fill(container, 3)
    with refused(400):
        list(container.read_all_items().by_page(token))


def test_feed_can_be_kept_to_one_key(container):
    oslo = _fill(container, 5)
    _fill(container, 5, city="Bergen")
    assert _ids(container.read_all_items(feed_options={"partitionKey": "Oslo"})) == oslo
    assert _ids(container.read_all_items(feed_options={"partitionKey": "Rome"})) == []


@pytest.mark.parametrize("size", [3, 1000])
def test_feed_spans_physical_partitions(make_container, size):
    container = make_container("/deviceId", offer_throughput=30_000)
    made = []
    for n in range(5):
        for device in range(20):
            made.append(container.create_item({"id": f"{device}-{n}", "deviceId": f"device {device}"})["id"])
    read = [item for page in container.read_all_items(max_item_count=size).by_page() for item in page]
    assert sorted(_ids(read)) == sorted(made)
    for device in range(20):
        mine = [item["id"] for item in read if item["deviceId"] == f"device {device}"]
        assert mine == [f"{device}-{n}" for n in range(5)], "in insertion order inside each logical partition"


def test_feed_answers_count_their_items(container):
    _fill(container, 5)
    seen = []
    for page in container.read_all_items(max_item_count=3).by_page():
        headers = last_headers(container)
        assert headers["x-ms-item-count"] == str(len(list(page)))
        assert headers["x-ms-session-token"]
        seen.append(headers["x-ms-item-count"])
    assert seen[:2] == ["3", "2"]


def test_feed_entries_equal_point_reads(container):
    ids = _fill(container, 5)
    assert list(container.read_all_items()) == [container.read_item(item, "Oslo") for item in ids]
