"""Where tests keep stores and projects: an SQLite file, and a PostgreSQL server where one is installed."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new, empty place for a store or a project."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    server = request.getfixturevalue("postgres_server")
    psycopg = pytest.importorskip("psycopg")
    name = f"test_{os.urandom(6).hex()}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")  # a database of its own would be a copy of thousands of pages
    return f"{server}/postgres?options=-csearch_path%3D{name}"


class Server:
    """A throw-away PostgreSQL server that can be stopped and started again."""

    def __init__(self, programs: Path) -> None:
        # Not below pytest's own folder: every new run of pytest closes that to other users, and so to the server.
        self.home = Path(tempfile.mkdtemp(prefix="cusal-postgres-"))
        as_user: list[str] = []
        if os.geteuid() == 0:  # the server refuses to run as root
            account = pwd.getpwnam("postgres")
            os.chown(self.home, account.pw_uid, account.pw_gid)
            as_user = ["runuser", "-u", "postgres", "--"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        data = str(self.home / "data")
        make = [*as_user, str(programs / "initdb"), "-D", data, "-U", "cusal", "-A", "trust", "-E", "UTF8", "--no-sync"]
        self.control = [*as_user, str(programs / "pg_ctl"), "-D", data, "-w", "-t", "300"]
        self.url = f"postgresql://cusal@127.0.0.1:{self.port}"
        subprocess.run(make, check=True, capture_output=True, cwd=self.home)
        self.start()

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k {self.home} -F"
        start = [*self.control, "-o", options, "-l", str(self.home / "log"), "start"]
        subprocess.run(start, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.home)

    def stop(self) -> None:
        stop = [*self.control, "-m", "immediate", "stop"]
        stopped = subprocess.run(stop, capture_output=True, text=True, cwd=self.home)
        assert stopped.returncode == 0, stopped.stderr + (self.home / "log").read_text()[-2000:]

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.home)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server that lives as long as the tests."""
    server = Server(_programs_or_skip())
    yield server.url
    server.remove()


@pytest.fixture
def own_postgres_server() -> Iterator[Server]:
    """A server that one test may stop and start."""
    server = Server(_programs_or_skip())
    yield server
    server.remove()


def _programs_or_skip() -> Path:
    folder = _server_programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed: no initdb and postgres on the path or in /usr/lib/postgresql")
    return folder


def _server_programs() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    return next((path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), None)
