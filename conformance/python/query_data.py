"""Items of every type, and a second reading of the query language in Python, to compare the server with."""

import itertools
import math

# 40 keys, enough for every one of four physical partitions.
DEVICE_COUNT = 40
ITEM_COUNT = 320


class Missing:
    """What an item does not have; never equal to anything."""

    def __repr__(self) -> str:
        return "missing"


MISSING = Missing()

_MIXED = [
    MISSING,
    None,
    False,
    True,
    -7.25,
    0,
    3,
    2**53 + 1,
    "",
    "B",
    "a",
    "zebra",
    "é",
    [1, 2],
    {"k": 1},
]
_WORDS = ["apple", "Apricot", "banana", "cherry", "cherry pie", "date", "Elder", "fig"]


def items() -> list[dict]:
    """Returns the items, in the order in which they are created."""
    made = []
    for n in range(ITEM_COUNT):
        item = {
            "id": f"item {n}",
            "device": f"device {n % DEVICE_COUNT}",
            "n": n,
            "half": n / 2,
            "band": n % 7,
            "word": _WORDS[n % len(_WORDS)],
            "nested": {"x": n % 5, "list": [n % 3, n % 4]},
            "tags": [f"tag {k}" for k in range(n % 4)],
        }
        mixed = _MIXED[n % len(_MIXED)]
        if mixed is not MISSING:
            item["mixed"] = mixed
        made.append(item)
    return made


def get(item, *path):
    """Returns the value at a path, or MISSING."""
    for name in path:
        is_member = isinstance(item, dict) and name in item
        is_element = isinstance(item, list) and isinstance(name, int) and name < len(item)
        if not (is_member or is_element):
            return MISSING
        item = item[name]
    return item


def type_rank(value) -> int:
    """Returns the place of a value's type in the order of types."""
    if value is MISSING:
        return 0
    if value is None:
        return 1
    if isinstance(value, bool):
        return 3 if value else 2
    if isinstance(value, (int, float)):
        return 4
    if isinstance(value, str):
        return 5
    return 6 if isinstance(value, list) else 7


def order_key(value) -> tuple:
    """Returns what sorts as ORDER BY does; arrays and objects are equal among themselves."""
    rank = type_rank(value)
    if rank == 4:
        return rank, value
    if rank == 5:
        return rank, value.encode("utf-16-be")
    return (rank,)


def greater(left, right) -> bool:
    """Says whether `left > right` is true in the query language."""
    comparable = type_rank(left) == type_rank(right) in (4, 5)
    return comparable and order_key(left) > order_key(right)


def group(rows: list[dict], *path) -> dict:
    """Groups items by the value at a path; the key is comparable and hashable."""
    ordered = sorted(rows, key=lambda row: order_key(get(row, *path)))
    return {key: list(members) for key, members in itertools.groupby(ordered, lambda row: order_key(get(row, *path)))}


def same_number(left: float, right: float) -> bool:
    """Says whether two sums are the same but for the order of their addition."""
    return math.isclose(left, right, rel_tol=1e-12)
