"""The hash of a partition key: ours and the SDK's, over ten thousand random keys of every kind and version.

Clients hash by themselves to find the physical partition of a key, so a single different bit sends requests astray.
"""

import json
import os
import random
import string
import subprocess
from pathlib import Path

import pytest
from azure.cosmos import PartitionKey

from server import REPOSITORY

KEYS = 10_000
SEED = 20_190_401
V1_TEXT_UNITS_MAX = 100

_ALPHABETS = [
    string.ascii_letters + string.digits,
    string.printable,
    "àéîõüßÅØæœ",
    "Ελληνικάкириллица",
    "日本語中文한국어",
    "😀🎉👩🏽‍💻𝒳𐍈",
    "\u0000\u007f\u0080\u07ff\u0800\uffff\U00010000\U0010ffff",
]


def _text(pick: random.Random) -> str:
    alphabet = pick.choice(_ALPHABETS)
    length = pick.choice([0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 99, 100, 101, 150, 400])
    return "".join(pick.choice(alphabet) for _ in range(length))


def _integer(pick: random.Random) -> int:
    return pick.choice(
        [0, 1, -1, 2**31, 2**32, 2**53, -(2**53), 2**63 - 1, -(2**63), pick.randint(-(2**63), 2**63 - 1)]
    )


def _float(pick: random.Random) -> float:
    return pick.choice(
        [0.0, -0.0, 0.1, -1.5, 5e-324, 1.7976931348623157e308, pick.uniform(-1e9, 1e9), pick.gauss(0, 1) * 1e-200]
    )


_KINDS = {
    "text": _text,
    "integer": _integer,
    "small integer": lambda pick: pick.randint(0, 2**32 - 1),
    "float": _float,
    "boolean": lambda pick: pick.choice([True, False]),
    "null": lambda _pick: None,
    "undefined": lambda _pick: {},
}


def _components(pick: random.Random, count: int) -> list:
    return [pick.choice(list(_KINDS.values()))(pick) for _ in range(count)]


def _is_wrong_in_the_sdk(value) -> bool:
    """Whether the SDK's version 1 of this value is known to differ from the service's."""
    if value is None:
        # It leaves out the marker of null after the hash.
        return True
    if isinstance(value, int) and not isinstance(value, bool):
        # It hashes integers modulo 2^32: wrong for negative and large ones. Floats are right.
        return not 0 <= value < 2**32
    if isinstance(value, str):
        # It cuts at 100 code points where the rule says 100 UTF-16 code units. They differ only for text outside the
        # basic plane, and only when the cut falls on it.
        return value[:V1_TEXT_UNITS_MAX] != _first_utf16_units(value, V1_TEXT_UNITS_MAX)
    return False


def _first_utf16_units(text: str, count: int) -> str:
    return text.encode("utf-16-le")[: 2 * count].decode("utf-16-le", errors="replace")


@pytest.fixture(scope="module")
def ours():
    """Hashes keys with the server's own code: one line in, one line out."""
    named = os.environ.get("ARMILLA_EPK")
    binary = Path(named) if named else REPOSITORY / "target" / "debug" / "examples" / "epk"
    if not named:
        subprocess.run(
            ["cargo", "build", "-q", "-p", "armilla-value", "--example", "epk"],
            cwd=REPOSITORY,
            check=True,
            timeout=1800,
        )

    def hash_all(version: str, keys: list[list]) -> list[str]:
        text = "".join(f"{version}\t{json.dumps(key, ensure_ascii=False)}\n" for key in keys)
        done = subprocess.run([binary], input=text.encode(), stdout=subprocess.PIPE, check=True, timeout=600)
        return done.stdout.decode().split("\n")[:-1]

    return hash_all


def _theirs(definition: PartitionKey, key: list) -> str:
    return definition._get_effective_partition_key_string(key).upper()


def _compare(ours, version: str, definition: PartitionKey, keys: list[list]) -> None:
    hashed = ours(version, keys)
    assert len(hashed) == len(keys)
    different = [
        (key, mine, theirs)
        for key, mine, theirs in zip(keys, hashed, (_theirs(definition, key) for key in keys), strict=True)
        if mine != theirs
    ]
    assert different == [], f"{len(different)} of {len(keys)} differ, the first: {different[0]}"


def test_version_2(ours):
    pick = random.Random(SEED)
    _compare(ours, "v2", PartitionKey("/a"), [_components(pick, 1) for _ in range(KEYS)])


def test_version_1(ours):
    pick = random.Random(SEED + 1)
    keys = []
    while len(keys) < KEYS:
        key = _components(pick, 1)
        if not _is_wrong_in_the_sdk(key[0]):
            keys.append(key)
    _compare(ours, "v1", PartitionKey("/a", version=1), keys)


def test_hierarchical(ours):
    pick = random.Random(SEED + 2)
    paths = ["/a", "/b", "/c"]
    definition = PartitionKey(paths, kind="MultiHash")
    _compare(ours, "multi", definition, [_components(pick, pick.randint(1, len(paths))) for _ in range(KEYS)])


@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        ("é", "05C1B3CD91912008C4AA00"),
        (None, "05C1ED45D7475601"),
        (-1, "05C1D1A5BDDF9C054010"),
        (-128, "05C1D73349F54C053FA0"),
    ],
)
def test_version_1_where_the_sdk_is_wrong_or_odd(ours, key, hashed):
    assert ours("v1", [[key]]) == [hashed]


def test_version_1_reads_a_hundred_units_of_text(ours):
    long, cut = ours("v1", [["a" * 101], ["a" * 100]])
    assert long == cut
    split, replaced = ours("v1", [["a" * 99 + "😀"], ["a" * 99 + "\ufffd"]])
    assert split == replaced, "half a surrogate pair is read as the replacement character"
