"""Views that change feeds keep up to date: an application of three containers that processors hold together.

Names of users are copied into posts, posts in short form into the users' container and into a list of the newest.
Everything that was there before the processors started is caught up with in the same way as what comes later.
"""

import threading
from contextlib import ExitStack

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

from change_feed_processor import Processor
from partitions import split, until
from procedures import register, script
from query_fixtures import run
from sdk import through
from server import KEY

USERS = ["ada", "eve", "joe"]
NEWEST_MAX = 10
CONTENT_LENGTH = 20

# Writes one name into all that a user has in this logical partition.
RENAME = """function (userId, name) {
    const collection = getContext().getCollection();
    const query = { query: "SELECT * FROM c WHERE c.userId = @id", parameters: [{ name: "@id", value: userId }] };
    collection.queryDocuments(collection.getSelfLink(), query, (error, found) => {
        if (error) throw error;
        for (const item of found) {
            item.userName = name;
            collection.replaceDocument(item._self, item);
        }
    });
}"""


class Blog:
    """The containers, the two delegates that connect them, and what an author does."""

    def __init__(self, make_container, endpoint: str, stack: ExitStack):
        self._made = {
            "users": make_container("/userId"),
            "posts": make_container("/postId", offer_throughput=20_000),
            "newest": make_container("/type"),
        }
        self._endpoint = endpoint
        self._stack = stack
        self._of_thread = threading.local()
        self.leases = {name: make_container("/id", default_ttl=-1) for name in ("users", "posts")}
        self._rename = register(self.posts, RENAME)
        trigger = {"body": script("keep-newest"), "triggerType": "Post", "triggerOperation": "Create"}
        self.newest.scripts.create_trigger({"id": "keep-newest", **trigger})
        self.written = 0

    def _own(self, name: str):
        """A container through a client of the calling thread: the SDK keeps what a client was told last in one dictionary,
        in which threads get into each other's way."""
        if not hasattr(self._of_thread, "client"):
            self._of_thread.client = self._stack.enter_context(CosmosClient(self._endpoint, KEY))
        return through(self._of_thread.client, self._made[name])

    @property
    def users(self):
        """Users, and their posts in short form."""
        return self._own("users")

    @property
    def posts(self):
        """Posts and comments."""
        return self._own("posts")

    @property
    def newest(self):
        """The newest posts in short form."""
        return self._own("newest")

    def sign_up(self, user_id: str, name: str) -> None:
        self.users.upsert_item({"id": user_id, "userId": user_id, "type": "user", "name": name})

    def post(self, user_id: str) -> str:
        post_id = f"post {self.written}"
        content = {"title": f"of {user_id}", "content": "word " * 50, "n": self.written}
        # Who is not known yet gets a name when the feed of users tells it.
        head = {"id": post_id, "postId": post_id, "type": "post", "userId": user_id, "userName": self.name(user_id)}
        self.posts.create_item({**head, **content})
        author = {"userId": USERS[0], "userName": self.name(USERS[0])}
        self.posts.create_item({"id": "1", "postId": post_id, "type": "comment", **author})
        self.written += 1
        return post_id

    def name(self, user_id: str) -> str:
        try:
            return self.users.read_item(user_id, user_id)["name"]
        except CosmosResourceNotFoundError:
            return "?"

    def on_users(self, changes: list[dict]) -> None:
        """Brings a name into the posts and comments that have another."""
        for user in changes:
            if user["type"] == "user":
                query = "SELECT DISTINCT VALUE c.postId FROM c WHERE c.userId = @id AND c.userName != @name"
                parameters = [{"name": "@id", "value": user["id"]}, {"name": "@name", "value": user["name"]}]
                found = self.posts.query_items(query, parameters=parameters, enable_cross_partition_query=True)
                for post_id in list(found):
                    self.posts.scripts.execute_stored_procedure(
                        self._rename, partition_key=post_id, params=[user["id"], user["name"]]
                    )

    def on_posts(self, changes: list[dict]) -> None:
        """Copies posts in short form to their author and into the list of the newest."""
        for post in changes:
            if post["type"] == "post":
                members = ("id", "postId", "type", "userId", "userName", "title", "n")
                short = {name: post[name] for name in members} | {"content": post["content"][:CONTENT_LENGTH]}
                self.users.upsert_item(short)
                try:
                    self.newest.create_item(short, post_trigger_include="keep-newest")
                except CosmosResourceExistsError:
                    self.newest.upsert_item(short)

    def is_consistent(self, names: dict[str, str]) -> bool:
        """Whether every copy says what the originals say."""
        originals = run(self.posts, "SELECT * FROM c")
        posts = sorted((one["n"], one["userName"]) for one in originals if one["type"] == "post")
        copies = run(self.users, "SELECT c.n, c.userName FROM c WHERE c.type = 'post'")
        listed = run(self.newest, "SELECT c.n, c.userName FROM c")
        return (
            len(posts) == self.written
            and all(one["userName"] == names[one["userId"]] for one in originals)
            and sorted((one["n"], one["userName"]) for one in copies) == posts
            and sorted((one["n"], one["userName"]) for one in listed) == posts[-NEWEST_MAX:]
        )


@pytest.fixture
def blog(make_container, server):
    with ExitStack() as stack:
        yield Blog(make_container, server.http, stack)


def test_copies_follow_the_originals(server, blog):
    names = {user_id: f"{user_id} the first" for user_id in USERS}
    for n in range(12):
        blog.post(USERS[n % len(USERS)])
    for user_id, name in names.items():
        blog.sign_up(user_id, name)
    with ExitStack() as stack:
        client = stack.enter_context(CosmosClient(server.http, KEY))
        hosts = [
            stack.enter_context(
                Processor(host, client, monitored.container_link, blog.leases[monitored_name].container_link, delegate)
            )
            for monitored_name, monitored, delegate in (
                ("users", blog.users, blog.on_users),
                ("posts", blog.posts, blog.on_posts),
            )
            for host in ("a", "b")
        ]
        until(lambda: blog.is_consistent(names), "what was there was not caught up with")

        names["eve"] = "eve the second"
        blog.sign_up("eve", names["eve"])
        blog.post("eve")
        until(lambda: blog.is_consistent(names), "the new name did not arrive everywhere")

        split(server, blog.posts, range="0")
        names["ada"] = "ada the second"
        blog.sign_up("ada", names["ada"])
        for user_id in USERS:
            blog.post(user_id)
        until(lambda: blog.is_consistent(names), "the split lost something")
        assert [failure for host in hosts for failure in host.failures] == []
