"""Hosts on this machine: network namespaces on one bridge, between which the network can be cut.

It takes Linux, the command `ip`, and the right to make namespaces. Everything is named after the process, and goes with it.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator

BRIDGE_HOST = 1
FIRST_HOST = 11

# What a host calls its side of the link to the bridge.
INSIDE = "inside"
# The address of no network card on the bridge.
NOBODY = "02:00:00:00:00:01"


class Network:
    """A bridge on which this process is a host too."""

    # A range of addresses and names of its own for each, so that several can be there at once: what was taken away is gone
    # a little later.
    _made = 0

    def __init__(self):
        Network._made += 1
        self._name = f"{os.getpid() % 100_000}x{Network._made}"
        self._prefix = f"10.{77 + os.getpid() % 100}.{(os.getpid() // 100 + 7 * Network._made) % 250}"
        self.bridge = f"arm{self._name}"
        self.address = f"{self._prefix}.{BRIDGE_HOST}"
        self.hosts: list[Host] = []

    def __enter__(self) -> "Network":
        with self._undone_on_failure():
            ip("link", "add", self.bridge, "type", "bridge")
            ip("addr", "add", f"{self.address}/24", "dev", self.bridge)
            ip("link", "set", self.bridge, "up")
        return self

    def add_host(self) -> "Host":
        """Adds a host."""
        number = len(self.hosts)
        name, address = f"arm{self._name}n{number}", f"{self._prefix}.{FIRST_HOST + number}"
        host = Host(name, address, f"arm{self._name}v{number}")
        with self._undone_on_failure():
            ip("netns", "add", name)
            self.hosts.append(host)
            ip("link", "add", host.link, "type", "veth", "peer", "name", INSIDE, "netns", name)
            ip("link", "set", host.link, "master", self.bridge, "up")
            host.ip("addr", "add", f"{address}/24", "dev", INSIDE)
            host.ip("link", "set", INSIDE, "up")
            host.ip("link", "set", "lo", "up")
        return host

    @contextlib.contextmanager
    def _undone_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_) -> None:
        for host in self.hosts:
            ip("netns", "del", host.name, check=False)
        ip("link", "del", self.bridge, check=False)


class Host:
    """A network namespace with one address."""

    def __init__(self, name: str, address: str, link: str):
        self.name = name
        self.address = address
        self.link = link

    def command(self, *words: str) -> list[str]:
        """Returns a command that runs there."""
        return ["ip", "netns", "exec", self.name, *words]

    def ip(self, *words: str, check: bool = True) -> None:
        """Runs `ip` there."""
        ip("-n", self.name, *words, check=check)

    def cut_from(self, other: "Host") -> None:
        """Lets nothing through between two hosts, without a word to either: what they send goes to nobody."""
        for one, far in ((self, other), (other, self)):
            one.ip("neigh", "replace", far.address, "lladdr", NOBODY, "dev", INSIDE, "nud", "permanent")

    def join_with(self, other: "Host") -> None:
        """Undoes that."""
        for one, far in ((self, other), (other, self)):
            one.ip("neigh", "del", far.address, "dev", INSIDE)

    def cut_off(self) -> None:
        """Lets nothing through between this host and everything else."""
        ip("link", "set", self.link, "nomaster")

    def join(self, network: Network) -> None:
        """Undoes that."""
        ip("link", "set", self.link, "master", network.bridge)


def ip(*words: str, check: bool = True) -> None:
    """Runs the command `ip`."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def why_not() -> str | None:
    """Returns why there can be no network here, if so."""
    if shutil.which("ip") is None:
        return "there is no command `ip` (Debian's package iproute2)"
    try:
        with Network() as network:
            network.add_host()
    except OSError as error:
        return f"network namespaces cannot be made here: {error}"
    return None
