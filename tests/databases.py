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


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server that lives as long as the tests."""
    folder = _server_programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed: no initdb and postgres on the path or in /usr/lib/postgresql")
    # Not below pytest's own folder: every new run of pytest closes that to other users, and so to the server.
    home = Path(tempfile.mkdtemp(prefix="cusal-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        account = pwd.getpwnam("postgres")
        os.chown(home, account.pw_uid, account.pw_gid)
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = str(home / "data")
    make = [*as_user, str(folder / "initdb"), "-D", data, "-U", "cusal", "-A", "trust", "-E", "UTF8", "--no-sync"]
    control = [*as_user, str(folder / "pg_ctl"), "-D", data, "-w", "-t", "300"]
    options = f"-h 127.0.0.1 -p {port} -k {home} -F"
    subprocess.run(make, check=True, capture_output=True, cwd=home)
    start = [*control, "-o", options, "-l", str(home / "log"), "start"]
    subprocess.run(start, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=home)
    yield f"postgresql://cusal@127.0.0.1:{port}"
    stopped = subprocess.run([*control, "-m", "immediate", "stop"], capture_output=True, text=True, cwd=home)
    assert stopped.returncode == 0, stopped.stderr + (home / "log").read_text()[-2000:]
    shutil.rmtree(home)


def _server_programs() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    return next((path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), None)
