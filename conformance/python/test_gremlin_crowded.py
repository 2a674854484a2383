"""Vertices with few and very many edges: what is remembered of neighbours is what is there when several write, on one
and on several physical partitions."""

import random
import threading
from collections import Counter, defaultdict

from gremlin import connect, run
from partitions import split

VERTICES = 24
WRITERS = 3
WRITES = 220
# More edges of a vertex than are looked up without a query.
CROWD = 128


def partition(vertex: int) -> str:
    """Returns the logical partition of a vertex."""
    return f"pk-{vertex % 5}"


class Writer:
    """Adds and drops edges of vertices that are its own, and counts them after each write in two ways."""

    def __init__(self, server, graph: str, number: int):
        self.client = connect(server, graph)
        self.number = number
        self.differences: list = []

    def run(self) -> None:
        """Does all its writes."""
        chance = random.Random(f"crowded-{self.number}")
        own = range(self.number, VERTICES, WRITERS)
        try:
            for _ in range(WRITES):
                # Most are for one vertex, which becomes crowded.
                source = own[0] if chance.random() < 0.75 else chance.choice(own)
                target = chance.randrange(VERTICES)
                ends = {"s": f"v{source}", "p": partition(source), "t": f"v{target}", "q": partition(target)}
                if chance.random() < 0.1:
                    run(self.client, "g.V([p, s]).outE('to').limit(1).drop()", ends)
                else:
                    run(self.client, "g.V([p, s]).addE('to').to(g.V([q, t]))", ends)
                over = run(self.client, "g.V([p, s]).out('to').count()", ends)
                edges = run(self.client, "g.V([p, s]).outE('to').count()", ends)
                other = run(self.client, "g.V([p, s]).out('never').count()", ends)
                if over != edges or other != [0]:
                    self.differences.append((ends, over, edges, other))
        except Exception as error:  # told by the test, which runs in another thread
            self.differences.append(error)


def let_write(server, graph: str, round_number: int) -> None:
    """Lets all writers write at once."""
    writers = [Writer(server, graph, number) for number in range(WRITERS)]
    threads = [threading.Thread(target=writer.run, daemon=True) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
    assert [writer.differences for writer in writers] == [[]] * WRITERS, f"round {round_number}"
    for writer in writers:
        writer.client.close()


def compare(client, container) -> int:
    """Compares hops from every vertex with the list of edges that SQL gives; returns the edges of the most crowded."""
    edges = container.query_items(
        "SELECT VALUE {s: c._vertexId, t: c._sink} FROM c WHERE c._isEdge", enable_cross_partition_query=True
    )
    out, into = defaultdict(Counter), defaultdict(Counter)
    for edge in edges:
        out[edge["s"]][edge["t"]] += 1
        into[edge["t"]][edge["s"]] += 1
    for number in range(VERTICES):
        name = f"v{number}"
        place = {"s": name, "p": partition(number)}
        assert Counter(run(client, "g.V([p, s]).out('to').id()", place)) == out[name]
        assert Counter(run(client, "g.V([p, s]).in('to').id()", place)) == into[name]
        two = Counter()
        for neighbour, times in out[name].items():
            for further, more in out[neighbour].items():
                two[further] += times * more
        grouped = run(client, "g.V([p, s]).out('to').out('to').groupCount().by(id)", place)
        assert Counter(grouped[0] if grouped else {}) == two
    return max(sum(targets.values()) for targets in out.values())


def test_remembered_neighbours_are_those_that_are_there(free_server, free_container, free_graph):
    client = connect(free_server, free_graph)
    for number in range(VERTICES):
        place = {"s": f"v{number}", "p": partition(number)}
        run(client, "g.addV('thing').property('id', s).property('pk', p)", place)
    let_write(free_server, free_graph, 1)
    assert compare(client, free_container) > CROWD
    assert split(free_server, free_container) == ["1", "2"]
    compare(client, free_container)
    let_write(free_server, free_graph, 2)
    assert compare(client, free_container) > 2 * CROWD
    # The other door writes too, and takes away.
    ids = free_container.query_items(
        "SELECT c.id, c.pk FROM c WHERE c._isEdge AND c._vertexId = 'v0'", enable_cross_partition_query=True
    )
    for edge in list(ids)[3:]:
        free_container.delete_item(edge["id"], edge["pk"])
    assert run(client, "g.V(['pk-0', 'v0']).out().count()") == [3]
    compare(client, free_container)
    client.close()
