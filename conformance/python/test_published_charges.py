"""Published request charges, by the real server: every figure that the model of charges was fitted to.

The figures of the blog platform come from a container of 67 physical partitions with the data of `blog_data`; each is
the sum of the charges of all requests that its application makes. `pytest -rP test_published_charges.py` prints the
table.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import charges
from blog import FirstVersion, SecondVersion, ThirdVersion
from blog_data import FEED_POSTS, POSTS_OF_THE_USER, RANGES, STORED_BYTES, Blog, User, comment_item
from metered import Metered, charge
from server import Server

FOLDER = os.environ.get("ARMILLA_SOURCE_DOCUMENTS")
DATABASE = "published"
# Charges travel with two decimals.
ROUNDING = 0.0051
MODEL_TOLERANCE = 0.01
# Of the model, against what was published.
WORST_ERROR = 0.036
MEAN_ERROR = 0.012
THROUGHPUT = 6_000

# Operation, version, what the model says, what was published.
BLOG = [
    ("C1 create user", 1, 5.71, 5.71),
    ("C1 create user", 2, 5.71, 5.71),
    ("Q1 read user", 1, 1.00, 1.00),
    ("Q1 read user", 2, 1.00, 1.00),
    ("Q1 read user", 3, 1.00, 1.00),
    ("C2 create post", 1, 8.76, 8.76),
    ("Q2 read post", 1, 19.01, 19.54),
    ("Q2 read post", 2, 1.00, 1.00),
    ("Q3 posts of user", 1, 608.38, 619.41),
    ("Q3 posts of user", 2, 197.84, 201.54),
    ("Q3 posts of user", 3, 6.55, 6.46),
    ("C3 create comment", 1, 8.57, 8.57),
    ("C3 create comment", 2, 15.67, 15.27),
    ("Q4 comments of post", 1, 27.59, 27.72),
    ("Q4 comments of post", 2, 7.64, 7.72),
    ("C4 create like", 1, 7.05, 7.05),
    ("C4 create like", 2, 14.14, 14.67),
    ("Q5 likes of post", 1, 58.80, 58.92),
    ("Q5 likes of post", 2, 8.92, 8.92),
    ("Q6 feed", 1, 2138.56, 2063.54),
    ("Q6 feed", 2, 524.65, 532.33),
    ("Q6 feed", 3, 16.55, 16.97),
]

# The published table repeats the first version's figure for items that have become larger meanwhile: what the model
# says of these items, and what stands there.
REPEATED = [
    ("C1 create user", 3, 6.67, 5.71),
    ("C2 create post", 2, 9.90, 8.76),
]

# Kilobytes, read, write.
SIZES = [
    (1, 1.00, 4.95),
    (2, 1.04, 6.29),
    (4, 1.14, 6.67),
    (8, 1.33, 7.04),
    (16, 1.67, 9.52),
    (32, 2.19, 11.23),
    (64, 4.76, 22.67),
    (128, 9.95, 48.19),
    (256, 20.28, 98.29),
    (512, 40.95, 184.57),
    (1_024, 145.90, 625.00),
    (2_048, 291.80, 1_250.00),
]
# The two largest were published as round numbers.
EXACT_KILOBYTES_MAX = 512


def _cell_id(cell: tuple) -> str:
    return f"{cell[0]} V{cell[1]}"


def _close(actual: float, wanted: float) -> bool:
    return abs(actual - wanted) <= ROUNDING


@pytest.fixture(scope="module")
def metered_server(tmp_path_factory) -> Iterator[Server]:
    """A server whose partitions are as large as those of the published figures."""
    server = Server(tmp_path_factory.mktemp("metered"), "--physical-partition-ru", "6000", "--durability", "relaxed")
    server.start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def versions(metered_server) -> tuple[Blog, FirstVersion, SecondVersion, ThirdVersion]:
    """The blog platform's three versions, filled with its data."""
    first, second, third = FirstVersion(metered_server), SecondVersion(metered_server), ThirdVersion(metered_server)
    blog = Blog([one["minInclusive"] for one in first.posts.ranges()])
    for version in (first, second, third):
        version.load(blog)
    return blog, first, second, third


