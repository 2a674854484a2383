"""`armilla demo blog`: the worked example from loading to checking, at a tiny scale, and its workers by themselves.

What the command says of itself is compared with what an SDK finds in the containers.
"""

import json
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from azure.cosmos import CosmosClient

import charges
from blog_data import STORED_BYTES
from server import KEY, Server, binary

SECONDS_MAX = 120
USERS = 5
# What the model says of each operation, by version; the newest posts of V1 and V2 depend on the scale.
MODEL = {
    "C1": (5.71, 5.71, 6.67),
    "Q1": (1.00, 1.00, 1.00),
    "C2": (8.76, 9.90, 9.90),
    "Q2": (19.01, 1.00, 1.00),
    "Q3": (608.38, 197.84, 6.55),
    "C3": (8.57, 15.67, 15.67),
    "Q4": (27.59, 7.64, 7.64),
    "C4": (7.05, 14.14, 14.14),
    "Q5": (58.80, 8.92, 8.92),
}
MODEL_TOLERANCE = 0.002
OPERATIONS = ["C1", "Q1", "C2", "Q2", "Q3", "C3", "Q4", "C4", "Q5", "Q6"]
VERSIONS = ["V1", "V2", "V3"]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ARMILLA_")}


def _run(*arguments: str, demo: str = "blog") -> subprocess.CompletedProcess:
    command = [str(binary()), "demo", demo, *arguments]
    return subprocess.run(
        command, env=_environment(), capture_output=True, text=True, encoding="utf-8", timeout=SECONDS_MAX
    )


class Demo:
    """A run: what it printed, the figures, and the report."""

    def __init__(self, folder: Path, *arguments: str):
        self.json_file, self.report_file = folder / "blog.json", folder / "blog.html"
        files = ("--json", str(self.json_file), "--report", str(self.report_file))
        self.done = _run("--users", str(USERS), "--rounds", "3", *files, *arguments)
        assert self.done.returncode in (0, 2), self.done.stderr
        self.run = json.loads(self.json_file.read_text(encoding="utf-8"))["runs"][0]

    def cells(self) -> dict[tuple[str, str], dict]:
        return {(cell["operation"], cell["version"]): cell for cell in self.run["cells"]}


# Against a server that is there


@pytest.fixture(scope="module")
def roomy_server(tmp_path_factory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("blog"), "--durability", "relaxed").start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def kept(roomy_server, tmp_path_factory) -> Demo:
    """A run with as many physical partitions as the published figures fit, whose data stays."""
    return Demo(
        tmp_path_factory.mktemp("kept"), "--endpoint", roomy_server.http, "--keep", "--live", "60", "--partitions", "67"
    )


@pytest.fixture(scope="module")
def containers(roomy_server, kept) -> Iterator[dict[str, object]]:
    with CosmosClient(roomy_server.https, KEY) as client:
        names = ["v1/users", "v1/posts", "v2/users", "v2/posts", "v3/users", "v3/feed", "v3/leases"]
        parts = {name: name.split("/") for name in names}
        yield {
            name: client.get_database_client(f"blog-{version}").get_container_client(container)
            for name, (version, container) in parts.items()
        }


def _all(container, text: str = "SELECT * FROM c", **parameters) -> list:
    named = [{"name": f"@{name}", "value": value} for name, value in parameters.items()]
    return list(container.query_items(text, parameters=named, enable_cross_partition_query=True))


def test_every_operation_costs_what_the_model_says(kept):
    assert kept.done.returncode == 0, kept.done.stdout
    cells = kept.cells()
    assert sorted(cells) == sorted((operation, version) for operation in OPERATIONS for version in VERSIONS)
    for operation, model in MODEL.items():
        for version, wanted in zip(VERSIONS, model, strict=True):
            actual = cells[operation, version]["requestUnits"]
            assert abs(actual / wanted - 1) < MODEL_TOLERANCE, (operation, version, actual)
            assert cells[operation, version]["requestUnitsKept"] is True
    assert abs(cells["Q6", "V3"]["requestUnits"] / 16.55 - 1) < 0.005
    assert [cells["Q6", version]["requestUnitsKept"] for version in VERSIONS] == [None, None, True]
    assert cells["Q2", "V1"]["requests"] == 4
    assert cells["Q3", "V1"]["requests"] == 1 + 1 + 2 * 27
    assert cells["Q6", "V1"]["requests"] >= 67 + 300
    assert all(0 < cell["p50Ms"] <= cell["p90Ms"] <= cell["p99Ms"] for cell in cells.values())


def test_fan_out_costs_the_same_put_together_or_one_by_one(kept):
    for fan_out in kept.run["fanOut"]:
        # Every partition's charge is rounded by itself.
        assert abs(fan_out["postsMerged"] - fan_out["postsOneByOne"]) < 67 * 0.005
        assert fan_out["postsPerPartition"] == pytest.approx(2.86)


