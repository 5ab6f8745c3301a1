"""`cusal label` as a process: what it prints, how it ends, what survives when it is killed."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import httpx
import pytest
from running import Running, free_port

from cusal.apps.label.store import Project

KILLS = 10
TEXTS = "\n".join(
    ["id,review,stars", *(f"r{row},This is the review number {row} of many.,{row % 5}" for row in range(300))]
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text(TEXTS)
    return path


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def await_end(pids, seconds=60.0):
    end = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < end, "workers outlive their server"
        time.sleep(0.05)


def children(pid):
    """Return the process ids of the children of a process."""
    return [
        int(text) for task in Path(f"/proc/{pid}/task").iterdir() for text in (task / "children").read_text().split()
    ]


def test_serves_a_table_and_ends_with_ctrl_c(table, tmp_path):
    with Running(table, "--classes", "good,bad") as server, server.client as client:
        worker = children(server.process.pid)
        project = client.get("/api/project").json()
        assert project["title"] == "reviews"
        assert project["items"] == 300
        assert [one["name"] for one in project["classes"]] == ["good", "bad"]
        item = client.get("/api/next?count=1").json()["items"][0]
        assert item["text"].startswith("This is the review")
        answer = {"id": str(uuid.uuid4()), "item": item["id"], "class": 0}
        assert client.post("/api/answers", json={"answers": [answer]}).json()["outcomes"][0]["stored"]
        assert client.get("/").headers["Content-Type"].startswith("text/html")
        assert server.end(signal.SIGINT) == 0
    place = tmp_path / "reviews.cusal.db"
    assert server.lines[0] == f"Label at {server.url}"
    assert server.lines[1] == f"Project {place}: 300 texts, 0 labelled"
    assert server.lines[-2] == f"1 label stored. Continue: cusal label {table}"
    assert server.lines[-1] == f"Export: cusal export {place}"
    assert server.errors == []
    assert worker
    assert not any(alive(pid) for pid in worker)


def test_starting_again_continues_and_takes_new_settings(table):
    with Running(table, "--classes", "good,bad", "--budget", "50") as server, server.client as client:
        item = client.get("/api/next?count=1").json()["items"][0]["id"]
        answer = {"id": "answer-0001", "item": item, "class": 1}
        client.post("/api/answers", json={"answers": [answer]})
        assert server.end() == 0  # SIGTERM
    table.write_text(TEXTS + "\nnew,A review that came later.,3\n")
    with Running(table, "--classes", "bad,ugly", "--batch", "5") as server, server.client as client:
        assert "301 texts, 1 labelled" in server.lines[1]
        project = client.get("/api/project").json()
        assert [one["name"] for one in project["classes"]] == ["good", "bad", "ugly"]
        assert project["settings"] == {"batch": 5, "budget": 50, "overlap": 1}
        assert client.get("/api/history").json()["answers"][0]["item"] == item


@pytest.mark.slow
def test_killed_in_the_middle_nothing_is_lost_and_nothing_is_doubled(table, tmp_path, record_property):
    kills = sorted(random.Random(3).sample(range(5, 290), KILLS))  # by the answers that are stored
    port, sent, stop = free_port(), [], threading.Event()
    answers = [{"id": str(uuid.uuid4()), "item": row, "class": row % 2} for row in range(300)]
    server, orphans = Running(table, "--classes", "good,bad", port=port), []

    def person():
        """Send every answer until it is stored, one request at a time, as the page does."""
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"X-Cusal": "1"}, timeout=10.0) as client:
            while len(sent) < len(answers) and not stop.is_set():
                waiting = answers[len(sent) : len(sent) + 3]
                try:
                    reply = client.post("/api/answers", json={"answers": waiting})
                    sent.extend(one["id"] for one in reply.json()["outcomes"] if one["stored"])
                except httpx.HTTPError:
                    time.sleep(0.02)

    sender = threading.Thread(target=person)
    sender.start()
    try:
        for least in kills:
            while len(sent) < least:
                time.sleep(0.001)
            orphans += children(server.process.pid)
            server.end(signal.SIGKILL)
            server = Running(table, port=port)
        sender.join(120.0)
        assert server.end(signal.SIGINT) == 0
    finally:
        stop.set()
        server.end(signal.SIGKILL)
    assert sent == [one["id"] for one in answers]
    with Project(tmp_path / "reviews.cusal.db") as project:
        stored = [event.uuid for event in reversed(project.events.find(kind="answer", count=1000))]
        assert stored == sent
        assert project.answers.labels() == {row: row % 2 for row in range(300)}
    await_end(orphans)
    record_property("kills", KILLS)


@pytest.mark.slow
def test_a_killed_worker_is_started_again_and_the_page_is_told(table):
    with Running(table, "--classes", "good,bad") as server, server.client as client:
        first = children(server.process.pid)
        assert len(first) == 1
        os.kill(first[0], signal.SIGKILL)
        states, end = set(), time.monotonic() + 60
        while children(server.process.pid) in ([], first) and time.monotonic() < end:
            states.add(client.get("/api/status").json()["worker"]["state"])
            assert client.get("/api/next?count=1").json()["items"]
            time.sleep(0.05)
        assert "restarting" in states
        assert len(children(server.process.pid)) == 1
        assert any("The worker ended (exit code -9" in line for line in server.errors)


def test_a_taken_port_is_refused_if_it_was_asked_for(table):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        command = [sys.executable, "-c", "from cusal.cli import main; main()"]
        command += ["label", str(table), "--no-browser", "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"cusal: port {port} is taken by another program; give another --port, or leave it out.\n"


@pytest.mark.slow
def test_two_projects_at_once_get_two_ports(table, tmp_path):
    with Running(table, port=None) as first, Running(table, "--store", str(tmp_path / "b.db"), port=None) as second:
        assert first.url != second.url
        assert "(port 8765 is taken)" in second.lines[0]


@pytest.mark.slow
def test_others_enter_by_the_link_also_after_a_restart(table):
    port = free_port()
    with Running(table, "--host", "127.0.0.1", port=port) as server, server.client as client:
        assert "/enter?token=" in server.url
        assert client.get("/api/status").status_code == 401
        assert client.get(server.url).status_code == 200
        assert client.get("/api/status").status_code == 200
        server.end(signal.SIGKILL)
        with Running(table, "--host", "127.0.0.1", port=port):
            assert client.get("/api/status").status_code == 200


HEAVY = ["sklearn", "torch", "pandas", "scipy", "numba", "pyarrow", "matplotlib"]
LOOK = f"""
import sys
from fastapi.testclient import TestClient
from pathlib import Path
from cusal.cli import app
from cusal.apps.label.command import Options
from cusal.apps.label.server.app import make_app
from cusal.apps.label.server.listening import open_socket
from cusal.apps.label.server.app_state import Live
from cusal.apps.label.start import start_project
light = [name for name in {HEAVY} if name in sys.modules]
for data in sys.argv[1:]:
    started = start_project(Options(data, classes=("a", "b")))
    client = TestClient(make_app(Live(started.project, exports=Path("exports"))), base_url="http://localhost")
    for path in ("/api/project", "/api/next", "/api/browse", "/api/report", "/api/guesses", "/api/exports", "/"):
        assert client.get(path).status_code == 200, path
    answer = {{"answers": [{{"id": "answer-1", "item": 0, "class": 0}}]}}
    assert client.post("/api/answers", json=answer, headers={{"X-Cusal": "1"}}).status_code == 200
    if started.project.settings.kind == "image":
        assert client.get("/media/0").status_code == 200
print(light, [name for name in {HEAVY} if name in sys.modules])
"""


def test_the_server_loads_nothing_heavy(table, photos, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(table), photos.settings.data], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[] []"
