"""A few rounds of killing the server while gremlinpython writes; `gremlin_crash.py` by itself plays more."""

import pytest

import gremlin_crash

# The driver cannot always end its event loop when it is collected.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
]

ROUNDS = 3
SEED = 20


def test_nothing_answered_is_lost_and_no_traversal_is_done_by_half(tmp_path):
    assert gremlin_crash.run(tmp_path, ROUNDS, SEED) == []
