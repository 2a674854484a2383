"""Clients that read, write and query without a pause, each checking every answer against what it wrote itself.

A worker owns its items: their `owner` is its name, and nobody else touches them. So it knows at any moment what a
read, a query over all partitions or a count must answer, whatever happens to the physical partitions meanwhile.

As a program it runs several workers against a server until its standard input ends; see `main`. Beside them lie
`still` items, made by the caller, which nobody changes: queries of them are paused before and resumed after the load.
"""

import argparse
import json
import random
import sys
import threading
from collections import Counter

from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from sdk import without_system_properties
from server import KEY

CITIES_PER_WORKER = 12
ITEMS_PER_WORKER_MAX = 150
PAGE_ITEMS = 40

# Queries that are paused in the middle; what they give is compared as it comes.
PAUSED_QUERIES = {
    "plain": "SELECT VALUE c.n FROM c WHERE c.owner = 'still'",
    "order": "SELECT VALUE c.n FROM c WHERE c.owner = 'still' ORDER BY c.n DESC",
    "order by text": "SELECT VALUE c.n FROM c WHERE c.owner = 'still' ORDER BY c.city",
    "top": "SELECT TOP 150 VALUE c.n FROM c WHERE c.owner = 'still' ORDER BY c.n",
    "offset": "SELECT VALUE c.n FROM c WHERE c.owner = 'still' ORDER BY c.n OFFSET 35 LIMIT 120",
}


class Worker:
    """One client with the items it owns."""

    def __init__(self, container, name: str):
        self.container = container
        self.name = name
        self.items: dict[tuple[str, str], dict] = {}
        self.done = Counter()
        self._random = random.Random(name)
        self._made = 0
        self._deleted: list[tuple[str, str]] = []
        self._actions = {
            self._create: 6,
            self._read: 8,
            self._read_deleted: 1,
            self._replace: 4,
            self._upsert: 3,
            self._patch: 3,
            self._delete: 2,
            self._batch: 2,
            self._query_city: 2,
            self._query_all: 1,
            self._count: 1,
        }

    def run(self, stop: threading.Event, steps_max: int | None = None) -> None:
        """Works until it is told to stop."""
        while not stop.is_set() and (steps_max is None or self.done.total() < steps_max):
            self.step()

    def step(self) -> None:
        """Does one thing and checks the answer."""
        [action] = self._random.choices(list(self._actions), self._actions.values())
        if not self.items or (action == self._create and len(self.items) >= ITEMS_PER_WORKER_MAX):
            action = self._delete if self.items else self._create
        action()
        self.done[action.__name__.strip("_")] += 1

    def check_one_by_one(self) -> None:
        """Reads every item by its key, and every deleted one that must not come back."""
        for (city, name), item in self.items.items():
            self._same(self.container.read_item(name, city), item)
        for city, name in self._deleted:
            if (city, name) not in self.items:
                self._missing(city, name)

    def _fresh(self) -> dict:
        self._made += 1
        city = f"{self.name} city {self._random.randrange(CITIES_PER_WORKER)}"
        text = "x" * self._random.randrange(400)
        return {"id": f"item {self._made}", "city": city, "owner": self.name, "n": self._made * 1000, "text": text}

    def _any(self) -> tuple[tuple[str, str], dict]:
        key = self._random.choice(list(self.items))
        return key, self.items[key]

    def _keep(self, answer, item: dict) -> None:
        self._same(answer, item)
        self.items[item["city"], item["id"]] = item

    def _same(self, answer, item: dict) -> None:
        found = without_system_properties(answer)
        if found != item:
            raise AssertionError(f"{self.name}: expected {item}, found {found}")

    def _create(self) -> None:
        item = self._fresh()
        self._keep(self.container.create_item(item), item)

    def _read(self) -> None:
        (city, name), item = self._any()
        self._same(self.container.read_item(name, city), item)

    def _read_deleted(self) -> None:
        for city, name in self._deleted[-1:]:
            self._missing(city, name)

    def _missing(self, city: str, name: str) -> None:
        try:
            found = self.container.read_item(name, city)
        except CosmosResourceNotFoundError as error:
            if error.sub_status:
                raise
        else:
            raise AssertionError(f"{self.name}: deleted, and there again: {found}")

    def _replace(self) -> None:
        (_, name), item = self._any()
        changed = {**item, "n": item["n"] + 1}
        self._keep(self.container.replace_item(name, changed), changed)

    def _upsert(self) -> None:
        _, item = self._any()
        changed = {**item, "n": item["n"] + 1, "text": "y" * self._random.randrange(200)}
        self._keep(self.container.upsert_item(changed), changed)

    def _patch(self) -> None:
        (city, name), item = self._any()
        answer = self.container.patch_item(name, city, [{"op": "incr", "path": "/n", "value": 1}])
        self._keep(answer, {**item, "n": item["n"] + 1})

    def _delete(self) -> None:
        (city, name), _ = self._any()
        self.container.delete_item(name, city)
        del self.items[city, name]
        self._deleted.append((city, name))

    def _batch(self) -> None:
        (city, name), item = self._any()
        changed = {**item, "n": item["n"] + 1}
        new = {**self._fresh(), "city": city}
        batch = [("create", (new,)), ("replace", (name, changed)), ("read", (new["id"],))]
        results = self.container.execute_item_batch(batch, partition_key=city)
        self._keep(results[0]["resourceBody"], new)
        self._keep(results[1]["resourceBody"], changed)
        self._same(results[2]["resourceBody"], new)

    def _query_city(self) -> None:
        (city, _), _ = self._any()
        found = list(self.container.query_items("SELECT * FROM c", partition_key=city))
        wanted = {name: item for (of_city, name), item in self.items.items() if of_city == city}
        if {item["id"]: without_system_properties(item) for item in found} != wanted or len(found) != len(wanted):
            raise AssertionError(f"{self.name}: {city} has {found}, not {wanted}")

    def _query_all(self) -> None:
        found = list(
            self.container.query_items(
                "SELECT c.city, c.id, c.n FROM c WHERE c.owner = @me ORDER BY c.n",
                parameters=[{"name": "@me", "value": self.name}],
                enable_cross_partition_query=True,
                max_item_count=PAGE_ITEMS,
            )
        )
        wanted = [{"city": city, "id": name, "n": item["n"]} for (city, name), item in self.items.items()]
        if found != sorted(wanted, key=lambda row: row["n"]):
            raise AssertionError(f"{self.name}: a query over all partitions gave {found}, not {wanted}")

    def _count(self) -> None:
        query, parameters = "SELECT VALUE COUNT(1) FROM c WHERE c.owner = @me", [{"name": "@me", "value": self.name}]
        [found] = self.container.query_items(query, parameters=parameters, enable_cross_partition_query=True)
        if found != len(self.items):
            raise AssertionError(f"{self.name}: counted {found} items, not {len(self.items)}")


