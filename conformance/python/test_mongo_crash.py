"""A few rounds of killing the server while PyMongo writes; `mongo_crash.py` by itself plays more."""

import mongo_crash

ROUNDS = 3
SEED = 20


def test_nothing_answered_is_lost_and_nothing_is_done_twice(tmp_path):
    assert mongo_crash.run(tmp_path, ROUNDS, SEED) == []
