"""The published size table and the model of request charges built on it, written down a second time.

Units are 1/21 RU for reads and 4/21 RU for writes; the server is compared with these figures, not with itself.
"""

import itertools
import json

UNIT = 1 / 21
WRITE_UNIT = 4 / 21
FAILED_WRITE = 26 * UNIT
PATCH_OPERATION = 0.4

# kilobytes, read units, write units
_SIZES = [
    (1, 21, 26),
    (2, 22, 33),
    (4, 24, 35),
    (8, 28, 37),
    (16, 35, 50),
    (32, 46, 59),
    (64, 100, 119),
    (128, 209, 253),
    (256, 426, 516),
    (512, 860, 969),
    (1024, 3064, 3281),
    (2048, 6128, 6562),
]
_SYSTEM_PROPERTIES = {"_rid", "_self", "_etag", "_attachments", "_ts"}


def stored_bytes(item: dict) -> int:
    """Returns the length of an item as it is stored, system properties included."""
    return len(json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode())


def leaves(item: dict) -> set:
    """Returns the distinct (path, value) leaves the default policy indexes; positions in arrays do not count."""
    found = set()

    def walk(path: tuple, value) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                walk((*path, name), member)
        elif isinstance(value, list):
            for element in value:
                walk((*path, "[]"), element)
        else:
            found.add((path, type(value).__name__, value))

    walk((), {name: value for name, value in item.items() if name not in _SYSTEM_PROPERTIES})
    return found


def _units(item: dict, column: int) -> int:
    size = stored_bytes(item)
    if size <= 1024:
        return _SIZES[0][column]
    for low, high in itertools.pairwise(_SIZES):
        if size <= high[0] * 1024:
            rise = high[column] - low[column]
            return low[column] + rise * (size - low[0] * 1024) // ((high[0] - low[0]) * 1024)
    raise AssertionError("larger than any item")


def read(item: dict) -> float:
    """The price of a point read at session consistency."""
    return UNIT * _units(item, 1)


def create(item: dict, *, key_is_id: bool = False) -> float:
    """The price of creating an item, or of deleting it."""
    return WRITE_UNIT * (_units(item, 2) + 2 * len(leaves(item)) + (0 if key_is_id else 1))


def replace(old: dict, new: dict) -> float:
    """The price of replacing one item by another."""
    changed = len(leaves(old) ^ leaves(new))
    return WRITE_UNIT * (_units(old, 2) + _units(new, 2) + 2 * changed)


def patch(old: dict, new: dict, operations: int) -> float:
    """The price of a patch: a replace, and something for every operation."""
    return replace(old, new) + PATCH_OPERATION * operations
