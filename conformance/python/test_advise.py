"""`armilla advise` against a server that the official SDK has used, and without a server, from files."""

import json
import subprocess
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient, PartitionKey

from server import KEY, Server, binary

ARGUMENTS = ["--memory", "--throttle", "off", "--mongo-port", "off", "--gremlin-port", "off", "--table-port", "off"]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory):
    """A server with a shop whose orders are asked for by customer, and not keyed so."""
    server = Server(tmp_path_factory.mktemp("advise"), *ARGUMENTS).start()
    try:
        client = CosmosClient(server.http, KEY)
        database = client.create_database("shop")
        orders = database.create_container("orders", PartitionKey("/id"), offer_throughput=60_000)
        for number in range(400):
            customer = f"customer-{number % 40}"
            orders.create_item({"id": f"order-{number}", "type": "order", "customer": customer, "total": number})
        # The load that is judged begins here.
        subprocess.run([*advise(server), "--forget"], check=True, capture_output=True)
        for number in range(40):
            rows = orders.query_items(
                "SELECT * FROM c WHERE c.customer = @c",
                parameters=[{"name": "@c", "value": f"customer-{number}"}],
                enable_cross_partition_query=True,
            )
            assert len(list(rows)) == 10
        yield server
    finally:
        server.stop()


def advise(server: Server) -> list[str]:
    return [str(binary()), "advise", "--endpoint", server.http, "--key", KEY]


def run(server: Server, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*advise(server), *arguments], capture_output=True, text=True, check=False)


def test_it_finds_what_the_sdk_asked_of_every_partition(used: Server):
    done = run(used, "--json")
    assert done.returncode == 0, done.stderr
    advice = json.loads(done.stdout)
    found = {finding["rule"]: finding for finding in advice["findings"]}
    finding = found["fan-out-query"]
    assert finding["container"] == "shop/orders"
    assert finding["try"] == ["--try-copy shop/orders.order:/customer"] or finding["try"] == [
        "--try-copy shop/orders:/customer"
    ]
    assert finding["comparison"]["measured"] is True
    line = finding["comparison"]["operations"][0]
    assert line["after"] < line["before"] / 2


def test_it_is_told_to_people(used: Server, tmp_path: Path):
    page = tmp_path / "advice.html"
    done = run(used, "--database", "shop", "--html", str(page))
    assert done.returncode == 0, done.stderr
    assert "fan-out-query" in done.stdout
    assert "docs/modelling/queries.md#fan-out-query" in done.stdout
    text = page.read_text()
    assert "<svg" in text and "fan-out-query" in text and "<script" not in text


def test_a_finding_can_fail_a_build(used: Server):
    assert run(used, "--fail-on", "note").returncode == 2
    unknown = run(used, "--fail-on", "terrible")
    assert unknown.returncode == 1
    assert "severe, warning or note" in unknown.stderr


def test_what_if(used: Server):
    done = run(used, "--try-key", "orders:/customer", "--json")
    assert done.returncode == 0, done.stderr
    compared = json.loads(done.stdout)
    query = next(line for line in compared["operations"] if "customer" in line["operation"])
    assert query["after"] < query["before"] / 2
    for arguments, message in [
        (["--try-key", "lines:/customer"], "there is no one container 'lines'"),
        (["--try-key", "orders"], "CONTAINER:/PATH"),
        (["--container", "nothing"], "there is no container of that name"),
    ]:
        failed = run(used, *arguments)
        assert failed.returncode == 1
        assert message in failed.stderr


def test_without_a_server(tmp_path: Path):
    items, requests, page = tmp_path / "orders.jsonl", tmp_path / "log.jsonl", tmp_path / "page.html"
    items.write_text(
        "".join(
            json.dumps({"id": f"o{n}", "type": "order", "customer": f"c{n % 40}", "total": n}) + "\n" for n in range(400)
        )
    )
    query = {
        "container": "orders",
        "op": "query",
        "query": "SELECT * FROM c WHERE c.customer = @c",
        "parameters": [{"name": "@c", "value": "c7"}],
        "count": 30,
    }
    requests.write_text(json.dumps(query) + "\n")
    command = [str(binary()), "advise", "--items", f"orders:/id={items}", "--requests", str(requests), "--over-seconds", "60"]
    done = subprocess.run([*command, "--json", "--html", str(page)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rules = [finding["rule"] for finding in json.loads(done.stdout)["findings"]]
    assert "fan-out-query" in rules
    assert page.exists()
    requests.write_text('{"container":"orders","op":"guess"}\n')
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "log.jsonl line 1" in failed.stderr


def test_a_record_that_cannot_be_read_is_left_as_it_is(tmp_path: Path, expect_log):
    # It was told, and then written over when the server ended.
    record = tmp_path / "requests.json"
    record.write_text('{"half')
    expect_log("the record of requests begins anew")
    server = Server(tmp_path, *ARGUMENTS, "--request-record-file", str(record)).start()
    server.stop()
    assert record.read_text() == '{"half'
    assert any("begins anew" in line for line in server.complaints())
    record.unlink()
    server = Server(tmp_path, *ARGUMENTS, "--request-record-file", str(record)).start()
    server.stop()
    assert json.loads(record.read_text())
