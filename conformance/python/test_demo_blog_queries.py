"""`armilla query --explain` on the worked example, in the data that `armilla demo blog --keep` leaves.

What the steps of a query are said to cost adds up to what the query was charged, and the queries of an operation,
with its reads, to what the demo was charged for that operation.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient

from query_command import ask, hundredths, priced_json, priced_tree
from server import KEY, Server, binary

DEMO_SECONDS_MAX = 120
USERS = 20
PARTITIONS = 5
# What the demo is measured on at every scale.
POSTS, COMMENTS, LIKES, NEWEST = 27, 20, 50, 100

# As the demo asks them.
COUNT_ABOUT_POST = "SELECT VALUE COUNT(1) FROM c WHERE c.postId = @post AND c.type = @type"
ABOUT_POST = "SELECT * FROM c WHERE c.postId = @post AND c.type = @type"
POSTS_OF_USER = "SELECT * FROM c WHERE c.userId = @user AND c.type = 'post'"
NEWEST_POSTS = f"SELECT TOP {NEWEST} * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC"

# A point read of an item of at most a kilobyte.
READ = hundredths(1)


@dataclass
class Asked:
    """A query: where, with what, and how many rows it must have."""

    place: str
    text: str
    rows: int
    parameters: dict[str, str] = field(default_factory=dict)
    key: str | None = None

    def arguments(self) -> list[str]:
        database, container = self.place.split("/")
        named = [part for name, value in self.parameters.items() for part in ("-p", f"@{name}={json.dumps(value)}")]
        key = ["--partition-key", json.dumps([self.key])] if self.key else []
        return [f"blog-{database}", container, self.text, *named, *key]


@dataclass
class Blog:
    """What the demo left: its figures, and what it measured them on."""

    server: Server
    run: dict
    user: str
    post: str
    posts: list[str]

    def charge(self, operation: str, version: str) -> float:
        """What the demo was charged for an operation."""
        cells = {(cell["operation"], cell["version"]): cell for cell in self.run["cells"]}
        return cells[operation, version]["requestUnits"]

    def newest_merged(self, version: str) -> float:
        """What the demo was charged for the newest posts of all partitions, put together by the server."""
        return next(one["feedMerged"] for one in self.run["fanOut"] if one["version"] == version)


def _demo(server: Server, folder: Path) -> dict:
    figures = folder / "blog.json"
    command = [str(binary()), "demo", "blog", "--endpoint", server.http, "--keep", "--json", str(figures)]
    command += ["--users", str(USERS), "--partitions", str(PARTITIONS), "--rounds", "1", "--live", "0", "--no-check"]
    # Commands would change what queries are compared on.
    command += ["--only", "Q2,Q3,Q4,Q5,Q6"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ARMILLA_")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEMO_SECONDS_MAX)
    assert done.returncode in (0, 2), done.stderr
    return json.loads(figures.read_text(encoding="utf-8"))["runs"][0]


@pytest.fixture(scope="module")
def blog(tmp_path_factory) -> Iterator[Blog]:
    # Relaxed, for loading; without a throttle, so that nothing waits. Neither changes a charge.
    folder = tmp_path_factory.mktemp("blog-queries")
    server = Server(folder, "--durability", "relaxed", "--throttle", "off").start()
    run = _demo(server, folder)
    with CosmosClient(server.https, KEY) as client:
        database = client.get_database_client("blog-v2")
        users, posts = (database.get_container_client(name) for name in ("users", "posts"))
        everywhere = {"enable_cross_partition_query": True}
        # The user that is measured comes last.
        [user] = users.query_items("SELECT TOP 1 VALUE c.id FROM c ORDER BY c.username DESC", **everywhere)
        text = f"SELECT VALUE c.id FROM c WHERE c.commentCount = {COMMENTS} AND c.likeCount = {LIKES}"
        post, *_ = posts.query_items(text, **everywhere)
        of_user = [row["id"] for row in posts.query_items(POSTS_OF_USER.replace("@user", f"'{user}'"), **everywhere)]
    assert len(of_user) == POSTS
    yield Blog(server, run, user, post, of_user)
    assert server.stop() == 0


def _counts(post: str) -> list[Asked]:
    return [Asked("v1/posts", COUNT_ABOUT_POST, 1, {"post": post, "type": kind}, post) for kind in ("comment", "like")]


def _about(version: str, blog: Blog, kind: str, rows: int) -> Asked:
    # The third version keeps the posts of the second.
    place = "v1/posts" if version == "V1" else "v2/posts"
    return Asked(place, ABOUT_POST, rows, {"post": blog.post, "type": kind}, blog.post)


def _queries(blog: Blog, operation: str, version: str) -> tuple[list[Asked], int]:
    """The queries of an operation, and how many items it reads besides."""
    is_first = version == "V1"
    if operation == "Q2":
        return _counts(blog.post), 2
    if operation == "Q3":
        if version == "V3":
            return [Asked("v3/users", POSTS_OF_USER, POSTS, {"user": blog.user}, blog.user)], 0
        posts = Asked(f"{version.lower()}/posts", POSTS_OF_USER, POSTS, {"user": blog.user})
        counts = [count for post in blog.posts for count in _counts(post)] if is_first else []
        return [posts, *counts], int(is_first)
    if operation == "Q4":
        return [_about(version, blog, "comment", COMMENTS)], COMMENTS if is_first else 0
    if operation == "Q5":
        return [_about(version, blog, "like", LIKES)], LIKES if is_first else 0
    if version == "V3":
        return [Asked("v3/feed", NEWEST_POSTS, NEWEST, key="post")], 0
    return [Asked(f"{version.lower()}/posts", NEWEST_POSTS, NEWEST)], 0


# Q1 is a read in every version, and Q2 in the second and third.
IN_EVERY_VERSION = [(operation, version) for operation in ("Q3", "Q4", "Q5", "Q6") for version in ("V1", "V2", "V3")]
OPERATIONS = [("Q2", "V1"), *IN_EVERY_VERSION]


@pytest.mark.parametrize(("operation", "version"), OPERATIONS)
def test_steps_add_up_to_what_the_demo_was_charged(blog, operation, version):
    queries, reads = _queries(blog, operation, version)
    total = reads * READ
    for query in queries:
        done = ask(blog.server, *query.arguments(), "--explain")
        assert done.returncode == 0, done.stderr
        priced = priced_tree(done.stdout)
        assert priced.rows == query.rows, done.stdout
        assert sum(priced.steps.values()) == priced.charge, done.stdout
        # One step alone would explain nothing.
        assert len(priced.steps) > 1, done.stdout
        total += priced.charge
    assert priced_json(ask(blog.server, *query.arguments(), "--explain", "--json").stdout) == priced
    # The demo asks every partition for its newest posts; what that costs put together it says beside.
    is_merged = operation == "Q6" and version != "V3"
    charged = blog.newest_merged(version) if is_merged else blog.charge(operation, version)
    assert total == hundredths(charged)
