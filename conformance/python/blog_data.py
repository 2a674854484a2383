"""The data of a blog platform: users, and posts with their comments and likes, in three versions of the data model.

It is the worked example behind the published charges, with the sizes and counts that the model of charges assumes:
as many posts, comments and likes, and texts as long. In the first version items refer to each other alone; in the
second they carry names and counts of what they refer to; in the third there are shortened copies of the posts.
"""

import math
import random
import uuid
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from azure.cosmos import PartitionKey

THROUGHPUT = 400_000
PARTITION_THROUGHPUT = 6_000
RANGES = math.ceil(THROUGHPUT / PARTITION_THROUGHPUT)

FEED_POSTS = 100
# Of a cross-partition TOP the official SDKs ask every partition for five times an even share.
FEED_PAGE_ITEMS = min(math.ceil(FEED_POSTS / RANGES) * 5, FEED_POSTS)

# As many as a page of the feed shows of a partition: the page walks over everything that happened since the oldest.
POSTS_PER_RANGE = FEED_PAGE_ITEMS
POSTS = POSTS_PER_RANGE * RANGES
COMMENTS = (12, 13)
LIKES = 50
# Older ones that nobody answered; with so many a partition is read in the order of dates rather than sorted.
QUIET_POSTS_PER_RANGE = 100
POSTS_OF_THE_USER = 27
COMMENTS_OF_THE_POST = 20
OTHER_USERS = 100

POST_TEXT = "p" * 1_300
COMMENT_TEXT = "c" * 1_490
SHORT_TEXT_CHARACTERS = 100
TITLE = "a title of exactly forty characters long"

# Bytes as they are stored, system properties included.
STORED_BYTES = {
    ("user", 1): 278,
    ("post", 1): 1_770,
    ("comment", 1): 1_912,
    ("like", 1): 406,
    ("post", 2): 1_835,
    ("comment", 2): 1_944,
    ("like", 2): 438,
    ("post", 3): 635,
}

_SEED = 20_190_523
_NEWEST = datetime(2019, 5, 23, 12, tzinfo=UTC)
_OLD = _NEWEST - timedelta(days=30)
_MINUTE = timedelta(minutes=1)


@dataclass
class User:
    """Somebody who writes."""

    user_id: str
    name: str


@dataclass
class Post:
    """A post, and what was written about it."""

    post_id: str
    author: User
    date: datetime
    comment_authors: list[User]
    like_authors: list[User]


class Blog:
    """Everything that the containers are filled with."""

    def __init__(self, range_starts: list[str]):
        self._random = random.Random(_SEED)
        self.users = [User(self.new_id(), f"user-{number:09}") for number in range(OTHER_USERS)]
        self.user = User(self.new_id(), "tested-user-00")
        # Every 25th post of the newest is the tested user's: as many with few comments as with many.
        step = POSTS // POSTS_OF_THE_USER | 1
        mine = {step * number for number in range(POSTS_OF_THE_USER)}
        ids = self._post_ids(range_starts)
        newest = [post_id for turn in range(POSTS_PER_RANGE) for post_id in (of_range[turn] for of_range in ids)]
        self.posts = [
            Post(
                post_id,
                self.user if number in mine else self.users[number % OTHER_USERS],
                _NEWEST - number * _MINUTE,
                self.users[: COMMENTS[number % 2]],
                self.users[:LIKES],
            )
            for number, post_id in enumerate(newest)
        ]
        self.quiet_posts = [
            [Post(post_id, self.users[0], _OLD, [], []) for post_id in of_range[POSTS_PER_RANGE:]] for of_range in ids
        ]
        self.post = self.old_post()
        self.post.comment_authors = self.users[:COMMENTS_OF_THE_POST]
        self.post.like_authors = self.users[:LIKES]

    def new_id(self) -> str:
        """Returns an id that nothing has."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def old_post(self) -> Post:
        """Returns a post of its own, older than all that are listed anywhere."""
        return Post(self.new_id(), self.users[0], _OLD, [], [])

    def _post_ids(self, range_starts: list[str]) -> list[list[str]]:
        """Returns ids of posts, equally many of each range."""
        key = PartitionKey("/postId")
        wanted = POSTS_PER_RANGE + QUIET_POSTS_PER_RANGE
        found: list[list[str]] = [[] for _ in range_starts]
        missing = wanted * len(found)
        while missing > 0:
            post_id = self.new_id()
            hashed = key._get_effective_partition_key_string([post_id]).upper()
            ids = found[bisect_right(range_starts, hashed) - 1]
            if len(ids) < wanted:
                ids.append(post_id)
                missing -= 1
        return found

    def items(self, post: Post, version: int) -> list[dict]:
        """Returns a post with its comments and likes, which came after it and before the next post of its range."""
        authors = [("comment", author) for author in post.comment_authors]
        authors += [("like", author) for author in post.like_authors]
        self._random.shuffle(authors)
        between = RANGES * _MINUTE / (len(authors) + 1)
        items = [post_item(post, version)]
        for number, (kind, author) in enumerate(authors, start=1):
            made = comment_item if kind == "comment" else like_item
            items.append(made(self.new_id(), post, author, version, post.date + number * between))
        return items


def user_item(user: User, version: int) -> dict:
    """Returns the item of a user."""
    if version < 3:
        return {"id": user.user_id, "username": user.name}
    return {"id": user.user_id, "type": "user", "userId": user.user_id, "username": user.name}


def post_item(post: Post, version: int) -> dict:
    """Returns the item of a post; of the third version the shortened copy."""
    head = {"id": post.post_id, "type": "post", "postId": post.post_id, "userId": post.author.user_id}
    written = {"title": TITLE, "content": POST_TEXT}
    date = {"creationDate": date_text(post.date)}
    if version == 1:
        return head | written | date
    counts = {"commentCount": len(post.comment_authors) or 10, "likeCount": len(post.like_authors) or 10}
    if version == 3:
        written["content"] = POST_TEXT[:SHORT_TEXT_CHARACTERS]
    return head | {"userUsername": post.author.name} | written | counts | date


def comment_item(item_id: str, post: Post, author: User, version: int, date: datetime) -> dict:
    """Returns the item of a comment."""
    return _about("comment", item_id, post, author, version) | {
        "content": COMMENT_TEXT,
        "creationDate": date_text(date),
    }


def like_item(item_id: str, post: Post, author: User, version: int, date: datetime) -> dict:
    """Returns the item of a like."""
    return _about("like", item_id, post, author, version) | {"creationDate": date_text(date)}


def _about(kind: str, item_id: str, post: Post, author: User, version: int) -> dict:
    about = {"id": item_id, "type": kind, "postId": post.post_id, "userId": author.user_id}
    return about if version == 1 else about | {"userUsername": author.name}


def date_text(date: datetime) -> str:
    """Returns a date in 28 characters, with seven decimals of the second."""
    return f"{date:%Y-%m-%dT%H:%M:%S.%f}0Z"
