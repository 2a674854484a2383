"""A few kills and pauses of nodes while clients use the account; `cluster_chaos.py` by itself plays more."""

import cluster_chaos
from cluster_history import WRITES

SEED = 20
# Enough that a run in which clients hardly did anything is noticed.
OPERATIONS_MIN = 500


def test_clients_of_several_nodes_see_one_account_through_kills_and_pauses(tmp_path):
    chosen = ["--kills", "3", "--pauses", "2", "--clients", "8", "--lease-seconds", "3", "--store", "file"]
    options = cluster_chaos.arguments().parse_args([*chosen, "--seed", str(SEED)])
    verdict = cluster_chaos.run(tmp_path, options)
    # How soon partitions were served again is for a machine that does nothing else.
    assert [wrong for wrong in verdict.wrong if "served again" not in wrong] == []
    assert verdict.undecided == []
    figures = verdict.figures
    assert figures["troubles"] == {"kill": 3, "pause": 2}
    # All of it was tried: every kind of operation succeeded, and some were refused.
    assert figures["operations"] > OPERATIONS_MIN
    assert figures["done"].keys() == WRITES | {"read"}
    assert figures["refused_for_the_state"] > 0
    # A reader in every process of clients.
    assert len(figures["feed_readers"]) == 2
    assert all(count == figures["versions"] for count in figures["feed_readers"].values())
    # Nodes had partitions, and lost them.
    assert figures["availability"]["kill"]["seconds_until_hurt_served_again"]["count"] > 0
