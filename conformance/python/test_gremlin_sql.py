"""One graph, two doors: what Gremlin writes is read by SQL and the other way round, also while partitions split."""

import random
import threading
import uuid

import pytest
from azure.cosmos import CosmosClient

from gremlin import connect, run
from load import Crowd
from partitions import merge, split, until
from sdk import through, without_system_properties
from server import KEY

PARTITIONS = [f"pk-{n}" for n in range(8)]
ELEMENTS_MAX = 60
# What each worker does between two changes.
STEPS = 15


class Worker:
    """A client of both APIs that writes by one of them and looks by the other, with elements of its own."""

    def __init__(self, name: str, gremlin_client, container):
        self.name = name
        self.client = gremlin_client
        self.container = container
        # Vertices by partition and id, with their number; edges likewise, with the vertices at both ends.
        self.vertices: dict[tuple[str, str], int] = {}
        self.edges: dict[tuple[str, str], tuple[tuple[str, str], tuple[str, str]]] = {}
        self.done = 0
        self.items: dict = {}
        self._random = random.Random(name)
        self._made = 0

    def run(self, stop: threading.Event) -> None:
        """Works until it is told to stop."""
        while not stop.is_set():
            self.step()
            self.done += 1

    def step(self) -> None:
        """Writes one thing, and looks at it through the other door."""
        chance = self._random.random()
        if len(self.vertices) < 3 or (chance < 0.3 and len(self.vertices) < ELEMENTS_MAX):
            place, n = self.fresh("v"), self._random.randrange(1000)
            self.add_vertex(place, n)
            self.vertices[place] = n
            self.look_at_vertex(place)
        elif chance < 0.65:
            source, target = self.any_vertex(), self.any_vertex()
            place = (source[0], self.fresh("e")[1])
            self.add_edge(place, source, target)
            self.edges[place] = (source, target)
            self.look_at_edge(place)
        elif chance < 0.85:
            place, n = self.any_vertex(), self._random.randrange(1000)
            self.change(place, n)
            self.vertices[place] = n
            self.look_at_vertex(place)
        else:
            place = self.any_vertex()
            edges = [edge for edge, ends in self.edges.items() if place in ends]
            self.drop(place, edges)
            del self.vertices[place]
            for edge in edges:
                del self.edges[edge]
            self.look_for(place)

    def fresh(self, kind: str) -> tuple[str, str]:
        """Returns a place that was never used."""
        self._made += 1
        return self._random.choice(PARTITIONS), f"{self.name}-{kind}-{self._made}"

    def any_vertex(self) -> tuple[str, str]:
        """Returns one of the vertices that are there."""
        return self._random.choice(list(self.vertices))

    def same(self, found, expected) -> None:
        """Fails where the other door shows something else."""
        if found != expected:
            raise AssertionError(f"{self.name}: found {found}, not {expected}")


class GremlinWorker(Worker):
    """Writes by Gremlin, looks by SQL."""

    def add_vertex(self, place, n) -> None:
        script = "g.addV('person').property('id',i).property('pk',p).property('owner',o).property('n',n)"
        run(self.client, script, {"p": place[0], "i": place[1], "o": self.name, "n": n})

    def add_edge(self, place, source, target) -> None:
        script = "g.V([p,a]).addE('knows').property('id',e).property('owner',o).to(g.V([q,b]))"
        names = {"p": source[0], "a": source[1], "e": place[1], "o": self.name, "q": target[0], "b": target[1]}
        run(self.client, script, names)

    def change(self, place, n) -> None:
        names = {"p": place[0], "i": place[1], "n": n}
        self.same(run(self.client, "g.V([p,i]).property('n',n).id()", names), [place[1]])

    def drop(self, place, edges) -> None:
        run(self.client, "g.V([p,i]).drop()", {"p": place[0], "i": place[1]})

    def look_at_vertex(self, place) -> None:
        item = self.container.read_item(place[1], place[0])
        self.same((item["label"], item["owner"][0]["_value"]), ("person", self.name))
        self.same([value["_value"] for value in item["n"]], [self.vertices[place]])

    def look_at_edge(self, place) -> None:
        source, target = self.edges[place]
        item = without_system_properties(self.container.read_item(place[1], place[0]))
        expected = {
            "id": place[1],
            "pk": place[0],
            "label": "knows",
            "owner": self.name,
            "_isEdge": True,
            "_vertexId": source[1],
            "_vertexLabel": "person",
            "_sink": target[1],
            "_sinkLabel": "person",
            "_sinkPartition": target[0],
        }
        self.same(item, expected)

    def look_for(self, place) -> None:
        query = "SELECT VALUE c.id FROM c WHERE c.id = @id OR c._vertexId = @id OR c._sink = @id"
        parameters = [{"name": "@id", "value": place[1]}]
        found = self.container.query_items(query, parameters=parameters, enable_cross_partition_query=True)
        self.same(list(found), [])


