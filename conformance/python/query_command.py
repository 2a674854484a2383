"""Runs `armilla query`, and reads what it tells of prices."""

import json
import os
import re
import subprocess
from dataclasses import dataclass

from server import Server, binary

SECONDS_MAX = 60


def ask(server: Server, database_id: str, container_id: str, *arguments: str) -> subprocess.CompletedProcess:
    """Runs the command against a server."""
    command = [str(binary()), "query", database_id, container_id, *arguments, "--endpoint", server.http]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ARMILLA_")}
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=SECONDS_MAX
    )


def hundredths(units: str | float) -> int:
    """Request units as they are counted: in hundredths, in which sums are exact."""
    return round(float(units) * 100)


@dataclass
class Priced:
    """What a query returned and cost, with the price of each step, in hundredths of a request unit."""

    rows: int
    charge: int
    steps: dict[str, int]


def priced_tree(text: str) -> Priced:
    """Reads what `--explain` printed."""
    first, *others = text.splitlines()
    units, rows = re.fullmatch(r"([\d.]+) RU: (\d+) rows? in \d+ pages?", first).groups()
    steps = {}
    for line in others:
        if share := re.match(r" +(-?[\d.]+) RU  (.*?)(?:  .*)?$", line):
            assert share[2] not in steps, text
            steps[share[2]] = hundredths(share[1])
    return Priced(int(rows), hundredths(units), steps)


def priced_json(text: str) -> Priced:
    """Reads what `--explain --json` printed."""
    explained = json.loads(text)
    steps = {part["what"]: hundredths(part["charge"]) for part in explained["price"]}
    return Priced(explained["rows"], hundredths(explained["charge"]), steps)
