"""The worker as a process: quiet when there is nothing to do, gone with its parent, restarted without loss."""

import os
import signal
import subprocess
import sys
import time

import pytest
from working_projects import Person, Y, wait_until

from cusal.apps.label.worker.process import Background

PARENT = """
import subprocess, sys, time
process = subprocess.Popen([sys.executable, "-m", "cusal.apps.label.worker", sys.argv[1]])
print(process.pid, flush=True)
time.sleep(600)
"""


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="reads /proc")


@needs_proc
def test_a_worker_whose_parent_was_killed_ends(make_project):
    project = make_project()
    parent = subprocess.Popen([sys.executable, "-c", PARENT, project.place], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    try:
        wait_until(lambda: project.rounds.last_number() == 1)
        parent.kill()
        wait_until(lambda: not is_running(pid), seconds=10)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)


@needs_proc
def test_an_idle_worker_hardly_uses_the_processor(make_project, start_worker):
    project = make_project()
    process = start_worker(project)
    wait_until(
        lambda: project.status.all().get("worker", {}).get("state") == "idle" and project.rounds.last_number() == 1
    )
    before, began = processor_seconds(process.pid), time.monotonic()
    time.sleep(3)
    used = (processor_seconds(process.pid) - before) / (time.monotonic() - began)
    assert used < 0.1


def test_the_status_says_what_the_worker_does(make_project, start_worker):
    project = make_project()
    process = start_worker(project)
    wait_until(lambda: project.rounds.last_number() == 1)
    wait_until(lambda: project.status.all()["worker"]["state"] == "idle")
    assert project.status.all()["worker"]["pid"] == process.pid
    assert project.status.all()["features"]["done"] == 300
    person = Person(project, Y)
    person.label(pick.item for pick in person.look(10))
    wait_until(lambda: project.rounds.last_number() == 2)


def test_a_polite_end_is_no_error(make_project, start_worker):
    project = make_project()
    process = start_worker(project)
    wait_until(lambda: project.rounds.last_number() == 1)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0


def test_a_place_without_a_project_is_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "cusal.apps.label.worker", str(tmp_path / "none.db")], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith("there is no project")
    assert done.stderr.count("\n") == 1


def test_a_crash_is_written_down_for_the_pages(make_project, start_worker):
    project = make_project()
    process = start_worker(project)
    wait_until(lambda: project.rounds.last_number() == 1)
    with project.database.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE rounds RENAME TO lost")
    person = Person(project, Y)
    person.label(pick.item for pick in person.look(10))
    assert process.wait(30) == 1
    assert project.status.all()["worker"]["state"] == "stopped"
    assert "no such table: rounds" in project.status.all()["worker"]["message"]


def test_jobs_run_one_after_the_other_and_errors_are_results():
    background = Background()
    background.start("first", lambda: 1)
    background.start("second", lambda: 1 // 0)
    assert background.wait().value == 1
    assert isinstance(background.wait().error, ZeroDivisionError)
    assert not background.busy
    assert background.collect() is None
