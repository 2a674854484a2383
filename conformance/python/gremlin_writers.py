"""Clients that write graphs by gremlinpython, remember what was answered, and compare it with what is there.

A writer owns its vertices and edges: no other touches them. So it knows at any moment what is there, and of a traversal
whose answer never came it finds out, before it goes on: in each logical partition all of it was done, or nothing.
"""

import contextlib
import random
import threading
import time
from collections import Counter
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from gremlin_python.driver.client import Client
from gremlin_python.driver.protocol import GremlinServerError
from gremlin_python.driver.serializer import GraphBinarySerializersV1, GraphSONSerializersV2d0, GraphSONSerializersV3d0

from gremlin import connect, url
from server import Server

PARTITIONS = ("p0", "p1", "p2", "p3", "p4", "p5")
HUBS = 3
COUNTERS = 3
VERTICES_OF_THREAD_MAX = 60
VALUE_MAX = 25
ANSWER_SECONDS_MAX = 60
RESOLVE_SECONDS_MAX = 90
SERIALIZERS = (GraphSONSerializersV2d0, GraphBinarySerializersV1, GraphSONSerializersV3d0)

# What all elements are read with. A property that is not there is left out of a projection.
VERTEX_ROW = ".project('id','pk','v','w','tags').by(id).by('pk').by('v').by('w').by(values('tag').fold())"
EDGE_ROW = ".project('id','label','x','from','to').by(id).by(label).by('x').by(outV().id()).by(inV().id())"

# Where an element lies: its partition and its id.
Place = tuple[str, str]
# A vertex is (v, w), of which w may be missing; an edge is (label, x). None is not there.
State = tuple | None


class ViolationError(Exception):
    """The server did what it must not; the arguments say what was seen."""


class LostError(Exception):
    """The connection ended before the answer came."""


class Door:
    """A client of one thread, which is made anew when its connection is lost."""

    def __init__(self, server: Server, graph: str, number: int):
        self.server = server
        self.graph = graph
        self.scheme = "ws" if number % 2 == 0 else "wss"
        self.serializer = SERIALIZERS[number % len(SERIALIZERS)]
        self._client: Client | None = None

    def run(self, script: str, bindings: dict[str, Any] | None = None) -> list[Any]:
        """Runs a script; raises `LostError` if it is not known whether it was run."""
        try:
            if self._client is None:
                address = url(self.server, self.scheme)
                self._client = connect(self.server, self.graph, url=address, message_serializer=self.serializer())
            return self._client.submit(script, bindings).all().result(ANSWER_SECONDS_MAX)
        except GremlinServerError:
            raise
        except FutureTimeoutError:
            raise ViolationError(f"no answer to {script} within {ANSWER_SECONDS_MAX} s") from None
        except Exception as error:
            self.close()
            raise LostError(str(error)) from error

    def run_surely(self, script: str, bindings: dict[str, Any] | None = None) -> list[Any]:
        """Runs a script that changes nothing, as often as it takes to get an answer."""
        deadline = time.monotonic() + RESOLVE_SECONDS_MAX
        while True:
            try:
                return self.run(script, bindings)
            except LostError:
                if time.monotonic() > deadline:
                    raise ViolationError(f"no answer to {script} within {RESOLVE_SECONDS_MAX} s") from None
                time.sleep(0.05)

    def close(self) -> None:
        """Ends the client."""
        client, self._client = self._client, None
        if client is not None:
            # It may fail to say goodbye to a server that is gone.
            with contextlib.suppress(Exception):
                client.close()


def inner_status(error: GremlinServerError) -> int | None:
    """Returns the status of the service in an error."""
    return (error.status_attributes or {}).get("x-ms-status-code")


def vertex_state(row: dict[str, Any]) -> State:
    """Returns the state of a vertex that was read."""
    if row["tags"] != [f"t{row['v'] % 5}"]:
        raise ViolationError(f"the properties of a vertex do not belong together: {row}")
    return (row["v"], row.get("w"))


def edge_state(row: dict[str, Any]) -> State:
    """Returns the state of an edge that was read."""
    return (row["label"], row["x"])


