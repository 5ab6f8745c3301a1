"""Processes to kill: forked from one that has imported everything, so that a start takes milliseconds, not seconds."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PROGRAM = """
import json, os, sys
import sklearn.linear_model
import cusal.apps.bench.command, cusal.apps.bench.report.from_store, cusal.cli, cusal.session.session, cusal.scale

def run(order):
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1), os.dup2(log, 2)
    sys.argv = ["cusal", *order.get("arguments", [])]
    code = 0
    try:
        exec(order["code"], {}) if "code" in order else cusal.cli.main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        import traceback
        traceback.print_exc()
        code = 99
    sys.stdout.flush(), sys.stderr.flush()
    os._exit(code)

print("ready", flush=True)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        run(json.loads(line))
    print(pid, flush=True)
    sys.stdin.readline()  # until then the dead keep their numbers
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Parent:
    """Starts one process at a time: a command of cusal, or some code."""

    def __init__(self, log: Path) -> None:
        self.log = log
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen([sys.executable, "-c", PROGRAM], text=True, **pipes)
        assert self._read() == "ready"

    def start(self, *arguments: str, code: str | None = None) -> "Child":
        order = {"log": str(self.log), "arguments": arguments} | ({} if code is None else {"code": code})
        self._write(json.dumps(order))
        return Child(self, int(self._read()))

    def end_of(self, pid: int) -> int:
        """Wait for the process that runs, and return its exit code."""
        self._write("wait")
        return int(self._read())

    def close(self) -> None:
        with self._process as process:
            process.kill()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()


class Child:
    """A process that runs, with all that it has started."""

    def __init__(self, parent: Parent, pid: int) -> None:
        self.parent, self.pid = parent, pid

    def kill(self, *, alone: bool = False) -> bool:
        """Kill the process with its children, or `alone`; return whether it was still there."""
        os.kill(self.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):  # there is no group before the process has made it
            if not alone:
                os.killpg(self.pid, signal.SIGKILL)
        return self.parent.end_of(self.pid) == -signal.SIGKILL

    @property
    def ended(self) -> bool:
        """Whether the process has ended, and only its number is left."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"

    def finish(self) -> int:
        """Wait for the end and return the exit code."""
        return self.parent.end_of(self.pid)
