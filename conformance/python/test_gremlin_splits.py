"""Graphs while their physical partitions split and merge: traversals find the same, and nothing written is lost."""

import random
import threading
import uuid

import pytest
from gremlin_python.driver.serializer import GraphBinarySerializersV1

from gremlin import connect, run, url
from gremlin_writers import Door, Judge, Writer
from load import Crowd
from partitions import merge, split, until

PARTITIONS = 20
VERTICES = 400
WRITERS = 4
# What each writer does between two changes.
STEPS = 30


def vertex(n: int) -> dict:
    """Returns a vertex as the service stores it."""
    value = [{"id": str(uuid.UUID(int=n)), "_value": n}]
    return {"id": f"v-{n}", "pk": partition(n), "label": "odd" if n % 2 else "even", "n": value}


def edge(label: str, source: int, target: int) -> dict:
    """Returns an edge as the service stores it."""
    return {
        "id": f"{label}-{source}",
        "pk": partition(source),
        "label": label,
        "x": source,
        "_isEdge": True,
        "_vertexId": f"v-{source}",
        "_vertexLabel": vertex(source)["label"],
        "_sink": f"v-{target}",
        "_sinkLabel": vertex(target)["label"],
        "_sinkPartition": partition(target),
    }


def partition(n: int) -> str:
    """Returns the logical partition of a vertex."""
    return f"pk-{n % PARTITIONS}"


def load_graph(container) -> None:
    """A ring of vertices, with edges across it: each leads to the next and to one that is far away."""
    for place in range(PARTITIONS):
        numbers = range(place, VERTICES, PARTITIONS)
        items = [vertex(n) for n in numbers]
        items += [edge("next", n, (n + 1) % VERTICES) for n in numbers]
        items += [edge("far", n, n * 7 % VERTICES) for n in numbers]
        container.execute_item_batch([("create", (item,)) for item in items], partition_key=partition(place))


TRAVERSALS = {
    "g.V().count()": [VERTICES],
    "g.E().count()": [2 * VERTICES],
    "g.V('v-3').out().id()": ["v-4", "v-21"],
    "g.V(['pk-3','v-3']).out('far').id()": ["v-21"],
    "g.V('v-4').in('next').id()": ["v-3"],
    "g.V(['pk-1','v-21']).in('far').id()": [f"v-{n}" for n in range(VERTICES) if n * 7 % VERTICES == 21],
    "g.V().has('n',lt(10)).values('n')": list(range(10)),
    "g.V().has('pk','pk-7').id()": [f"v-{n}" for n in range(7, VERTICES, PARTITIONS)],
    "g.V().has('pk',within('pk-1','pk-2')).has('n',between(100,200)).id()": [
        f"v-{n}" for n in range(100, 200) if n % PARTITIONS in (1, 2)
    ],
    "g.E().hasLabel('far').has('x',gte(395)).inV().id()": [f"v-{n * 7 % VERTICES}" for n in range(395, 400)],
    "g.E(['pk-5','next-5']).inV().id()": ["v-6"],
    "g.V('v-0').repeat(out('next')).times(5).values('n')": [5],
    "g.V('v-0').repeat(out('next')).until(has('n',8)).path().by('n').unfold()": list(range(9)),
    "g.V().hasLabel('even').out('next').hasLabel('odd').count()": [VERTICES // 2],
    "g.V().out('far').dedup().count()": [VERTICES],
    "g.V().groupCount().by(label)": [{"even": VERTICES // 2, "odd": VERTICES // 2}],
    "g.V().order().by('n',decr).limit(4).values('n')": [399, 398, 397, 396],
    "g.V().has('n',lt(20)).union(out('next'),__.in('next')).values('n').sum()": [
        sum((n + 1) % VERTICES + (n - 1) % VERTICES for n in range(20))
    ],
    "g.V().has('n',6).as('a').out('far').in('far').where(eq('a')).id()": ["v-6"],
    "g.V().has('n',between(30,33)).project('n','out').by('n').by(out('far').values('n'))": [
        {"n": n, "out": n * 7 % VERTICES} for n in (30, 31, 32)
    ],
}


class Asking:
    """A client that asks everything again and again."""

    items: dict = {}  # noqa: RUF012 - never filled

    def __init__(self, client):
        self.client = client
        self.rounds = 0

    def run(self, stop: threading.Event) -> None:
        """Asks until it is told to stop, and once more."""
        while True:
            is_last = stop.is_set()
            self.ask_all()
            self.rounds += 1
            if is_last:
                return

    def ask_all(self) -> None:
        """Asks everything once."""
        for script, expected in TRAVERSALS.items():
            found = run(self.client, script)
            if sorted(found, key=repr) != sorted(expected, key=repr):
                raise AssertionError(f"{script} gave {found}, not {expected}")


@pytest.fixture
def two_clients(free_server, free_graph):
    """Clients as applications of the service are, and as the driver is by default."""
    clients = [
        connect(free_server, free_graph),
        connect(free_server, free_graph, url=url(free_server, "ws"), message_serializer=GraphBinarySerializersV1()),
    ]
    yield clients
    for client in clients:
        client.close()


def test_traversals_find_the_same_before_during_and_after(free_server, free_container, two_clients):
    load_graph(free_container)
    asking = [Asking(client) for client in two_clients]
    for one in asking:
        one.ask_all()
    with Crowd(asking) as crowd:
        assert split(free_server, free_container) == ["1", "2"]
        assert split(free_server, free_container, range="1") == ["3", "4", "2"]
        assert merge(free_server, free_container, "4", "2") == ["3", "5"]
        assert split(free_server, free_container, range="5") == ["3", "6", "7"]
        assert crowd.failures == []
    assert merge(free_server, free_container, "3", "6") == ["8", "7"]
    for one in asking:
        assert one.rounds > 0
        one.ask_all()


def test_writers_lose_nothing_while_partitions_change(free_server, free_container, free_graph):
    writers = [Writer(free_server, free_graph, number) for number in range(WRITERS)]
    judge = Judge(Door(free_server, free_graph, 0), writers)
    judge.prepare()
    for writer in writers:
        writer.random = random.Random(f"splits-{writer.number}")
    stopped = threading.Event()
    threads = [threading.Thread(target=writer.run, args=(stopped,), daemon=True) for writer in writers]
    for thread in threads:
        thread.start()

    def let_work() -> None:
        """Waits until each has written some more, or has failed."""
        before = [writer.operations for writer in writers]

        def has_worked() -> bool:
            done = zip(writers, before, strict=True)
            return all(writer.violations or writer.operations >= then + STEPS for writer, then in done)

        until(has_worked, "the writers do not get on")

    try:
        let_work()
        assert split(free_server, free_container) == ["1", "2"]
        let_work()
        assert split(free_server, free_container, range="2") == ["1", "3", "4"]
        let_work()
        assert merge(free_server, free_container, "1", "3") == ["5", "4"]
        let_work()
        assert split(free_server, free_container, range="5") == ["6", "7", "4"]
        let_work()
        assert merge(free_server, free_container, "7", "4") == ["6", "8"]
        let_work()
    finally:
        stopped.set()
        for thread in threads:
            thread.join(60)
    complaints = judge.take_violations()
    # No connection ends because a partition splits.
    assert [writer.unknown for writer in writers] == [0] * WRITERS
    judge.verify(random.Random("splits"), complaints)
    assert complaints == []
    for door in [judge.door, *(writer.door for writer in writers)]:
        door.close()