def test_table_is_for_people(kept):
    text = kept.done.stdout
    for operation in OPERATIONS:
        assert re.search(rf"^{operation}: ", text, re.MULTILINE), text
    assert len(re.findall(r"^V[123] .*%", text, re.MULTILINE)) == 30
    for line in (
        "COUNT is answered by the index here",
        "the published table repeats the figure of V1",
        "every copy is in step",
        "request units: every bar is kept",
    ):
        assert line in text
    assert kept.done.stderr.count("measured") == 30


def test_report_stands_by_itself(kept):
    page = kept.report_file.read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert page.count("<svg") >= 2
    assert "619.41" in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page), "nothing is fetched"


def test_data_is_of_the_published_shape(kept, containers):
    posts = _all(containers["v1/posts"])
    counted = Counter(item["type"] for item in posts)
    run = kept.run
    # Measuring has created a few more.
    made = counted - Counter(post=run["posts"], comment=run["comments"], like=run["likes"])
    assert set(made.values()) == {1 + 3}
    assert Counter(item["type"] for item in _all(containers["v3/feed"])) == {"post": 100}
    sizes: dict[tuple[str, int], set[int]] = {}
    for version in (1, 2):
        for item in _all(containers[f"v{version}/posts"]):
            sizes.setdefault((item["type"], version), set()).add(charges.stored_bytes(item))
    for kind in ("comment", "like"):
        for version in (1, 2):
            assert sizes[kind, version] == {STORED_BYTES[kind, version]}
    assert sizes["post", 1] == {STORED_BYTES["post", 1]}
    # Counts have one digit to three.
    assert max(sizes["post", 2]) - 1 <= STORED_BYTES["post", 2] <= max(sizes["post", 2])
    authors = Counter(item["userId"] for item in posts if item["type"] == "post")
    assert 27 in authors.values()


def _out_of_step(containers) -> list[str]:
    """Returns what is wrong with the copies, as an SDK sees it."""
    wrong = []
    names = {user["id"]: user["username"] for user in _all(containers["v2/users"])}
    items = _all(containers["v2/posts"])
    for item in items:
        if item["userUsername"] != names[item["userId"]]:
            wrong.append(f"name in {item['type']} {item['id']}")
    posts = {item["id"]: item for item in items if item["type"] == "post"}
    about = Counter((item["postId"], item["type"]) for item in items)
    members = ["id", "type", "postId", "userId", "userUsername", "title", "commentCount", "likeCount", "creationDate"]

    def copy(post: dict) -> dict:
        return {name: post[name] for name in members} | {"content": post["content"][:100]}

    wanted = {post_id: copy(post) for post_id, post in posts.items()}
    for post_id, post in posts.items():
        if (post["commentCount"], post["likeCount"]) != (about[post_id, "comment"], about[post_id, "like"]):
            wrong.append(f"counts of {post_id}")
    at_authors = _all(containers["v3/users"], "SELECT * FROM c WHERE c.type = 'post'")
    if {post["id"]: copy(post) for post in at_authors} != wanted or len(at_authors) != len(wanted):
        wrong.append("copies at authors")
    newest = sorted(posts.values(), key=lambda post: post["creationDate"])[-100:]
    if {post["id"]: copy(post) for post in _all(containers["v3/feed"])} != {post["id"]: copy(post) for post in newest}:
        wrong.append("list of the newest")
    return wrong


def test_copies_are_in_step(containers):
    assert _out_of_step(containers) == []


def test_worker_drains_what_an_sdk_wrote(roomy_server, containers):
    user = _all(containers["v2/users"], "SELECT TOP 1 * FROM c")[0]
    for version in ("v2", "v3"):
        item = {"id": user["id"], "username": "somebody-else-"}
        if version == "v3":
            item |= {"type": "user", "userId": user["id"]}
        containers[f"{version}/users"].upsert_item(item)
    post = {
        "id": "a post",
        "type": "post",
        "postId": "a post",
        "userId": user["id"],
        "userUsername": user["username"],
        "title": '"quotes", \\ and ü',
        "content": "ü\n" * 200,
        "commentCount": 0,
        "likeCount": 0,
        "creationDate": "2030-01-01T00:00:00.0000000Z",
    }
    containers["v2/posts"].create_item(post)
    assert _out_of_step(containers) != []
    done = _run("--endpoint", roomy_server.http, "--drain", demo="blog-worker")
    assert done.returncode == 0, done.stderr
    assert "nothing is new" in done.stderr
    assert _out_of_step(containers) == []
    assert containers["v2/posts"].read_item("a post", "a post")["userUsername"] == "somebody-else-"


def test_worker_runs_until_it_is_told_to_end(roomy_server, containers):
    command = [str(binary()), "demo", "blog-worker", "--endpoint", roomy_server.http]
    with subprocess.Popen(command, env=_environment(), stderr=subprocess.PIPE, text=True) as worker:
        assert "workers run" in worker.stderr.readline()
        post = _all(containers["v2/posts"], "SELECT TOP 1 * FROM c WHERE c.type = 'post'")[0]
        containers["v2/posts"].upsert_item(post | {"title": "edited"})
        key, seen = post["userId"], None
        for _ in range(200):
            seen = containers["v3/users"].read_item(post["id"], key)["title"]
            if seen == "edited":
                break
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(SECONDS_MAX) == 0
        assert "workers stopped" in worker.stderr.read()
    assert seen == "edited"