@pytest.fixture(scope="module")
def measured(versions) -> dict[tuple[str, int], float]:
    """What each operation of the blog platform was charged, by version."""
    blog, first, second, third = versions
    found = {}
    for application in versions[1:]:
        version = application.version
        found["Q1 read user", version] = application.user(blog.user.user_id)
        posts, found["Q3 posts of user", version] = application.posts_of(blog.user)
        assert len({post["id"] for post in posts}) == POSTS_OF_THE_USER
        posts, found["Q6 feed", version] = application.feed()
        assert [post["id"] for post in posts] == [post.post_id for post in blog.posts[:FEED_POSTS]]
    for application in (first, second):
        version = application.version
        found["Q2 read post", version] = application.post(blog.post)
        rows, found["Q4 comments of post", version] = application.comments(blog.post)
        assert {row["userId"] for row in rows} == {author.user_id for author in blog.post.comment_authors}
        rows, found["Q5 likes of post", version] = application.likes(blog.post)
        assert {row["userId"] for row in rows} == {author.user_id for author in blog.post.like_authors}
    # What changes the data comes last.
    somebody = User(blog.new_id(), "somebody-else-")
    post = blog.old_post()
    for application in (first, second):
        version = application.version
        found["C2 create post", version] = application.create_post(post)
        found["C3 create comment", version] = application.create_comment(blog.new_id(), post, somebody)
        found["C4 create like", version] = application.create_like(blog.new_id(), post, somebody)
    for application in (first, second, third):
        found["C1 create user", application.version] = application.create_user(somebody)
    return found


@pytest.mark.parametrize("cell", BLOG, ids=_cell_id)
def test_blog_is_charged_as_published(measured, cell):
    operation, version, model, published = cell
    actual = measured[operation, version]
    assert abs(actual - model) <= max(MODEL_TOLERANCE * model, ROUNDING), (actual, model)
    error_of_the_model = abs(model - published)
    assert abs(actual - published) <= error_of_the_model + max(MODEL_TOLERANCE * published, ROUNDING)


@pytest.mark.parametrize("cell", REPEATED, ids=_cell_id)
def test_items_that_have_grown_cost_more_than_the_published_repetition(measured, cell):
    operation, version, model, published = cell
    assert _close(measured[operation, version], model)
    assert _close(measured[operation, 1], published)


def test_blog_is_as_large_as_assumed(versions):
    blog, first, second, third = versions
    assert len(first.ranges) == len(second.ranges) == RANGES
    found = {}
    for application in (first, second):
        rows, _ = application.posts.query("SELECT * FROM c", blog.post.post_id)
        for row in rows:
            found.setdefault((row["type"], application.version), set()).add(charges.stored_bytes(row))
    user = first.users.do("GET", f"/docs/{blog.user.user_id}", key=blog.user.user_id).body
    found["user", 1] = {charges.stored_bytes(user)}
    found["post", 3] = {charges.stored_bytes(row) for row in third.feed()[0]}
    assert found == {kind: {size} for kind, size in STORED_BYTES.items()}


def test_table_of_the_blog(measured):
    print(f"\n{'':24}{'model':>9} {'published':>9} {'measured':>9} {'of model':>9} {'of publ.':>9}")
    errors = []
    for operation, version, model, published in BLOG:
        actual = measured[operation, version]
        errors.append(abs(actual / published - 1))
        print(
            f"{operation:20} V{version} {model:9.2f} {published:9.2f} {actual:9.2f}"
            f" {actual / model - 1:+9.1%} {actual / published - 1:+9.1%}"
        )
    print(f"mean error {sum(errors) / len(errors):.1%}, worst {max(errors):.1%}")
    assert round(max(errors), 3) <= WORST_ERROR
    assert round(sum(errors) / len(errors), 3) <= MEAN_ERROR


@pytest.mark.skipif(FOLDER is None, reason="ARMILLA_SOURCE_DOCUMENTS does not name the folder of the source documents")
def test_printed_procedure_costs_as_much_as_ours(versions):
    blog, _first, second, _third = versions
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(FOLDER).glob("003_*.txt")))
    printed = re.search(r"```javascript\n(\s*function createComment\(.*?)```", text, re.DOTALL).group(1)
    second.posts.register("createComment", printed)
    post = blog.old_post()
    second.create_post(post)
    ours = second.create_comment(blog.new_id(), post, blog.user)
    comment = comment_item(blog.new_id(), post, blog.user, 2, post.date)
    assert second.posts.call("createComment", post.post_id, comment, key=post.post_id) == ours


# The table by size


def _sized(container: Metered, stored_bytes: float, item: dict, key: Any = None) -> dict:
    """Returns the item with a text that makes it so large when it is stored."""
    key = item["id"] if key is None else key
    probe = container.do("POST", "/docs", {**item, "text": ""}, key).body
    container.do("DELETE", f"/docs/{item['id']}", key=key)
    return {**item, "text": "x" * (round(stored_bytes) - charges.stored_bytes(probe))}


