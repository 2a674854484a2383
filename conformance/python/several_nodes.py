"""What the suite does not ask of an account that several nodes serve, and why: docs/cluster.md says it to people."""

from collections.abc import Iterator

BACKUP = "a backup is taken by a server that serves the account alone"
REGIONS = "regions that are tried out are those of one node"
SHARED = "each node counts the shared throughput of a database for the partitions that it has"
NOTICED = "other nodes notice a setting of the tables within 30 s"
ONE_PROCESS = "it is about what one process shows or has on its disk"
ADDRESS = "clients of MongoDB go to the address that a node tells, and the suite's balancer is another"
FAIL_POINTS = "fail points are of the node that is asked"
ORDER = "streams of several collections put what different nodes wrote into the order of their clocks"
ONE_PORT = "the port is fixed, and nodes on one machine would share it"

DIFFERENT = {
    "test_backup.py": BACKUP,
    "test_regions.py": REGIONS,
    "test_throttling.py::test_containers_share_the_budget_of_their_database": SHARED,
    "test_table_service.py::TestServicePropertiesOfStorage": NOTICED,
    "test_table_access.py::TestStoredPolicies": NOTICED,
    "test_table_wire.py::test_requests_from_other_origins": NOTICED,
    "test_table_access.py::test_the_short_form_of_the_storage_emulator": ONE_PORT,
    "test_partition_figures.py::test_metrics_say_the_same": ONE_PROCESS,
    "test_progress.py::test_a_check_leaves_nothing_but_its_result": ONE_PROCESS,
    "test_bench_command.py": ONE_PROCESS,
    "test_store.py": ONE_PROCESS,
    "test_mongo_handshake.py": ADDRESS,
    "test_mongo_tools.py::test_the_state_of_the_set": ADDRESS,
    "test_mongo_fail_points.py": FAIL_POINTS,
    "test_mongo_change_streams.py::test_collections_are_told_in_the_order_of_their_writes": ORDER,
    "test_mongo_restart.py": ONE_PROCESS,
    "test_mongo_crash.py": ONE_PROCESS,
    "test_explorer.py": ONE_PROCESS,
    "test_cluster_": ONE_PROCESS,
    "test_nodes.py": ONE_PROCESS,
    "test_nodes_network.py": ONE_PROCESS,
}


def reasons(node_id: str) -> Iterator[str]:
    """Returns why a test is not run, if it is not."""
    name = node_id.rsplit("/", 1)[-1]
    return (reason for beginning, reason in DIFFERENT.items() if name.startswith(beginning))