def test_copy_that_is_not_in_step_is_found(roomy_server, containers, tmp_path):
    text = "SELECT TOP 1 * FROM c WHERE c.type = 'post'"
    copy = _all(containers["v3/users"], text)[0]
    containers["v3/users"].upsert_item(copy | {"title": "not the title"})
    again = ("--endpoint", roomy_server.http, "--reuse", "--keep", "--only", "Q1", "--live", "0")
    demo = Demo(tmp_path, *again)
    assert demo.done.returncode == 2
    assert f"the copy at its author of post {copy['id']} is not what it should be" in demo.done.stdout
    assert demo.run["check"]["problems"] == 1
    containers["v3/users"].upsert_item(copy)
    assert Demo(tmp_path, *again).done.returncode == 0


# With a server of its own


def test_kills_lose_nothing(tmp_path):
    folder = tmp_path / "data"
    demo = Demo(
        tmp_path, "--partitions", "5", "--live", "400", "--kill", "--only", "Q3,C3", "--keep", "--data-dir", str(folder)
    )
    assert demo.done.returncode == 0, demo.done.stdout + demo.done.stderr
    live = demo.run["live"]
    assert live["killed"]
    assert live["writes"] == 400
    assert demo.run["check"]["problems"] == 0
    assert demo.run["partitions"] == 5
    cells = demo.cells()
    assert sorted(cells) == [(operation, version) for operation in ("C3", "Q3") for version in VERSIONS]
    # What it would be with 67 partitions is computed from what five cost.
    for version, model in zip(("V1", "V2"), MODEL["Q3"], strict=False):
        cell = cells["Q3", version]
        assert cell["requestUnits"] < cell["requestUnitsAtPublished"]
        assert abs(cell["requestUnitsAtPublished"] / model - 1) < MODEL_TOLERANCE
    assert cells["Q3", "V3"]["requestUnitsAtPublished"] is None
    assert "computed for 67 physical partitions" in demo.done.stdout
    checked = subprocess.run([str(binary()), "check", "--data-dir", str(folder)], env=_environment(), check=False)
    assert checked.returncode == 0


def test_several_scales(tmp_path):
    json_file, report_file = tmp_path / "scale.json", tmp_path / "scale.html"
    files = ("--json", str(json_file), "--report", str(report_file))
    quick = ("--rounds", "1", "--partitions", "20", "--live", "0", "--relaxed", "--no-check")
    folders = ("--data-dir", str(tmp_path / "data"), "--keep")
    for again in ((), ("--reuse",)):
        done = _run("--scale", "4,6", "--only", "C1,Q1", *quick, *files, *folders, *again)
        assert done.returncode == 0, done.stderr
        runs = json.loads(json_file.read_text(encoding="utf-8"))["runs"]
        assert [run["users"] for run in runs] == [4, 6]
        assert [("load" in run) for run in runs] == [not again] * 2
        assert all("check" not in run and "live" not in run for run in runs)
        assert "With more users" in report_file.read_text(encoding="utf-8")
    assert sorted(folder.name for folder in (tmp_path / "data").iterdir()) == ["4", "6"]


def test_it_can_be_left_up_to_look_at(tmp_path):
    command = [str(binary()), "demo", "blog", "--serve", "--users", "3", "--partitions", "2", "--data-dir", str(tmp_path)]
    with subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, text=True) as demo:
        printed = iter(demo.stdout.readline, "")
        explorer = next(line for line in printed if line.startswith("explorer=")).strip().removeprefix("explorer=")
        assert "Armilla explorer" in requests.get(explorer).text
        endpoint = explorer.removesuffix("_explorer/")
        with CosmosClient(endpoint, KEY) as client:
            for version, database in (("V1", "blog-v1"), ("V2", "blog-v2"), ("V3", "blog-v3")):
                posts = client.get_database_client(database).get_container_client("posts" if version != "V3" else "users")
                assert len(_all(posts, "SELECT c.id FROM c WHERE c.type = 'post'")) > 0, version
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(SECONDS_MAX) == 0
    with pytest.raises(requests.ConnectionError):
        requests.get(explorer)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--serve", "--only", "Q1"], "cannot be used with"),
        (["--users", "0"], "0 is not in 1.."),
        (["--partitions", "1001"], "1001 is not in 1..=1000"),
        (["--only", "Q7"], "one of C1"),
        (["--kill", "--endpoint", "http://localhost:1"], "cannot be used with"),
        (["--endpoint", "http://localhost:1"], "no server answers"),
    ],
)
def test_what_cannot_be_done(arguments, expected):
    done = _run(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert expected in done.stderr