@pytest.fixture(scope="module")
def unindexed(metered_server) -> Metered:
    container = Metered(metered_server, DATABASE, "unindexed")
    return container.make("/id", THROUGHPUT, indexingPolicy={"indexingMode": "none", "automatic": False})


@pytest.mark.parametrize(("kilobytes", "read", "write"), SIZES, ids=[f"{row[0]} KB" for row in SIZES])
def test_size_decides_without_an_index(unindexed, kilobytes, read, write):
    name = f"{kilobytes} KB"
    item = _sized(unindexed, kilobytes * 1_024, {"id": name})
    answer = unindexed.do("POST", "/docs", item, name)
    assert charges.stored_bytes(answer.body) == kilobytes * 1_024
    # The published figures seem to be cut off, ours are rounded.
    tolerance = (0.01 if kilobytes <= EXACT_KILOBYTES_MAX else 0.1) + 1e-9
    assert abs(charge(answer) - write) <= tolerance
    assert abs(unindexed.read(name, name) - read) <= tolerance
    assert abs(charge(unindexed.do("DELETE", f"/docs/{name}", key=name)) - write) <= tolerance


# Writes with index terms


@pytest.fixture(scope="module")
def indexed(metered_server) -> Metered:
    policy = {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/*"}],
        "excludedPaths": [{"path": "/free/?"}],
    }
    return Metered(metered_server, DATABASE, "indexed").make("/id", THROUGHPUT, indexingPolicy=policy)


def test_writes_of_a_kilobyte_cost_as_in_the_worked_examples(indexed):
    # Ten terms are five properties; a term was published as 0.2 and is 4/21, a kilobyte as 5 and is 26 of them.
    item = _sized(indexed, 1_024, {"id": "a", "one": 1, "two": 2, "three": 3, "free": 1})
    created = indexed.do("POST", "/docs", item, "a")
    replaced = indexed.do("PUT", "/docs/a", {**item, "one": 4}, "a")
    operations = [{"op": "set", "path": "/one", "value": 5}, {"op": "set", "path": "/free", "value": 2}]
    patched = indexed.do("PATCH", "/docs/a", {"operations": operations}, "a")
    deleted = indexed.do("DELETE", "/docs/a", key="a")
    assert charges.stored_bytes(created.body) == 1_024
    for answer, units, operations_paid, published in [
        (created, 26 + 10, 0, 7.0),
        (replaced, 26 + 26 + 2 + 2, 0, 10.8),
        (patched, 26 + 26 + 2 + 2, 2, 11.6),
        (deleted, 26 + 10, 0, 7.0),
    ]:
        wanted = units * charges.WRITE_UNIT + operations_paid * charges.PATCH_OPERATION
        assert _close(charge(answer), wanted), (charge(answer), wanted)
        assert abs(charge(answer) / published - 1) < 0.021


def test_item_of_25_properties(metered_server):
    container = Metered(metered_server, DATABASE, "sample").make("/property0", THROUGHPUT)
    item = {"id": "1", **{f"property{number}": "a sample value" for number in range(24)}}
    answer = container.do("POST", "/docs", item, "a sample value")
    assert len(charges.leaves(answer.body)) == 25
    assert charges.stored_bytes(answer.body) <= 1_024
    assert _close(charge(answer), 14.67), "published: about 15"


# Queries of single items, and a scan


@pytest.fixture(scope="module")
def items(metered_server) -> Metered:
    """A container of one physical partition with single items of known sizes among many small ones."""
    container = Metered(metered_server, DATABASE, "items").make("/key", THROUGHPUT)
    container.load_keys([("small", [{"id": str(number), "key": "small", "name": "small"} for number in range(100)])])
    for name, stored_bytes in [("6.4 KB", 6.4 * 1_024), ("9963 bytes", 9_963), ("671 bytes", 671)]:
        container.create(_sized(container, stored_bytes, {"id": name, "key": name, "name": name}, name), name)
    return container


@pytest.mark.parametrize(
    ("name", "model", "published"), [("6.4 KB", 3.07, 2.98), ("9963 bytes", 3.34, 3.19), ("none", 2.47, 2.5)]
)
def test_query_of_one_item(items, name, model, published):
    rows, actual = items.query_range(f"SELECT * FROM c WHERE c.name = '{name}'", "0")
    assert [row["id"] for row in rows] == ([] if name == "none" else [name])
    assert abs(actual - model) <= ROUNDING, actual
    assert abs(actual / published - 1) < 0.05


def test_query_of_everything_in_a_logical_partition(items):
    rows, actual = items.query("SELECT * FROM c", "671 bytes")
    assert [charges.stored_bytes(row) for row in rows] == [671]
    assert abs(actual - 2.22) <= ROUNDING, "published: 2.27"


def test_scan(metered_server):
    """A function of a property that the index cannot answer: 60,951 items of 6,562 bytes cost 4,059.95.

    Here a hundredth of them; the model says 4,072.7 of all.
    """
    container = Metered(metered_server, DATABASE, "scanned")
    container.make("/key", THROUGHPUT)
    count, item_bytes, partition = 610, 6_562, 2.08
    template = _sized(container, item_bytes, {"id": "000", "key": "a", "name": "named"}, "a")
    other = {**template, "name": "other"}
    items = [{**(template if number < 7 else other), "id": f"{number:03}"} for number in range(count)]
    container.load_ranges([("0", [("a", item) for item in items])])
    rows, actual = container.query_range("SELECT * FROM c WHERE UPPER(c.name) = 'NAMED'", "0")
    assert len(rows) == 7
    assert {charges.stored_bytes(row) for row in rows} == {item_bytes}
    share = count / 60_951
    assert abs((actual - partition) / (share * (4_072.7 - partition)) - 1) < 0.001
    assert abs((actual - partition) / (share * (4_059.95 - partition)) - 1) < 0.005


# Scripts, failures, consistency


INSERT = """function (count) {
    const collection = getContext().getCollection();
    const link = collection.getSelfLink();
    for (let number = 0; number < count; number += 1) {
        collection.createDocument(link, { id: `${number}`, number }, (error) => {
            if (error) throw error;
        });
    }
}"""


def test_script_that_inserts_150_items(metered_server):
    container = Metered(metered_server, DATABASE, "fixed").make(None, THROUGHPUT)
    container.register("insert", INSERT)
    assert _close(container.call("insert", 150), 743.43), "published: 743"


def test_request_over_the_throughput(metered_server):
    container = Metered(metered_server, DATABASE, "narrow").make(None, 400)
    container.register("insert", INSERT)
    # It is paid for in nine seconds, of which the first is not over yet.
    assert container.call("insert", 750) > 9 * 400
    answer = container.send("GET", "/docs/1", is_patient=False)
    assert (answer.status, answer.sub_status) == (429, 3200)
    assert charge(answer) == 0.38


def test_failures(metered_server):
    container = Metered(metered_server, DATABASE, "failures").make("/key", THROUGHPUT)
    created = container.do("POST", "/docs", {"id": "1", "key": "a"}, "a").body
    stale, current = {"if-match": '"stale"'}, {"if-none-match": created["_etag"]}
    too_large = {"id": "2", "key": "a", "text": "x" * 2 * 1_024 * 1_024}
    for verb, path, body, plain_headers, status, wanted in [
        ("GET", "/docs/none", None, {}, 404, 1.0),
        ("GET", "/docs/1", None, current, 304, 1.0),
        ("DELETE", "/docs/none", None, {}, 404, 1.24),
        ("PUT", "/docs/none", {"id": "none", "key": "a"}, {}, 404, 1.24),
        ("POST", "/docs", {"id": "1", "key": "a"}, {}, 409, 1.24),
        ("PUT", "/docs/1", {"id": "1", "key": "a"}, stale, 412, 1.24),
        ("DELETE", "/docs/1", None, stale, 412, 1.24),
        ("POST", "/docs", {"id": "2", "key": "b"}, {}, 400, 1.24),
        ("POST", "/docs", too_large, {}, 413, 0.0),
    ]:
        answer = container.send(verb, path, body, "a", plain=plain_headers)
        assert (answer.status, charge(answer)) == (status, wanted), (verb, path, answer)


def test_reads_cost_double_where_two_replicas_are_asked(metered_server, start_server):
    strong = start_server("--consistency", "Strong", "--physical-partition-ru", "6000")
    charged = []
    for server in (metered_server, strong):
        container = Metered(server, "replicas", "items").make("/key", THROUGHPUT)
        written = container.create({"id": "1", "key": "a", "text": "x" * 3_000}, "a")
        container.create({"id": "2", "key": "a"}, "a")
        reads = [
            container.read("1", "a"),
            container.read("2", "a"),
            charge(container.send("GET", "/docs/none", key="a")),
            charge(container.do("GET", "/docs")),
            container.query("SELECT * FROM c WHERE c.id = '1'", "a")[1],
            container.query_range("SELECT * FROM c WHERE c.text = 'no'", "0")[1],
        ]
        charged.append((written, reads))
    (written, reads), (written_strongly, strong_reads) = charged
    assert written_strongly == written
    assert [round(2 * read, 2) for read in reads] == pytest.approx(strong_reads, abs=0.011)
