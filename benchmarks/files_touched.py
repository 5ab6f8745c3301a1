"""How many files of cusal run code for one call: what a reader has to open who follows it.

    python benchmarks/files_touched.py

A file counts if one of its functions runs; importing it alone does not count. `ask` and `predict_proba` are those of a
session over vectors with a model of scikit-learn and some labels; the round is that of the app's worker.
"""

import argparse
import contextlib
import io
import sys
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal

SOURCE = Path(cusal.__file__).parent


def files_of(call: Callable[[], Any]) -> list[str]:
    """Return the files of cusal whose functions run in a call, by their paths in the package."""
    found: set[str] = set()

    def seen(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(f"{SOURCE}/"):
            found.add(code.co_filename)

    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(str(Path(name).relative_to(SOURCE)) for name in found)


def session() -> cusal.Session:
    """Return a session over 400 digits with 20 labels, not fitted yet."""
    items, labels = load_digits(return_X_y=True)
    return cusal.Session(items[:400], LogisticRegression(max_iter=500), labelled=(np.arange(20), labels[:20]))


def measured() -> dict[str, list[str]]:
    """Return the files of each call."""
    asked, predicting = session(), session()
    predicting.fit()
    found = {
        "ask": files_of(lambda: asked.ask(10)),
        "predict_proba": files_of(lambda: predicting.predict_proba(predicting.items)),
    }
    with tempfile.TemporaryDirectory() as folder:
        found["round of the worker"] = files_of(worker_round(Path(folder)))
    return found


def worker_round(folder: Path) -> Callable[[], Any]:
    """Return the round of the app's worker that follows on a batch of ten answers, over 300 digits as vectors."""
    from cusal.apps.label import Answer, ClassChange, NewItem, Project, Settings
    from cusal.apps.label.worker.process import Worker

    items, labels = load_digits(return_X_y=True)
    np.save(folder / "vectors.npy", items[:300].astype(np.float32))
    project = Project.create(folder / "digits.db", Settings("Digits", "text", features=str(folder / "vectors.npy")))
    project.items.add(NewItem(f"{number}", f"digit number {number}") for number in range(300))
    for number in range(10):
        project.classes.change(ClassChange(str(uuid.uuid4()), "me", "add", name=str(number)))
    worker = Worker(project)

    def run_until_round(number: int) -> None:
        while (project.rounds.last_number() or 0) < number:
            worker.step()

    for number in (1, 2):  # the cold start, and the first round with a model
        run_until_round(number)
        picks = project.queue.next_picks("me", 10)
        project.answers.store(
            [Answer(str(uuid.uuid4()), one.item, "me", class_id=int(labels[one.item])) for one in picks]
        )
    return lambda: run_until_round(3)


def main() -> None:
    """Print the number of files of each call, and with --list their names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name the files too")
    arguments = parser.parse_args()
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        found = measured()
    for name, files in found.items():
        print(f"{name}: {len(files)} files")
        if arguments.list:
            print("".join(f"    {file}\n" for file in files), end="")


if __name__ == "__main__":
    main()
