"""How far a command is: on a terminal one line that changes, elsewhere nothing or plain lines."""

import os
import pty
import re
import subprocess

import pytest
from azure.cosmos import CosmosClient, PartitionKey

from server import KEY, Server, binary

SECONDS_MAX = 60
ITEMS = 30
# Back to the beginning of the line, and clear it.
AGAIN = "\r\x1b[2K"


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Server:
    """A server with a few items, which runs."""
    server = Server(tmp_path_factory.mktemp("progress"), "--durability", "relaxed").start()
    with CosmosClient(server.https, KEY) as client:
        database = client.create_database("d")
        container = database.create_container("c", PartitionKey("/id"))
        for number in range(ITEMS):
            container.create_item({"id": str(number)})
    return server


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ARMILLA_")}


def _on_terminal(*arguments: str) -> tuple[str, str]:
    """Runs a command whose standard error is a terminal; returns what it printed, and what the terminal got."""
    terminal, its_end = pty.openpty()
    command = [str(binary()), *arguments]
    process = subprocess.Popen(
        command,
        env=_environment() | {"TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=its_end,
    )
    os.close(its_end)
    shown = b""
    # A terminal whose other end is closed is an error to read.
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    printed, _ = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 0, shown
    return printed.decode(), shown.decode()


def _piped(*arguments: str) -> subprocess.CompletedProcess:
    command = [str(binary()), *arguments]
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    return done


def test_an_export_leaves_its_last_line_on_a_terminal(filled, tmp_path):
    export = ("export", "--database", "d", "--container", "c", "--endpoint", filled.http)
    printed, shown = _on_terminal(*export, str(tmp_path / "items.jsonl"))
    last = shown.rsplit(AGAIN, 1)[-1]
    assert re.fullmatch(rf"exported {ITEMS} items, \d+ a second *\r\n", last), shown
    assert printed == f"exported {ITEMS} items to {tmp_path / 'items.jsonl'}\n"
    # Elsewhere it says how far it is only if it is asked to.
    assert "a second" not in _piped(*export, str(tmp_path / "quiet.jsonl")).stderr
    told = _piped(*export, "--progress", "on", str(tmp_path / "told.jsonl")).stderr
    assert f"exported {ITEMS} items, " in told
    assert "\r" not in told


def test_a_check_leaves_nothing_but_its_result(filled):
    assert filled.stop() == 0
    check = ("check", "--data-dir", str(filled.data_folder))
    printed, shown = _on_terminal(*check)
    assert printed.startswith("check: ")
    assert "reading " in shown
    assert shown.endswith(AGAIN)
    assert "\n" not in shown
    # What is over within a second is not worth a line.
    done = _piped(*check)
    assert (done.stdout, done.stderr) == (printed, "")
