"""A simulated person in the labelling app beside a plain `Session`: the same picks, the same model, an honest interval.

    CUSAL_DATA=... python benchmarks/label_person.py              10,000 MNIST images as PNG files, some minutes
    CUSAL_DATA=... python benchmarks/label_person.py --questions  banking77 with 77 classes too, more than half an hour

The person gives 300 labels, ten a round, through the project's own queue and worker. The session has the same vectors,
classifier, seed and random share. Accuracy is that of the items without a label; the interval is what the page shows.
"""

import argparse
import csv
import json
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cusal
from cusal.apps.bench import datasets
from cusal.apps.label import Answer, ClassChange, Project
from cusal.apps.label.sources import open_source, read_in
from cusal.apps.label.worker.process import Worker
from cusal.features import image_vectors, sentence_vectors
from cusal.models import PoolClassifier
from label_start import banking, images

RESULTS = Path(__file__).parent / "results" / "label_person.json"
ROUNDS, BATCH, SEED, AUDIT = 30, 10, 0, 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", action="store_true", help="banking77 too")
    cases = {"10,000 images": digits} | ({"banking77": questions} if parser.parse_args().questions else {})
    settings = {"labels": ROUNDS * BATCH, "batch": BATCH, "seed": SEED, "audit": AUDIT}
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in cases.items():
            rows[name] = compare(Path(folder), *data(Path(folder)))
            print(f"{name}: {rows[name]}", flush=True)
            RESULTS.write_text(json.dumps({"settings": settings, "results": rows}, indent=1) + "\n")


def digits(folder: Path) -> tuple[Path, str, NDArray[Any], list[str]]:
    place = images(folder / "digits")
    return (
        place,
        "auto",
        image_vectors(sorted(place.glob("*.png"))),
        [str(y) for y in datasets.load("mnist").test_labels],
    )


def questions(folder: Path) -> tuple[Path, str, NDArray[Any], list[str]]:
    whole = banking(folder / "whole.csv")
    rows = list(csv.DictReader(whole.open(encoding="utf-8")))
    place = folder / "questions.csv"  # without the column that knows the labels
    with place.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["text"], *([row["text"]] for row in rows)])
    return place, "minilm", sentence_vectors([row["text"] for row in rows]), [row["label"] for row in rows]


def compare(folder: Path, place: Path, features: str, vectors: NDArray[Any], labels: list[str]) -> dict[str, Any]:
    session = cusal.Session(vectors, PoolClassifier(), audit=AUDIT, seed=SEED, classes=sorted(set(labels)))
    truth, source = np.array(labels), open_source(place)
    with Project.create(folder / f"{place.stem}.cusal.db", source.settings()) as project:
        project.change_settings(features=features, seed=SEED)
        read_in(project, source)
        for name in sorted(set(labels)):
            project.change_classes(ClassChange(str(uuid.uuid4()), "me", "add", name=name))
        numbers = {one.name: one.id for one in project.classes()}
        worker, same = Worker(project), 0
        for number in range(1, ROUNDS + 1):
            work_until(worker, lambda number=number: (project.last_round_number() or 0) >= number)  # type: ignore[misc]
            picks = [pick for pick in project.next_picks("me", 3 * BATCH) if pick.origin != "reserve"]
            query = session.ask(BATCH)
            same += len({pick.item for pick in picks} & set(query.indices.tolist()))
            project.answer(
                [Answer(str(uuid.uuid4()), pick.item, "me", class_id=numbers[labels[pick.item]]) for pick in picks]
            )
            session.tell(query.indices, truth[query.indices])
        work_until(worker, lambda: (project.last_round_number() or 0) > ROUNDS)
        shown, own = project.last_round(), worker.learning.session
        open_items = own.pool.open
        names = {number: name for name, number in numbers.items()}
        predicted = np.array([names[int(one)] for one in own.predict(own.items[open_items])])
    rest = session.pool.open
    return {
        "picks in common": f"{same} of {ROUNDS * BATCH}",
        "accuracy in the app": round(float((predicted == truth[open_items]).mean()), 4),
        "accuracy of the session": round(float((session.predict(vectors[rest]) == truth[rest]).mean()), 4),
        "shown": {key: round(shown.report["accuracy"][key], 4) for key in ("estimate", "low", "high")},
    }


def work_until(worker: Worker, condition: Callable[[], bool]) -> None:
    while not condition():
        worker.step()


if __name__ == "__main__":
    main()
