"""The application of the blog platform in `blog_data`: each of its requests returns what it was charged in total."""

from blog_data import (
    FEED_PAGE_ITEMS,
    FEED_POSTS,
    PARTITION_THROUGHPUT,
    THROUGHPUT,
    Blog,
    Post,
    User,
    comment_item,
    like_item,
    post_item,
    user_item,
)
from metered import Metered
from server import Server

ROOMY_THROUGHPUT = PARTITION_THROUGHPUT

# Reads the post, counts one more, and adds the comment or like.
ADD_TO_POST = """function (postId, item, counter) {
    const collection = getContext().getCollection();
    collection.readDocument(`${collection.getAltLink()}/docs/${postId}`, (error, post) => {
        if (error) throw error;
        post[counter] += 1;
        collection.replaceDocument(post._self, post, (error) => {
            if (error) throw error;
            item.postId = postId;
            collection.createDocument(collection.getSelfLink(), item);
        });
    });
}"""


class FirstVersion:
    """Everything is looked up: names in the users' items, counts by counting."""

    version = 1

    def __init__(self, server: Server):
        database = f"blog-{self.version}"
        self.users = Metered(server, database, "users").make("/id", ROOMY_THROUGHPUT)
        self.posts = Metered(server, database, "posts").make("/postId", THROUGHPUT)
        self.ranges = [one["id"] for one in self.posts.ranges()]

    def load(self, blog: Blog) -> None:
        """Fills the containers."""
        everybody = [blog.user, *blog.users]
        self.users.load_ranges([("0", [(user.user_id, user_item(user, self.version)) for user in everybody])])
        self.posts.load_ranges(
            (range_id, [(post.post_id, post_item(post, self.version)) for post in posts])
            for range_id, posts in zip(self.ranges, blog.quiet_posts, strict=True)
        )
        self.posts.load_keys((post.post_id, blog.items(post, self.version)) for post in [*blog.posts, blog.post])

    def create_user(self, user: User) -> float:
        return self.users.create(user_item(user, self.version), user.user_id)

    def user(self, user_id: str) -> float:
        return self.users.read(user_id, user_id)

    def create_post(self, post: Post) -> float:
        return self.posts.create(post_item(post, self.version), post.post_id)

    def create_comment(self, item_id: str, post: Post, author: User) -> float:
        return self.posts.create(comment_item(item_id, post, author, self.version, post.date), post.post_id)

    def create_like(self, item_id: str, post: Post, author: User) -> float:
        return self.posts.create(like_item(item_id, post, author, self.version, post.date), post.post_id)

    def post(self, post: Post) -> float:
        return self.posts.read(post.post_id, post.post_id) + self._author_and_counts(post.post_id, post.author.user_id)

    def _author_and_counts(self, post_id: str, user_id: str) -> float:
        return self.user(user_id) + self._counts(post_id)

    def _counts(self, post_id: str) -> float:
        total = 0.0
        for kind in ("comment", "like"):
            text = f"SELECT VALUE COUNT(1) FROM c WHERE c.postId = '{post_id}' AND c.type = '{kind}'"
            rows, charge = self.posts.query(text, post_id)
            assert rows[0] > 1
            total += charge
        return total

    def posts_of(self, user: User) -> tuple[list[dict], float]:
        posts, total = self._posts_of(user)
        return posts, total + self.user(user.user_id) + sum(self._counts(post["id"]) for post in posts)

    def _posts_of(self, user: User) -> tuple[list[dict], float]:
        text = f"SELECT * FROM c WHERE c.userId = '{user.user_id}' AND c.type = 'post'"
        posts, total = [], 0.0
        for range_id in self.ranges:
            rows, charge = self.posts.query_range(text, range_id)
            posts += rows
            total += charge
        return posts, total

    def comments(self, post: Post) -> tuple[list[dict], float]:
        rows, total = self._about(post, "comment")
        return rows, total + sum(self.user(row["userId"]) for row in rows)

    def likes(self, post: Post) -> tuple[list[dict], float]:
        rows, total = self._about(post, "like")
        return rows, total + sum(self.user(row["userId"]) for row in rows)

    def _about(self, post: Post, kind: str) -> tuple[list[dict], float]:
        text = f"SELECT * FROM c WHERE c.postId = '{post.post_id}' AND c.type = '{kind}'"
        return self.posts.query(text, post.post_id)

    def feed(self) -> tuple[list[dict], float]:
        posts, total = self._feed()
        return posts, total + sum(self._author_and_counts(post["id"], post["userId"]) for post in posts)

    def _feed(self) -> tuple[list[dict], float]:
        text = f"SELECT TOP {FEED_POSTS} * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC"
        rewritten = self.posts.rewritten(text)
        found, total = [], 0.0
        for range_id in self.ranges:
            rows, charge = self.posts.query_range(rewritten, range_id, pages_max=1, max_item_count=str(FEED_PAGE_ITEMS))
            assert len(rows) == FEED_PAGE_ITEMS
            found += rows
            total += charge
        found.sort(key=lambda row: row["orderByItems"][0]["item"], reverse=True)
        return [row["payload"] for row in found[:FEED_POSTS]], total


class SecondVersion(FirstVersion):
    """Items carry the names and counts that are shown with them; procedures keep the counts in step."""

    version = 2

    def __init__(self, server: Server):
        super().__init__(server)
        self.posts.register("addToPost", ADD_TO_POST)

    def create_comment(self, item_id: str, post: Post, author: User) -> float:
        comment = comment_item(item_id, post, author, self.version, post.date)
        return self.posts.call("addToPost", post.post_id, comment, "commentCount", key=post.post_id)

    def create_like(self, item_id: str, post: Post, author: User) -> float:
        like = like_item(item_id, post, author, self.version, post.date)
        return self.posts.call("addToPost", post.post_id, like, "likeCount", key=post.post_id)

    def post(self, post: Post) -> float:
        return self.posts.read(post.post_id, post.post_id)

    def posts_of(self, user: User) -> tuple[list[dict], float]:
        return self._posts_of(user)

    def comments(self, post: Post) -> tuple[list[dict], float]:
        return self._about(post, "comment")

    def likes(self, post: Post) -> tuple[list[dict], float]:
        return self._about(post, "like")

    def feed(self) -> tuple[list[dict], float]:
        return self._feed()


class ThirdVersion:
    """Shortened copies of the posts lie with their author, and the newest in a container of their own."""

    version = 3

    def __init__(self, server: Server):
        self.users = Metered(server, "blog-3", "users").make("/userId", ROOMY_THROUGHPUT)
        self.newest = Metered(server, "blog-3", "feed").make("/type", ROOMY_THROUGHPUT)

    def load(self, blog: Blog) -> None:
        """Fills the containers."""
        users = [(user.user_id, user_item(user, self.version)) for user in [blog.user, *blog.users]]
        posts = [(post.author.user_id, post_item(post, self.version)) for post in blog.posts]
        self.users.load_ranges([("0", users + posts)])
        self.newest.load_keys([("post", [post_item(post, self.version) for post in blog.posts[:FEED_POSTS]])])

    def create_user(self, user: User) -> float:
        return self.users.create(user_item(user, self.version), user.user_id)

    def user(self, user_id: str) -> float:
        return self.users.read(user_id, user_id)

    def posts_of(self, user: User) -> tuple[list[dict], float]:
        text = f"SELECT * FROM c WHERE c.userId = '{user.user_id}' AND c.type = 'post'"
        return self.users.query(text, user.user_id)

    def feed(self) -> tuple[list[dict], float]:
        text = f"SELECT TOP {FEED_POSTS} * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC"
        return self.newest.query(text, "post")
