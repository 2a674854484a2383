"""SeaweedFS, an object store with the API of S3, as a process of the tests' own."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

START_SECONDS_MAX = 60
BUCKET = "armilla"

# It speaks gRPC on ports that are so much higher than those for HTTP.
GRPC = 10_000

# Where it makes sockets, whatever it is told.
SOCKETS = Path("/tmp")


class Weed:
    """One server of SeaweedFS on free ports, with its folder."""

    def __init__(self, folder: Path, address: str = "127.0.0.1"):
        self.folder = folder
        self._address = address
        self._process: subprocess.Popen | None = None
        self._ports = dict(zip(("s3", "master", "volume", "filer"), _free_ports(), strict=True))

    def start(self) -> "Weed":
        """Starts it, waits until it answers, and makes the bucket."""
        self.folder.mkdir(parents=True, exist_ok=True)
        ports = self._ports
        command = [
            str(Path(sys.executable).parent / "weed"),
            "-logtostderr",
            "server",
            f"-dir={self.folder}",
            f"-ip={self._address}",
            f"-ip.bind={self._address}",
            "-s3",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            f"-s3.port={ports['s3']}",
            f"-master.port={ports['master']}",
            f"-volume.port={ports['volume']}",
            f"-filer.port={ports['filer']}",
            "-master.volumeSizeLimitMB=64",
            # As many volumes as there is room for on the disk: long runs need more than there are by default.
            "-volume.max=0",
        ]
        with (self.folder / "weed.log").open("ab") as log:
            environment = {**os.environ, "TMPDIR": str(self.folder)}
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                self.put(BUCKET)
                # The first object makes it grow the volumes that objects lie in, which takes a while.
                self.put(f"{BUCKET}/first")
                return self
            except (urllib.error.URLError, OSError) as error:
                if time.monotonic() > deadline:
                    self.stop()
                    text = (self.folder / "weed.log").read_text(errors="replace")[-2000:]
                    raise AssertionError(f"SeaweedFS does not answer: {error}; {text}") from error
                time.sleep(0.2)

    def put(self, path: str) -> None:
        """Puts an empty object, or makes a bucket."""
        request = urllib.request.Request(f"{self.endpoint}/{path}", method="PUT", data=b"")
        urllib.request.urlopen(request, timeout=START_SECONDS_MAX)

    @property
    def endpoint(self) -> str:
        """Where it speaks S3."""
        return f"http://{self._address}:{self._ports['s3']}"

    def environment(self) -> dict[str, str]:
        """What a client needs in its environment."""
        return {
            "AWS_ENDPOINT": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "armilla",
            "AWS_SECRET_ACCESS_KEY": "armilla",
        }

    def names(self, prefix: str) -> set[str]:
        """The names of all objects whose name begins so."""
        found: set[str] = set()
        start = ""
        while True:
            query = urllib.parse.urlencode({"list-type": 2, "prefix": prefix, "start-after": start})
            with urllib.request.urlopen(f"{self.endpoint}/{BUCKET}?{query}", timeout=START_SECONDS_MAX) as answer:
                text = answer.read().decode()
            page = re.findall("<Key>([^<]*)</Key>", text)
            found.update(page)
            if "<IsTruncated>true</IsTruncated>" not in text:
                return found
            start = max(page)

    def pause(self) -> None:
        """Lets it answer nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Lets it go on."""
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ends it."""
        if self._process is not None and self._process.poll() is None:
            # It takes its time to end, and what it has is not wanted any more.
            self._process.kill()
            self._process.wait()
        for name, port in self._ports.items():
            for socket_name in (f"seaweedfs-{name}-{port}.sock", f"seaweedfs-{name}-grpc-{port + GRPC}.sock"):
                (SOCKETS / socket_name).unlink(missing_ok=True)


def _free_ports() -> list[int]:
    """Returns four ports whose neighbours for gRPC are free as well."""
    found: list[int] = []
    for port in range(20_000 + (time.time_ns() // 1000) % 20_000, 50_000):
        if len(found) == 4:
            return found
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + GRPC))
            except OSError:
                continue
            found.append(port)
    raise AssertionError("there are no four free ports")
