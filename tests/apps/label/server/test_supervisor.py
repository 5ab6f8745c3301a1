"""A worker that ends is started again; one that is asked to end does."""

import os
import signal
import subprocess
import sys
import time

import pytest

from cusal.apps.label.server import supervisor as module
from cusal.apps.label.server.supervisor import Supervisor
from cusal.apps.label.store import Project, Settings

SLEEP = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x', flush=True); time.sleep(60)"


def wait_for(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def quick_restarts(monkeypatch):
    monkeypatch.setattr(module, "FIRST_WAIT", 0.05)
    monkeypatch.setattr(module, "SECONDS_TO_END", 0.3)


def test_starts_a_killed_worker_again_and_says_so(quick_restarts):
    told = []
    supervisor = Supervisor([sys.executable, "-c", SLEEP], told.append)
    supervisor.start()
    first = supervisor.pid
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: supervisor.starts == 2 and supervisor.pid)
    assert supervisor.state == "running"
    assert told == ["The worker ended (exit code -9); it starts again in 0 s."]
    second = supervisor.pid
    supervisor.stop()
    assert second != first
    assert not alive(second)


def test_says_the_last_words_of_a_worker_and_waits_longer_each_time(quick_restarts):
    told = []
    supervisor = Supervisor([sys.executable, "-c", "raise SystemExit('no such project')"], told.append)
    supervisor.start()
    wait_for(lambda: len(told) >= 3)
    assert supervisor.state in ("restarting", "running")
    supervisor.stop()
    assert told[0].startswith("The worker ended (exit code 1: no such project)")
    assert supervisor.state == "stopped"


def test_shows_where_a_worker_failed():
    told = []
    supervisor = Supervisor([sys.executable, "-c", "def work(): 1 / 0\nwork()"], told.append)
    supervisor.start()
    wait_for(lambda: told)
    supervisor.stop()
    assert "ZeroDivisionError: division by zero" in told[0]
    assert "Traceback" in told[0]
    assert supervisor.state == "stopped"


def test_ends_a_worker_that_does_not_want_to(quick_restarts):
    supervisor = Supervisor([sys.executable, "-c", STUBBORN])
    supervisor.start()
    time.sleep(0.5)
    pid = supervisor.pid
    supervisor.stop()
    assert not alive(pid)


def test_stops_while_it_waits_to_start_again():
    supervisor = Supervisor([sys.executable, "-c", "raise SystemExit(3)"])
    supervisor.start()
    wait_for(lambda: supervisor.state == "restarting")
    begin = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - begin < module.FIRST_WAIT
    assert supervisor.starts == 1


def test_a_worker_ends_although_its_server_was_killed_while_it_started(tmp_path):
    with Project.create(tmp_path / "texts.db", Settings(title="Texts")):
        server = """
import sys, time
from cusal.apps.label.server.supervisor import Supervisor, worker_command
supervisor = Supervisor(worker_command(sys.argv[1]))
supervisor.start()
print(supervisor.pid, flush=True)
time.sleep(60)
"""
        command = [sys.executable, "-c", server, str(tmp_path / "texts.db")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            worker = int(process.stdout.readline())
            process.kill()
        wait_for(lambda: not alive(worker), seconds=60.0)
