"""The scripts printed in the documents the project comes from, registered as they are printed.

The documents are not part of the project: ARMILLA_SOURCE_DOCUMENTS names the folder they lie in, and without it these
tests are skipped.
"""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import charges
from procedures import call
from sdk import last_headers, without_system_properties

FOLDER = os.environ.get("ARMILLA_SOURCE_DOCUMENTS")
WRITERS = 16
# As printed in the trigger.
FEED_ITEMS_MAX = 100
ROUNDING = 0.0051
SCRIPT_COST = 12 * charges.UNIT
SAVED = 4 * charges.WRITE_UNIT

pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="ARMILLA_SOURCE_DOCUMENTS does not name the folder of the source documents"
)


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """The JavaScript functions of the document on partitioning, by name."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(FOLDER).glob("003_*.txt"))]
    assert texts, f"no document 003_*.txt in {FOLDER}"
    blocks = re.findall(r"```javascript\n(.*?)```", "\n".join(texts), re.DOTALL)
    functions = {}
    for block in blocks:
        named = re.match(r"\s*function (\w+)\(", block)
        if named:
            functions[named.group(1)] = block
    return functions


def _charge(container) -> float:
    return float(last_headers(container)["x-ms-request-charge"])


def _post(post_id: str, **members) -> dict:
    return {
        "id": post_id,
        "type": "post",
        "postId": post_id,
        "userId": "u1",
        "userUsername": "ada",
        "title": "a title",
        "content": "some content",
        "commentCount": 0,
        "likeCount": 0,
        "creationDate": "2026-01-01T00:00:00Z",
        **members,
    }


def _comment(number: int, user: str = "u2") -> dict:
    return {
        "id": f"comment {number}",
        "type": "comment",
        "userId": user,
        "userUsername": "bob",
        "content": "a comment",
        "creationDate": "2026-01-02T00:00:00Z",
    }


@pytest.fixture
def posts(make_container, printed):
    """The container of posts, comments and likes, with the two procedures of the document."""
    container = make_container("/postId")
    for name in ("createComment", "updateUsernames"):
        container.scripts.create_stored_procedure({"id": name, "body": printed[name]})
    return container


def test_comment_counter_is_in_step_with_the_comments(posts):
    posts.create_item(_post("p1"))
    posts.create_item(_post("p2"))
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda n: call(posts, "createComment", "p1", _comment(n), key="p1"), range(100)))
    query = "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'comment'"
    assert list(posts.query_items(query, partition_key="p1")) == [100]
    assert posts.read_item("p1", "p1")["commentCount"] == 100
    assert posts.read_item("p2", "p2")["commentCount"] == 0
    comment = posts.read_item("comment 7", "p1")
    assert without_system_properties(comment) == {**_comment(7), "postId": "p1"}


def test_comment_of_a_missing_post_is_not_kept(posts):
    with pytest.raises(Exception, match="404"):
        call(posts, "createComment", "nobody", _comment(1), key="nobody")
    assert list(posts.read_all_items()) == []


def test_second_comment_of_one_id_is_not_counted(posts):
    posts.create_item(_post("p1"))
    call(posts, "createComment", "p1", _comment(1), key="p1")
    with pytest.raises(Exception, match="409"):
        call(posts, "createComment", "p1", _comment(1), key="p1")
    assert posts.read_item("p1", "p1")["commentCount"] == 1


def test_charge_of_a_comment(posts):
    before = posts.create_item(_post("p1"))
    call(posts, "createComment", "p1", _comment(1), key="p1")
    charge = _charge(posts)
    after, comment = posts.read_item("p1", "p1"), posts.read_item("comment 1", "p1")
    # The replaced post was read by the script, so it is not paid for a second time: 26 units below a kilobyte.
    replace = charges.replace(before, after) - 26 * charges.WRITE_UNIT - SAVED
    wanted = SCRIPT_COST + charges.read(before) + replace + charges.create(comment) - SAVED
    assert abs(charge - wanted) <= ROUNDING, (charge, wanted)


def test_user_names_change_in_every_item_of_the_partition(posts):
    posts.create_item(_post("p1"))
    posts.create_item(_post("p2"))
    for n in range(30):
        call(posts, "createComment", "p1", _comment(n, "u1" if n % 3 else "u2"), key="p1")
    call(posts, "updateUsernames", "u1", "ada lovelace", key="p1")
    items = [item for item in posts.read_all_items() if item["postId"] == "p1"]
    assert len(items) == 31
    names = {(item["userId"], item["userUsername"]) for item in items}
    assert names == {("u1", "ada lovelace"), ("u2", "bob")}
    assert posts.read_item("p2", "p2")["userUsername"] == "ada", "another partition is another run"
    assert posts.read_item("p1", "p1")["commentCount"] == 30, "nothing else changed"


@pytest.fixture
def feed(make_container, printed):
    """The container of the newest posts, with the trimming trigger of the document."""
    container = make_container("/type")
    container.scripts.create_trigger(
        {"id": "truncateFeed", "body": printed["truncateFeed"], "triggerType": "Post", "triggerOperation": "All"}
    )
    return container


def test_feed_keeps_exactly_the_newest_posts(feed):
    posts = [_post(f"p{n:03}", creationDate=f"2026-01-01T00:{n // 60:02}:{n % 60:02}Z") for n in range(140)]
    with ThreadPoolExecutor(WRITERS) as pool:
        made = list(pool.map(lambda post: feed.create_item(post, post_trigger_include="truncateFeed"), posts))
    assert len(made) == 140
    left = sorted(item["id"] for item in feed.read_all_items())
    assert left == [post["id"] for post in posts[-FEED_ITEMS_MAX:]]
    feed.create_item(_post("newest", creationDate="2027"), post_trigger_include="truncateFeed")
    ids = {item["id"] for item in feed.read_all_items()}
    assert len(ids) == FEED_ITEMS_MAX
    assert "newest" in ids
    assert posts[-FEED_ITEMS_MAX]["id"] not in ids


def test_feed_of_one_moment_keeps_its_size(feed):
    with ThreadPoolExecutor(WRITERS) as pool:
        posts = [_post(f"p{n:03}") for n in range(120)]
        list(pool.map(lambda post: feed.create_item(post, post_trigger_include="truncateFeed"), posts))
    assert len(list(feed.read_all_items())) == FEED_ITEMS_MAX


def test_feed_that_is_not_full_is_left_alone(feed):
    for n in range(3):
        feed.create_item(_post(f"p{n}"), post_trigger_include="truncateFeed")
    assert len(list(feed.read_all_items())) == 3
