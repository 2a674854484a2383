"""Requests by hand on one container, each with its charge.

For tests that add up the charges of what an application does: an SDK pages, plans and repeats in ways of its own.
"""

import json
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import wire
from server import Server

LOADERS = 4
BATCH_ITEMS_MAX = 100
THROTTLED_SECONDS = 0.2


def charge(answer: wire.Answer) -> float:
    """Returns what a request was charged."""
    return float(answer.headers["x-ms-request-charge"])


class Metered:
    """A container that is addressed by hand."""

    def __init__(self, server: Server, database: str, container: str):
        self._server = server
        self._database = database
        self._container = container

    def make(self, key_path: str | None, throughput: int, **members: Any) -> "Metered":
        """Creates the database, where there is none yet, and the container; without a path it has no key."""
        root = f"/dbs/{self._database}"
        answer = wire.send(self._server, "POST", "/dbs", {"id": self._database}, scheme="http")
        assert answer.status in (201, 409), answer
        body = {"id": self._container, **members}
        if key_path is not None:
            body["partitionKey"] = {"paths": [key_path], "kind": "Hash", "version": 2}
        headers = {"x-ms-offer-throughput": str(throughput)}
        answer = wire.send(self._server, "POST", f"{root}/colls", body, headers, scheme="http")
        assert answer.status == 201, answer
        return self

    def send(
        self,
        verb: str,
        path: str,
        body: Any = None,
        key: Any = None,
        *,
        plain: dict[str, str] | None = None,
        is_patient: bool = True,
        **headers: str,
    ) -> wire.Answer:
        """Sends a request; one that is refused because throughput is used up is sent again, unless told otherwise.

        Names of headers come without `x-ms-` and with underscores; `plain` are those that stand as they are.
        """
        named = {f"x-ms-{name.replace('_', '-')}": value for name, value in headers.items()} | (plain or {})
        if key is not None:
            named["x-ms-documentdb-partitionkey"] = json.dumps([key])
        if isinstance(body, dict) and "query" in body:
            named |= {"content-type": "application/query+json", "x-ms-documentdb-isquery": "True"}
        path = f"/dbs/{self._database}/colls/{self._container}{path}"
        while True:
            answer = wire.send(self._server, verb, path, body, named, scheme="http")
            if answer.status != 429 or not is_patient:
                return answer
            time.sleep(int(answer.headers["x-ms-retry-after-ms"]) / 1_000)

    def do(self, verb: str, path: str, body: Any = None, key: Any = None, **headers: str) -> wire.Answer:
        """Sends a request that has to succeed."""
        answer = self.send(verb, path, body, key, **headers)
        assert answer.status < 300, (verb, path, answer)
        return answer

    def create(self, item: dict, key: Any) -> float:
        """Creates an item and returns the charge."""
        return charge(self.do("POST", "/docs", item, key))

    def read(self, item_id: str, key: Any) -> float:
        """Reads an item and returns the charge."""
        return charge(self.do("GET", f"/docs/{item_id}", key=key))

    def register(self, name: str, body: str) -> None:
        """Creates a stored procedure."""
        self.do("POST", "/sprocs", {"id": name, "body": body})

    def call(self, name: str, *arguments: Any, key: Any = None) -> float:
        """Executes a stored procedure and returns the charge."""
        return charge(self.do("POST", f"/sprocs/{name}", list(arguments), key))

    def load_keys(self, groups: Iterable[tuple[Any, list[dict]]]) -> None:
        """Creates items, given by logical partition, on several connections."""
        batch = {"cosmos_is_batch_request": "True", "cosmos_batch_atomic": "True"}
        parts = [(key, [{"operationType": "Create", "resourceBody": item} for item in items]) for key, items in groups]
        with ThreadPoolExecutor(LOADERS) as pool:
            answers = pool.map(lambda part: self.do("POST", "/docs", part[1], part[0], **batch), parts)
            assert all(result["statusCode"] == 201 for answer in answers for result in answer.body)

    def load_ranges(self, groups: Iterable[tuple[str, list[tuple[Any, dict]]]]) -> None:
        """Creates items with their keys, given by physical partition, on several connections."""
        parts = [
            (range_id, keyed[start : start + BATCH_ITEMS_MAX])
            for range_id, keyed in groups
            for start in range(0, len(keyed), BATCH_ITEMS_MAX)
        ]
        with ThreadPoolExecutor(LOADERS) as pool:
            list(pool.map(lambda part: self._load_part(*part), parts))

    def _load_part(self, range_id: str, keyed: list[tuple[Any, dict]]) -> None:
        bulk = {"cosmos_is_batch_request": "True", "cosmos_batch_atomic": "False"}
        bulk |= {"cosmos_batch_continue_on_error": "True", "documentdb_partitionkeyrangeid": range_id}
        while keyed:
            operations = [
                {"operationType": "Create", "resourceBody": item, "partitionKey": json.dumps([key])}
                for key, item in keyed
            ]
            results = self.do("POST", "/docs", operations, **bulk).body
            assert all(result["statusCode"] in (201, 429) for result in results), results
            keyed = [one for one, result in zip(keyed, results, strict=True) if result["statusCode"] == 429]
            if keyed:
                time.sleep(THROTTLED_SECONDS)

    def query(self, text: str, key: Any = None, pages_max: int | None = None, **headers: str) -> tuple[list, float]:
        """Returns the rows of a query's pages, and the sum of their charges."""
        rows, total, pages, token = [], 0.0, 0, None
        while pages_max is None or pages < pages_max:
            more = {"continuation": token} if token else {}
            answer = self.do("POST", "/docs", {"query": text, "parameters": []}, key, **headers, **more)
            rows += answer.body["Documents"]
            total += charge(answer)
            pages += 1
            token = answer.headers.get("x-ms-continuation")
            if not token:
                break
        return rows, total

    def query_range(self, text: str, range_id: str, pages_max: int | None = None, **headers: str) -> tuple[list, float]:
        """Runs a query on one physical partition."""
        named = {"documentdb_query_enablecrosspartition": "True", "documentdb_partitionkeyrangeid": range_id}
        return self.query(text, pages_max=pages_max, **named, **headers)

    def rewritten(self, text: str) -> str:
        """Returns what a client sends to every physical partition to merge an ordered query's rows by itself."""
        answer = self.do(
            "POST",
            "/docs",
            {"query": text, "parameters": []},
            cosmos_is_query_plan_request="True",
            cosmos_supported_query_features="OrderBy, MultipleOrderBy, Top",
            cosmos_query_version="1.4",
            documentdb_query_enablecrosspartition="True",
        )
        rewritten = answer.body["queryInfo"]["rewrittenQuery"]
        return rewritten.replace("{documentdb-formattableorderbyquery-filter}", "true")

    def ranges(self) -> list[dict]:
        """Returns the physical partitions in the order of the ring."""
        ranges = self.do("GET", "/pkranges").body["PartitionKeyRanges"]
        return sorted(ranges, key=lambda one: one["minInclusive"])