def source_of(id: str) -> str:
    """Returns the vertex that an edge leaves, which its id names."""
    return id.split("~")[1]


class Change:
    """What a traversal does to elements: of each the state before and the state after."""

    def __init__(self) -> None:
        self.vertices: dict[Place, tuple[State, State]] = {}
        self.edges: dict[Place, tuple[State, State]] = {}


class Writer:
    """A thread that writes, and remembers what was answered."""

    def __init__(self, server: Server, graph: str, number: int):
        self.number = number
        self.door = Door(server, graph, number)
        self.vertices: dict[Place, State] = {}
        self.edges: dict[Place, State] = {}
        # Where each edge leads that was ever asked for.
        self.targets: dict[Place, Place] = {}
        self.known_raises: Counter = Counter()
        self.unknown_raises: Counter = Counter()
        self.made = 0
        self.operations = 0
        self.unknown = 0
        self.halves = 0
        self.violations: list[str] = []
        self.random = random.Random()

    def run(self, stopped: threading.Event) -> None:
        """Writes until it is told to stop."""
        while not stopped.is_set():
            try:
                self.step()
                self.operations += 1
            except ViolationError as violation:
                self.violations.append(f"thread {self.number}: {violation}")
                return
            except GremlinServerError as error:
                self.violations.append(f"thread {self.number}: the server refused: {error}")
                return

    def step(self) -> None:
        """Makes one traversal."""
        if self.random.random() < 0.15:
            self.raise_counter()
        elif len(self.vertices) < 8:
            self.add_family()
        elif len(self.vertices) > VERTICES_OF_THREAD_MAX:
            self.drop_many()
        else:
            weights = {
                self.add_vertex: 4,
                self.add_edge: 8,
                self.add_hub_edge: 2,
                self.add_family: 3,
                self.add_families: 2,
                self.upsert: 2,
                self.add_again: 1,
                self.set_property: 4,
                self.set_many: 3,
                self.set_edge: 2,
                self.drop_property: 2,
                self.drop_vertex: 3,
                self.drop_edge: 2,
                self.drop_many: 1,
                self.read: 2,
            }
            self.random.choices(list(weights), list(weights.values()))[0]()

    # What is done, and what becomes of it.

    def do(self, change: Change, script: str, bindings: dict[str, Any], expected: list[Any] | None = None) -> None:
        """Runs a traversal that makes a change, and remembers what became of it."""
        try:
            found = self.door.run(script, bindings)
        except LostError:
            self.unknown += 1
            self.resolve(change, script)
            return
        if expected is not None and sorted(found) != sorted(expected):
            raise ViolationError(f"{script} {bindings} gave {found}, not {expected}")
        for places, known in ((change.vertices, self.vertices), (change.edges, self.edges)):
            for place, (_, after) in places.items():
                self.know(known, place, after)

    def know(self, known: dict[Place, State], place: Place, state: State) -> None:
        """Remembers the state of an element."""
        if state is None:
            known.pop(place, None)
        else:
            known[place] = state

    def resolve(self, change: Change, script: str) -> None:
        """Finds out what became of a traversal that was not answered: in each partition all of it, or nothing."""
        seen_vertices = self.read_vertices(list(change.vertices))
        seen_edges = self.read_edges(list(change.edges))
        outcomes: dict[str, set[str]] = {}
        for changes, seen, known in (
            (change.vertices, seen_vertices, self.vertices),
            (change.edges, seen_edges, self.edges),
        ):
            for place, (before, after) in changes.items():
                state = seen.get(place)
                if state not in (before, after):
                    raise ViolationError(f"{place} is {state}, was {before}, may be {after} after {script}")
                if before != after:
                    outcomes.setdefault(place[0], set()).add("done" if state == after else "not done")
                self.know(known, place, state)
        for partition, outcome in outcomes.items():
            if len(outcome) > 1:
                raise ViolationError(
                    f"half a traversal in {partition}: {script}: {change.vertices} {change.edges}, "
                    f"found {seen_vertices} {seen_edges}"
                )
        if len({next(iter(outcome)) for outcome in outcomes.values()}) > 1:
            self.halves += 1

    def read_vertices(self, places: list[Place]) -> dict[Place, State]:
        """Reads vertices, each by its partition and its id."""
        rows = self.read_rows("g.V", places, VERTEX_ROW)
        return {(row["pk"], row["id"]): vertex_state(row) for row in rows}

    def read_edges(self, places: list[Place]) -> dict[Place, State]:
        """Reads edges, each by the partition of the vertex that it leaves and its id."""
        rows = self.read_rows("g.E", places, EDGE_ROW)
        of_id = {id: partition for partition, id in places}
        return {(of_id[row["id"]], row["id"]): edge_state(row) for row in rows}

    def read_rows(self, start: str, places: list[Place], row: str) -> list[dict[str, Any]]:
        """Reads elements by partition and id."""
        if not places:
            return []
        names = ",".join(f"['{partition}','{id}']" for partition, id in places)
        return self.door.run_surely(f"{start}({names}){row}")

    # Choices.

    def new_place(self, partition: str | None = None, kind: str = "v") -> Place:
        """Returns a place that was never used."""
        self.made += 1
        return (partition or self.random.choice(PARTITIONS), f"{kind}-{self.number}-{self.made}")

    def value(self) -> int:
        """Returns a value, of few, so that many vertices share it."""
        return self.random.randrange(VALUE_MAX)

    def vertex(self) -> Place:
        """Returns a vertex that is there."""
        return self.random.choice(list(self.vertices))

    def vertices_of_one_partition(self) -> list[Place]:
        """Returns some vertices that lie together."""
        partition = self.vertex()[0]
        together = [place for place in self.vertices if place[0] == partition]
        return self.random.sample(together, self.random.randint(1, min(8, len(together))))

    def incident(self, gone: set[Place]) -> list[Place]:
        """Returns the edges that leave or enter vertices."""
        return [place for place in self.edges if (place[0], source_of(place[1])) in gone or self.targets[place] in gone]

    def adding(self, place: Place, v: int) -> str:
        """Returns the steps that add a vertex."""
        partition, id = place
        return (
            f"addV('thing').property('id','{id}').property('pk','{partition}').property('owner',{self.number})"
            f".property('v',{v}).property('w',0).property('tag','t{v % 5}')"
        )

    def new_edge(self, source: Place, target: Place) -> Place:
        """Returns the place of a new edge, whose id says which vertex it leaves."""
        self.made += 1
        place = (source[0], f"e-{self.number}-{self.made}~{source[1]}")
        self.targets[place] = target
        return place

    # Traversals.

    def add_vertex(self) -> None:
        """Adds a vertex."""
        place, v, change = self.new_place(), self.value(), Change()
        change.vertices[place] = (None, (v, 0))
        self.do(change, f"g.{self.adding(place, v)}.id()", {}, [place[1]])

    def upsert(self) -> None:
        """Adds a vertex unless it is there, as applications of the service do."""
        is_there = self.random.random() < 0.5
        place, v, change = self.vertex() if is_there else self.new_place(), self.value(), Change()
        before = self.vertices.get(place)
        change.vertices[place] = (before, before if is_there else (v, 0))
        script = f"g.V(['{place[0]}','{place[1]}']).fold().coalesce(unfold(), {self.adding(place, v)}).id()"
        self.do(change, script, {}, [place[1]])

    def add_again(self) -> None:
        """Adds a vertex that is there already, which is refused."""
        place = self.vertex()
        try:
            self.door.run(f"g.{self.adding(place, 1)}")
        except LostError:
            self.unknown += 1
        except GremlinServerError as error:
            if inner_status(error) != 409:
                raise
        else:
            raise ViolationError(f"{place} was added twice")

    def add_edge(self) -> None:
        """Adds an edge between two vertices, of one partition or of two."""
        self.connect_to(self.vertex())

    def add_hub_edge(self) -> None:
        """Adds an edge to a vertex that the edges of all threads lead to."""
        hub = self.random.randrange(HUBS)
        self.connect_to((PARTITIONS[hub], f"hub-{hub}"))

    def connect_to(self, target: Place) -> None:
        """Adds an edge to a vertex."""
        source, x, change = self.vertex(), self.value(), Change()
        edge = self.new_edge(source, target)
        change.edges[edge] = (None, ("to", x))
        script = (
            f"g.V(['{source[0]}','{source[1]}']).addE('to').property('id',edge).property('x',x)"
            f".to(g.V(['{target[0]}','{target[1]}'])).id()"
        )
        self.do(change, script, {"edge": edge[1], "x": x}, [edge[1]])

    def add_family(self) -> None:
        """Adds vertices with edges between them in one partition, by one traversal."""
        partition, change = self.random.choice(PARTITIONS), Change()
        self.do(change, "g." + self.family(change, partition, "a") + ".count()", {})

    def add_families(self) -> None:
        """Adds vertices with edges in two partitions, by one traversal; in each it is done as one."""
        first, second = self.random.sample(PARTITIONS, 2)
        change = Change()
        script = "g." + self.family(change, first, "a") + "." + self.family(change, second, "b") + ".count()"
        self.do(change, script, {})

    def family(self, change: Change, partition: str, name: str) -> str:
        """Returns the steps that add vertices with edges between them."""
        steps, members = [], []
        for number in range(self.random.randint(2, 5)):
            place, v = self.new_place(partition), self.value()
            members.append(place)
            change.vertices[place] = (None, (v, 0))
            steps.append(f"{self.adding(place, v)}.as('{name}{number}')")
        for number in range(len(members)):
            other = (number + 1) % len(members)
            edge, x = self.new_edge(members[number], members[other]), self.value()
            change.edges[edge] = (None, ("next", x))
            steps.append(
                f"addE('next').from('{name}{number}').to('{name}{other}').property('id','{edge[1]}').property('x',{x})"
            )
        return ".".join(steps)

    def set_property(self) -> None:
        """Sets properties of a vertex that belong together."""
        place, v, w, change = self.vertex(), self.value(), self.value(), Change()
        change.vertices[place] = (self.vertices[place], (v, w))
        script = f"g.V(['{place[0]}','{place[1]}']).property('v',v).property('w',w).property('tag',t).id()"
        self.do(change, script, {"v": v, "w": w, "t": f"t{v % 5}"}, [place[1]])

    def set_many(self) -> None:
        """Sets a property of vertices of one partition, by one traversal."""
        places, w, change = self.vertices_of_one_partition(), self.value(), Change()
        for place in places:
            change.vertices[place] = (self.vertices[place], (self.vertices[place][0], w))
        names = ",".join(f"['{partition}','{id}']" for partition, id in places)
        self.do(change, f"g.V({names}).property('w',w).id()", {"w": w}, [id for _, id in places])

    def set_edge(self) -> None:
        """Sets a property of an edge."""
        if not self.edges:
            return
        place, x, change = self.random.choice(list(self.edges)), self.value(), Change()
        change.edges[place] = (self.edges[place], (self.edges[place][0], x))
        script = f"g.E(['{place[0]}','{place[1]}']).property('x',x).id()"
        self.do(change, script, {"x": x}, [place[1]])

    def drop_property(self) -> None:
        """Drops a property of a vertex."""
        place, change = self.vertex(), Change()
        change.vertices[place] = (self.vertices[place], (self.vertices[place][0], None))
        self.do(change, f"g.V(['{place[0]}','{place[1]}']).properties('w').drop()", {}, [])

    def drop_vertex(self) -> None:
        """Drops a vertex, and with it the edges that leave and enter it."""
        place, change = self.vertex(), Change()
        self.dropping(change, {place})
        self.do(change, f"g.V(['{place[0]}','{place[1]}']).drop()", {}, [])

    def drop_edge(self) -> None:
        """Drops an edge."""
        if not self.edges:
            return
        place, change = self.random.choice(list(self.edges)), Change()
        change.edges[place] = (self.edges[place], None)
        self.do(change, f"g.E(['{place[0]}','{place[1]}']).drop()", {}, [])

    def drop_many(self) -> None:
        """Drops vertices that a condition finds."""
        low = self.value()
        high, change = low + VALUE_MAX // 5, Change()
        self.dropping(change, {place for place, state in self.vertices.items() if low <= state[0] < high})
        script = "g.V().has('owner',me).has('v',between(low,high)).drop()"
        self.do(change, script, {"me": self.number, "low": low, "high": high}, [])

    def dropping(self, change: Change, gone: set[Place]) -> None:
        """Adds vertices that are dropped to a change, with their edges."""
        for place in gone:
            change.vertices[place] = (self.vertices[place], None)
        for place in self.incident(gone):
            change.edges[place] = (self.edges[place], None)

    def read(self) -> None:
        """Reads a vertex with the edges that leave it."""
        place = self.vertex()
        try:
            rows = self.door.run(f"g.V(['{place[0]}','{place[1]}']){VERTEX_ROW}")
            edges = self.door.run(f"g.V(['{place[0]}','{place[1]}']).outE().id()")
        except LostError:
            return
        if [vertex_state(row) for row in rows] != [self.vertices[place]]:
            raise ViolationError(f"{place} is {rows}, not {self.vertices[place]}")
        expected = [edge[1] for edge in self.edges if (edge[0], source_of(edge[1])) == place]
        if sorted(edges) != sorted(expected):
            raise ViolationError(f"{edges} leave {place}, not {expected}")

    def raise_counter(self) -> None:
        """Raises a number that the other threads raise as well: whoever is too late is refused, and tries again."""
        number = self.random.randrange(COUNTERS)
        script = f"g.V(['{PARTITIONS[-1]}','counter-{number}']).property('n',values('n').math('_ + 1')).id()"
        while True:
            try:
                found = self.door.run(script)
            except LostError:
                self.unknown += 1
                self.unknown_raises[number] += 1
                return
            except GremlinServerError as error:
                if inner_status(error) != 412:
                    raise
                continue
            if found != [f"counter-{number}"]:
                raise ViolationError(f"counter {number} was not found: {found}")
            self.known_raises[number] += 1
            return