class Crowd:
    """Workers in threads of their own; the first failure ends them all."""

    def __init__(self, workers: list[Worker]):
        self.workers = workers
        self.stopping = threading.Event()
        self.failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(worker,), daemon=True) for worker in workers]

    def __enter__(self) -> "Crowd":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self) -> None:
        """Lets everybody finish what is under way, and raises what failed."""
        self.stopping.set()
        for thread in self._threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    @property
    def items(self) -> dict[tuple[str, str], dict]:
        """Everything that must be there."""
        return {key: item for worker in self.workers for key, item in worker.items.items()}

    def _run(self, worker: Worker) -> None:
        try:
            worker.run(self.stopping)
        except BaseException as failure:
            self.failures.append(failure)
            self.stopping.set()


class Paused:
    """Queries that have given their first page."""

    def __init__(self, container):
        self.pages = {}
        for title, query in PAUSED_QUERIES.items():
            pager = self._query(container, query).by_page()
            self.pages[title] = (list(next(pager)), pager.continuation_token)

    def check_resumed(self, container) -> None:
        """Reads the rest and compares both with what the query gives now in one go."""
        for title, query in PAUSED_QUERIES.items():
            first, token = self.pages[title]
            rest = [row for page in self._query(container, query).by_page(token) for row in page]
            found, whole = first + rest, list(self._query(container, query))
            if title == "plain":
                found, whole = sorted(found), sorted(whole)
            if not first or not rest or found != whole:
                raise AssertionError(f"{title}: {len(first)} rows and {len(rest)} more, not {len(whole)}: {found}")

    @staticmethod
    def _query(container, query: str):
        return container.query_items(query, enable_cross_partition_query=True, max_item_count=PAGE_ITEMS)


def main() -> int:
    """Prints `running` when the workers work; after the end of input, what they own, as one line of JSON."""
    parser = argparse.ArgumentParser(description="Load by the Python SDK, one client for each worker.")
    parser.add_argument("endpoint")
    parser.add_argument("database")
    parser.add_argument("container")
    parser.add_argument("--workers", type=int, default=8)
    arguments = parser.parse_args()

    def connect():
        client = CosmosClient(arguments.endpoint, KEY)
        return client.get_database_client(arguments.database).get_container_client(arguments.container)

    paused = Paused(connect())
    crowd = Crowd([Worker(connect(), f"python {n}") for n in range(arguments.workers)])
    with crowd:
        print("running", flush=True)
        sys.stdin.read()
    paused.check_resumed(connect())
    paused.check_resumed(crowd.workers[0].container)
    for worker in crowd.workers:
        worker.check_one_by_one()
    done = sum((worker.done for worker in crowd.workers), Counter())
    print(json.dumps({"done": done, "items": list(crowd.items.values())}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
