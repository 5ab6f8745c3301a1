"""Processes that are killed in the middle, and processes that write at once: nothing is lost, nothing doubled."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from projects import check_consistency, fill

from cusal.apps.label import Answer, Pick, Project

# Each answers or adds what it is told, and says on its output what is certainly stored.
ADDING = """
import sys
from cusal.apps.label import NewItem, Project

def rows():
    for i in range(20_000):
        yield NewItem(str(i), f"text of {i}", label="even" if i % 2 == 0 and i < 8_000 else None)
        if i % 5_000 == 1:
            print(i, flush=True)

with Project(sys.argv[1]) as project:
    project.items.add(rows())
print("done", flush=True)
"""

ANSWERING = """
import sys
from cusal.apps.label import Answer, Project

place, person, first, stop = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with Project(place) as project:
    for item in range(first, stop):
        [outcome] = project.answers.store([Answer(f"{person} {item}", item, person, "label", item % 2)])
        assert outcome.stored
        print(item, flush=True)
"""

ASKING = """
import sys
from cusal.apps.label import Answer, Project

place, person = sys.argv[1:3]
with Project(place) as project:
    while picks := project.queue.next_picks(person, 3):
        project.answers.store([Answer(f"{person} {pick.item}", pick.item, person, "label", 0) for pick in picks])
"""


def start(code, *arguments):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def said(process):
    """Return the whole numbers that a process printed before it ended."""
    return [int(line) for line in process.stdout.read().split() if line.isdigit()]


@pytest.mark.parametrize("after", [0, 2])
def test_adding_items_continues_after_a_kill(project, after):
    process = start(ADDING, project.place)
    for _ in range(after + 1):
        process.stdout.readline()
    time.sleep(0.02 * after)
    kill(process)
    process.stdout.close()
    known = project.items.count()
    assert known % 5_000 == 0
    assert known >= 5_000 * (after - 1)
    check_consistency(project)
    second = start(ADDING, project.place)
    second.communicate()
    assert second.returncode == 0
    assert project.items.count() == 20_000
    assert [one.key for one in project.items.of([0, 4_999, 5_000, 19_999])] == ["0", "4999", "5000", "19999"]
    assert project.answers.progress()["by_person"] == {"import": 4_000}
    check_consistency(project)


def test_answers_that_were_confirmed_survive_a_kill(project):
    fill(project, items=300)
    process = start(ANSWERING, project.place, "me", 0, 300)
    for _ in range(40):
        process.stdout.readline()
    kill(process)
    rest = said(process)
    process.stdout.close()
    confirmed = 40 + len(rest)
    mine = [one.item for one in project.answers.given(person="me")]
    assert mine == list(range(len(mine)))
    assert confirmed <= len(mine) <= confirmed + 1  # one may be stored without a word about it
    check_consistency(project)
    again = start(ANSWERING, project.place, "me", 0, confirmed + 20)  # what the browser does not know to be stored
    again.communicate()
    assert len(project.answers.given(person="me")) == confirmed + 20
    assert len(project.events.find(person="me", count=9_999)) == confirmed + 20
    check_consistency(project)


def test_processes_write_at_once(project):
    fill(project, items=400)
    processes = [start(ANSWERING, project.place, person, 0, 40) for person in ("ann", "bob")]
    adding = start(ADDING, project.place)
    for process in [*processes, adding]:
        process.communicate()
        assert process.returncode == 0
    assert project.items.count() == 20_402
    assert project.answers.progress()["by_person"] == {"ann": 40, "bob": 40, "import": 4_002}
    assert [event.id for event in project.events.find(count=10**6)] == list(range(project.events.latest(), 0, -1))
    check_consistency(project)


@pytest.mark.parametrize("overlap", [1, 2])
def test_no_item_goes_to_more_people_than_the_overlap(project, overlap):
    fill(project, items=45)
    project.change_settings(overlap=overlap)
    project.queue.put([Pick(item, "pick") for item in range(45)], round=1)
    processes = [start(ASKING, project.place, person) for person in ("ann", "bob", "cem")]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    for item in range(45):
        assert len(project.answers.given([item])) == overlap
    check_consistency(project)


def test_threads_of_one_process_share_a_project(project):
    fill(project, items=25)

    def work(person):
        for item in range(25):
            project.answers.store([Answer(f"{person} {item}", item, person, "label", 0)])
            project.answers.progress()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, [f"person {i}" for i in range(6)]))
    assert project.answers.progress()["by_person"] == {"import": 2} | {f"person {i}": 25 for i in range(6)}
    check_consistency(project)


def test_a_project_that_is_open_elsewhere_is_left_readable(project):
    fill(project)
    writer = start("import sys; from cusal.apps.label import Project; Project(sys.argv[1]); input()", project.place)
    try:
        with Project(project.place) as other:
            assert other.answers.labels() == project.answers.labels()
    finally:
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
