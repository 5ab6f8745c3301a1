"""Speed of a labelling project: reading in a large table, answering, asking, browsing.

    python benchmarks/label_store.py                    1,000,000 texts of 200 letters, in a few minutes
    python benchmarks/label_store.py --rows 50000       fewer

The project is an SQLite file in a temporary folder (`--folder` says where; a million rows need 1 GB), deleted at the
end. Milliseconds are wall time at the median and the 99th percentile, `cpu` is processor time of a call. `bare_commit`
is one durable transaction of one row by the sqlite3 module on the same disk: an answer cannot take less. `while_adding`
is measured while another process adds items to the same project as fast as it can.
"""

import argparse
import json
import os
import platform
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from cusal.apps.label import Answer, Filter, NewItem, Pick, Project
from cusal.apps.label.sources import open_source, read_in

RESULTS = Path(__file__).parent / "results" / "label_store.json"
LETTERS = 200
CALLS = 300
RECORD = 20_000  # answers that are in the project when it is measured for the second time
Case = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the table and the project are written")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--add", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.add:
        add_for_ever(options.add)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        cases = measure(Path(name), options.rows)
    for case in cases:
        print(json.dumps(case))
    about = {"rows": options.rows, "letters": LETTERS, "calls": CALLS, "python": platform.python_version()}
    about |= {"sqlite": sqlite3.sqlite_version, "processors": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
    options.out.write_text(json.dumps({"settings": about, "cases": cases}, indent=1) + "\n")


def measure(folder: Path, rows: int) -> list[Case]:
    table = folder / "texts.csv"
    with table.open("w") as file:
        file.write("text,source\n")
        file.writelines(f"{text},{number % 7}\n" for number, text in enumerate(texts(rows)))
    cases = [once("open_and_first_5000", lambda: list(islice(open_source(table).rows(), 5_000)), rows=5_000)]
    source = open_source(table)
    with Project.create(folder / "texts.cusal.db", source.settings()) as project:
        cases.append(once("read_in", lambda: read_in(project, source), rows=rows))
        project.answers.import_labels([("1", "good"), ("2", "bad")])
        cases.append(calls("bare_commit", bare_commits(folder)))
        cases += [*labelling(project, rows, ""), *browsing(project, rows)]
        record(project)
        cases += labelling(project, rows, f" after {RECORD} answers")
        project.change_settings(overlap=2)
        cases += labelling(project, rows, f" with overlap 2, behind {RECORD} own answers")
        project.change_settings(overlap=1)
        cases += beside_adding(project, rows)
        cases.append({"case": "peak memory of this process", "megabytes": round(peak_megabytes(), 1)})
    return cases


def labelling(project: Project, rows: int, when: str, count: int = CALLS) -> list[Case]:
    """Measure answers and questions by turns, as a person makes them."""
    rng = random.Random(project.events.latest())
    project.queue.put([Pick(item, "pick", {"kind": "new"}) for item in rng.sample(range(rows), 3_000)], round=1)
    screen = [pick.item for pick in project.queue.next_picks("me", 15)]

    def answer(_: int) -> None:
        answer = Answer(str(uuid.uuid4()), screen.pop(0), "me", "label", rng.randrange(2), seconds=1.0)
        assert project.answers.store([answer])[0].stored

    def ask(_: int) -> None:
        screen.extend(pick.item for pick in project.queue.next_picks("me", 1, exclude=screen))

    times: dict[str, list[tuple[float, float]]] = {"answer": [], "next_picks": []}
    for number in range(count):
        times["answer"].append(timed(answer, number))
        times["next_picks"].append(timed(ask, number))
    return [summary(name + when, some) for name, some in times.items()]


def browsing(project: Project, rows: int) -> list[Case]:
    event = project.events.latest() - 10
    pages: dict[str, Callable[[int], Any]] = {
        "progress": lambda _: project.answers.progress(),
        "changes_since": lambda _: project.events.changes_since(event),
        "browse_a_page": lambda i: project.browse.rows(Filter(), after=i * rows // CALLS),
        "browse_labelled": lambda _: project.browse.rows(Filter(labelled=True, order="recent")),
    }
    cases = [calls(name, call) for name, call in pages.items()]
    return [*cases, once("search_for_a_rare_word", lambda: project.browse.rows(Filter(text="nowhere")), rows=rows)]


def beside_adding(project: Project, rows: int) -> list[Case]:
    adding = subprocess.Popen([sys.executable, __file__, "--add", project.place])
    try:
        while project.items.count() < rows + 5_000:
            time.sleep(0.1)
        return labelling(project, rows, " while_adding", CALLS // 3)
    finally:
        adding.kill()
        adding.wait()


def record(project: Project) -> None:
    """Answer many items that were asked, as after a week."""
    items = range(RECORD)
    project.queue.put([Pick(item, "pick") for item in items], round=2)
    for start in range(0, RECORD, 500):
        part = [Answer(str(uuid.uuid4()), item, "me", "label", item % 2) for item in items[start : start + 500]]
        project.answers.store(part)


def add_for_ever(place: str) -> None:
    with Project(place) as project:
        for part in range(10**9):
            project.items.add(NewItem(f"{part} {i}", "x" * LETTERS) for i in range(50_000))


def bare_commits(folder: Path) -> Callable[[int], None]:
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    for line in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "CREATE TABLE t (a INTEGER, b TEXT)"):
        connection.execute(line)

    def commit(number: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (?, ?)", (number, "x" * LETTERS))
        connection.execute("COMMIT")

    return commit


def texts(rows: int) -> Iterator[str]:
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5_000)]
    some = [" ".join(rng.choices(words, k=40)) for _ in range(10_000)]
    for number in range(rows):
        yield f"{number} {some[number % len(some)]}"[:LETTERS]


def once(name: str, call: Callable[[], Any], *, rows: int) -> Case:
    wall, cpu = timed(lambda _: call(), 0)
    return {"case": name, "seconds": round(wall, 3), "rows_per_second": round(rows / wall), "cpu": round(cpu, 3)}


def calls(name: str, call: Callable[[int], Any]) -> Case:
    return summary(name, [timed(call, number) for number in range(CALLS)])


def timed(call: Callable[[int], Any], number: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    call(number)
    return time.perf_counter() - wall, time.process_time() - cpu


def summary(name: str, times: list[tuple[float, float]]) -> Case:
    wall, cpu = np.array(times).T * 1000
    figures = {"p50_ms": np.median(wall), "p99_ms": np.quantile(wall, 0.99), "cpu_ms": np.median(cpu)}
    return {"case": name} | {key: round(float(value), 2) for key, value in figures.items()}


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
