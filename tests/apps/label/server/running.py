"""A real `cusal label` process to call."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

import httpx

PROGRAM = "from cusal.cli import main; main()"
SECONDS_TO_START = 120.0  # on a machine that is busy with other things


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _keep(stream: IO[str], lines: list[str]) -> None:
    with stream:
        for line in stream:
            lines.append(line.rstrip("\n"))  # noqa: PERF401 - others read each line at once


class Running:
    """A server in a process of its own, from its start to its end."""

    def __init__(self, data: Path | str, *options: str, port: int | None = 0) -> None:
        ports = [] if port is None else ["--port", str(port)]
        command = [sys.executable, "-c", PROGRAM, "label", str(data), "--no-browser", *ports, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self.errors: list[str] = []
        for stream, lines in ((self.process.stdout, self.lines), (self.process.stderr, self.errors)):
            threading.Thread(target=_keep, args=(stream, lines), daemon=True).start()
        self.url = self._await_address()

    def _await_address(self) -> str:
        end = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < end:
            found = next((re.search(r"http://\S+", line) for line in self.lines if " at http" in line), None)
            if found is not None and self._answers(found[0]):
                return found[0]
            assert self.process.poll() is None, "\n".join(self.errors)
            time.sleep(0.02)
        raise AssertionError("the server did not start in time")

    @staticmethod
    def _answers(url: str) -> bool:
        try:
            httpx.get(url, timeout=5.0)
        except httpx.HTTPError:
            return False
        return True

    @property
    def client(self) -> httpx.Client:
        """A new caller with the header of changes."""
        base = re.match(r"http://[^/]+", self.url)
        assert base is not None
        return httpx.Client(base_url=base[0], headers={"X-Cusal": "1"}, timeout=30.0)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, wait for the end and return the exit code."""
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        code = self.process.wait(60.0)
        time.sleep(0.1)  # the threads that read its output end with it
        return code

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
