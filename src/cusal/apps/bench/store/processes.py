"""Who holds a run: a process by a name that no other has, and whether it is still alive."""

import os
import socket
from functools import cache
from pathlib import Path


def process_name(pid: int | None = None) -> str:
    """Return a name that no other process has, now or later: machine, process id (this one's), time of its start."""
    pid = pid or os.getpid()
    return f"{_machine()}/{pid}/{_started(pid)}"


def is_here(owner: str) -> bool:
    """Return whether this process is, or was, one that can be seen from here: of this machine and container."""
    host, _, process = owner.partition("/")
    return host == _machine() and process.partition("/")[0].isdigit()


def is_dead(owner: str) -> bool:
    """Return whether this process is known to be gone; one on another machine cannot be seen and may live."""
    if not is_here(owner):
        return False
    number, _, started = owner.partition("/")[2].partition("/")
    pid = int(number)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return started != "" and started != _started(pid)


@cache
def _machine() -> str:
    """The host name, with what tells two containers of one name apart: neither sees the other's processes."""
    marks = [socket.gethostname().replace("/", "_")]
    try:
        marks.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        marks.append(os.readlink("/proc/self/ns/pid").strip("pid:[]"))
    except OSError:  # no Linux: the name has to do
        return marks[0]
    return ":".join(marks)


def _started(pid: int) -> str:
    """The kernel's start time of a process, which tells it from a later one of the same number; "" if not known."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in "ZX" else fields[18]  # one that ended and was not yet waited for still has a number