class Judge:
    """Compares what is stored with what was answered to writers."""

    def __init__(self, door: Door, writers: list[Writer]):
        self.door = door
        self.writers = writers
        self.counters: Counter = Counter()

    def prepare(self) -> None:
        """Adds what all writers share."""
        for number in range(HUBS):
            self.door.run(f"g.addV('hub').property('id','hub-{number}').property('pk','{PARTITIONS[number]}')")
        for number in range(COUNTERS):
            script = f"g.addV('counter').property('id','counter-{number}').property('pk','{PARTITIONS[-1]}')"
            self.door.run(f"{script}.property('n',0)")

    def take_violations(self) -> list[str]:
        """Returns what the writers saw."""
        complaints = [line for writer in self.writers for line in writer.violations]
        for writer in self.writers:
            writer.violations = []
        return complaints

    def verify(self, chance: random.Random, complaints: list[str]) -> str:
        """Compares; adds what is wrong, and returns what is there."""
        vertices = self._verify_vertices(complaints)
        edges = self._verify_edges(complaints)
        self._verify_lookups(chance, complaints)
        self._verify_counters(complaints)
        for writer in self.writers:
            writer.targets = {place: writer.targets[place] for place in writer.edges}
        return f"{vertices} vertices, {edges} edges"

    def _verify_vertices(self, complaints: list[str]) -> int:
        found: dict[Place, State] = {}
        for row in self.door.run_surely(f"g.V().hasLabel('thing'){VERTEX_ROW}"):
            place = (row["pk"], row["id"])
            if place in found:
                complaints.append(f"{place} was listed twice")
            found[place] = vertex_state(row)
        expected = {place: state for writer in self.writers for place, state in writer.vertices.items()}
        self._compare("vertex", found, expected, complaints)
        if (counted := self.door.run_surely("g.V().count()")) != [len(expected) + HUBS + COUNTERS]:
            complaints.append(f"{counted} vertices were counted, not {len(expected) + HUBS + COUNTERS}")
        return len(found)

    def _verify_edges(self, complaints: list[str]) -> int:
        expected = {place: state for writer in self.writers for place, state in writer.edges.items()}
        targets = {place: target for writer in self.writers for place, target in writer.targets.items()}
        there = {place for writer in self.writers for place in writer.vertices}
        there |= {(PARTITIONS[number], f"hub-{number}") for number in range(HUBS)}
        found: dict[Place, State] = {}
        partitions = {id: partition for partition, id in expected}
        for row in self.door.run_surely(f"g.E(){EDGE_ROW}"):
            if row["id"] not in partitions:
                complaints.append(f"the edge {row} is there, though it was dropped or never written")
                continue
            place = (partitions[row["id"]], row["id"])
            if place in found:
                complaints.append(f"{place} was listed twice")
            found[place] = edge_state(row)
            source, target = (place[0], source_of(row["id"])), targets[place]
            if row.get("from") != source[1] or source not in there:
                complaints.append(f"the edge {row} is there without the vertex that it leaves")
            # Where a drop was cut short, an edge may lead to a vertex of another partition that is gone.
            if target not in there and target[0] == place[0]:
                complaints.append(f"the edge {row} leads to {target} of its own partition, which is gone")
            if target in there and row.get("to") != target[1]:
                complaints.append(f"the edge {row} does not lead to {target}")
        self._compare("edge", found, expected, complaints)
        return len(found)

    def _compare(self, what: str, found: dict, expected: dict, complaints: list[str]) -> None:
        for place in found.keys() | expected.keys():
            if found.get(place) != expected.get(place):
                complaints.append(f"the {what} {place} is {found.get(place)}, not {expected.get(place)}")

    def _verify_lookups(self, chance: random.Random, complaints: list[str]) -> None:
        vertices = {place: state for writer in self.writers for place, state in writer.vertices.items()}
        edges = {place: state for writer in self.writers for place, state in writer.edges.items()}
        targets = {place: target for writer in self.writers for place, target in writer.targets.items()}
        questions: list[tuple[str, list[str]]] = []
        for v in chance.sample(range(VALUE_MAX), 3):
            questions.append((f"g.V().has('v',{v}).id()", [id for (_, id), state in vertices.items() if state[0] == v]))
            expected = [id for (_, id), state in edges.items() if state[1] == v]
            questions.append((f"g.E().has('x',{v}).id()", expected))
        partition = chance.choice(PARTITIONS)
        expected = [id for (own, id), state in vertices.items() if own == partition and state[0] < 9]
        questions.append((f"g.V().has('pk','{partition}').has('v',lt(9)).id()", expected))
        for number in range(HUBS):
            hub = (PARTITIONS[number], f"hub-{number}")
            expected = [place[1] for place in edges if targets[place] == hub]
            questions.append((f"g.V(['{hub[0]}','{hub[1]}']).inE().id()", expected))
        for place in chance.sample(sorted(vertices), min(4, len(vertices))):
            expected = [edge[1] for edge in edges if targets[edge] == place]
            questions.append((f"g.V(['{place[0]}','{place[1]}']).inE().id()", expected))
        for script, expected in questions:
            found = self.door.run_surely(script)
            if sorted(found) != sorted(expected):
                complaints.append(f"{script} gave {sorted(found)}, not {sorted(expected)}")

    def _verify_counters(self, complaints: list[str]) -> None:
        for number in range(COUNTERS):
            known = self.counters[number] + sum(writer.known_raises[number] for writer in self.writers)
            unknown = sum(writer.unknown_raises[number] for writer in self.writers)
            [value] = self.door.run_surely(f"g.V(['{PARTITIONS[-1]}','counter-{number}']).values('n')") or [None]
            if value is None or not known <= value <= known + unknown:
                complaints.append(f"counter {number} is {value}, {known} raises were answered, {unknown} may be done")
            self.counters[number] = value or 0
            for writer in self.writers:
                writer.known_raises[number] = writer.unknown_raises[number] = 0