class SqlWorker(Worker):
    """Writes items in the form of a graph, looks by Gremlin."""

    def add_vertex(self, place, n) -> None:
        self.container.create_item(self.vertex(place, n))

    def vertex(self, place, n) -> dict:
        # Some as the service stores them, some plain.
        is_plain = self._random.random() < 0.5
        value = n if is_plain else [{"id": str(uuid.UUID(int=self._random.getrandbits(128))), "_value": n}]
        return {"id": place[1], "pk": place[0], "label": "person", "owner": self.name, "n": value}

    def add_edge(self, place, source, target) -> None:
        item = {
            "id": place[1],
            "pk": place[0],
            "label": "knows",
            "owner": self.name,
            "_isEdge": True,
            "_vertexId": source[1],
            "_vertexLabel": "person",
            "_sink": target[1],
            "_sinkLabel": "person",
            "_sinkPartition": target[0],
        }
        self.container.create_item(item)

    def change(self, place, n) -> None:
        self.container.upsert_item(self.vertex(place, n))

    def drop(self, place, edges) -> None:
        for partition, id in edges:
            self.container.delete_item(id, partition)
        self.container.delete_item(place[1], place[0])

    def look_at_vertex(self, place) -> None:
        script = "g.V([p,i]).project('label','owner','n').by(label).by('owner').by(values('n').fold())"
        found = run(self.client, script, {"p": place[0], "i": place[1]})
        self.same(found, [{"label": "person", "owner": self.name, "n": [self.vertices[place]]}])

    def look_at_edge(self, place) -> None:
        source, target = self.edges[place]
        out = run(self.client, "g.V([p,i]).outE('knows').id()", {"p": source[0], "i": source[1]})
        self.same(sorted(out), sorted(edge[1] for edge, ends in self.edges.items() if ends[0] == source))
        into = run(self.client, "g.V([p,i]).inE('knows').id()", {"p": target[0], "i": target[1]})
        self.same(sorted(into), sorted(edge[1] for edge, ends in self.edges.items() if ends[1] == target))
        ends = run(self.client, "g.E([p,e]).bothV().values('n')", {"p": place[0], "e": place[1]})
        self.same(ends, [self.vertices[source], self.vertices[target]])

    def look_for(self, place) -> None:
        self.same(run(self.client, "g.V(i)", {"i": place[1]}), [])


@pytest.fixture
def workers(free_server, free_graph, free_container):
    """Clients that write through both doors."""
    clients = [connect(free_server, free_graph) for _ in range(4)]
    sql = [CosmosClient(free_server.http, KEY) for _ in range(4)]
    containers = [through(client, free_container) for client in sql]
    kinds = [GremlinWorker, SqlWorker, GremlinWorker, SqlWorker]
    yield [
        kind(f"w{n}", client, container)
        for n, (kind, client, container) in enumerate(zip(kinds, clients, containers, strict=True))
    ]
    for client in clients:
        client.close()
    for client in sql:
        client.__exit__(None, None, None)


def test_both_doors_show_the_same_while_partitions_split(free_server, free_container, workers):
    with Crowd(workers) as crowd:

        def let_work() -> None:
            """Waits until each has done some more, in partitions that have something in them."""
            before = [worker.done for worker in workers]

            def has_worked() -> bool:
                done = [worker.done for worker in workers]
                return crowd.failures != [] or all(now >= then + STEPS for now, then in zip(done, before, strict=True))

            until(has_worked, "the workers do not get on")

        let_work()
        assert split(free_server, free_container) == ["1", "2"]
        let_work()
        assert split(free_server, free_container, range="1") == ["3", "4", "2"]
        let_work()
        assert merge(free_server, free_container, "4", "2") == ["3", "5"]
        let_work()
        assert split(free_server, free_container, range="3") == ["6", "7", "5"]
        let_work()
    client = workers[0].client
    query = "SELECT c.pk, c.id, IS_DEFINED(c._isEdge) AS is_edge FROM c"
    rows = list(free_container.query_items(query, enable_cross_partition_query=True))
    vertices = sorted(place for worker in workers for place in worker.vertices)
    edges = sorted(place for worker in workers for place in worker.edges)
    assert sorted((row["pk"], row["id"]) for row in rows if not row["is_edge"]) == vertices
    assert sorted((row["pk"], row["id"]) for row in rows if row["is_edge"]) == edges
    found = run(client, "g.V().project('pk','id').by('pk').by(id)")
    assert sorted((row["pk"], row["id"]) for row in found) == vertices
    assert sorted(run(client, "g.E().id()")) == sorted(id for _, id in edges)
    assert run(client, "g.V().count()") == [len(vertices)]
    assert run(client, "g.E().count()") == [len(edges)]
    for worker in workers:
        numbers = run(client, "g.V().has('owner',o).values('n')", {"o": worker.name})
        assert sorted(numbers) == sorted(worker.vertices.values())
        ends = run(client, "g.E().has('owner',o).project('a','b').by(outV().id()).by(inV().id())", {"o": worker.name})
        expected = sorted((source[1], target[1]) for source, target in worker.edges.values())
        assert sorted((row["a"], row["b"]) for row in ends) == expected
