"""Exports of a project: what is in the files, that they read back, and that nothing is overwritten or left behind."""

import csv
import json
import uuid
import xml.etree.ElementTree as ElementTree
import zipfile

import numpy as np
import pandas
import pytest
from PIL import Image

import cusal
from cusal.apps.label.export.write import write_archive, write_export
from cusal.apps.label.store import Answer, NewItem, Project, Round, Settings
from cusal.apps.label.worker.saved import Saved
from cusal.errors import CusalError
from cusal.tables import plain_cell

HARD = ["../x", "CON", "🐈‍⬛ cat", "a/b", "a?b", "n" * 300, "=1+1", "plain"]


def says(project, item, label, person="anna", **options):
    ids = {one.name: one.id for one in project.classes.all()}
    kind = "label" if label in ids else label
    answer = Answer(str(uuid.uuid4()), item, person, kind, ids.get(label), at=1.7e9 + item, **options)
    (outcome,) = project.answers.store([answer])
    assert outcome.stored, outcome.reason


@pytest.fixture
def texts(tmp_path):
    """A project of eight texts, each of which brings its class along; people answer some of them."""
    settings = Settings(title="Mails", kind="text", data=str(tmp_path / "mails.csv"))
    with Project.create(tmp_path / "mails.cusal.db", settings) as project:
        rows = [NewItem(f"row {i}", f'=text {i}, "quoted"\nand more', {"from": i}, name) for i, name in enumerate(HARD)]
        project.items.add([*rows, NewItem("-9", "nobody answered")])
        says(project, 0, "plain", seconds=1.5)
        says(project, 0, "plain", person="ben")
        says(project, 1, "skip", person="ben")
        yield project


@pytest.fixture
def images(tmp_path):
    """A project of images, whose keys are hard to flatten."""
    data = tmp_path / "photos"
    keys = ["a/b.png", "a_b.png", "A_b.png", "c.png", "gone.png", "linked.png"]
    (data / "a").mkdir(parents=True)
    for number, key in enumerate(keys[:4]):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(data / key)
    Image.new("RGB", (8, 8)).save(tmp_path / "secret.png")
    (data / "linked.png").symlink_to(tmp_path / "secret.png")
    settings = Settings(title="Photos", kind="image", data=str(data))
    with Project.create(tmp_path / "photos.cusal.db", settings) as project:
        project.items.add([NewItem(key, label=HARD[i % 2]) for i, key in enumerate(keys)])
        yield project


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: plain_cell(value) for key, value in row.items()} for row in csv.DictReader(file)]


def test_labels_and_answers_say_who_and_when(texts, tmp_path):
    notes = []
    written = write_export(texts, tmp_path / "out", ["csv"], tell=notes.append)
    assert [path.name for path in written] == ["answers.csv", "card.json", "card.md", "labels.csv"]
    assert "only labels are exported" in notes[0]
    labels = rows_of(tmp_path / "out" / "labels.csv")
    assert [row["label"] for row in labels] == ["plain", *HARD[1:]]
    assert labels[0] | {"text": ""} == {
        "item": "0",
        "key": "row 0",
        "text": "",
        "label": "plain",
        "people": "import, anna, ben",
        "disagree": "true",
        "at": labels[0]["at"],
    }
    answers = rows_of(tmp_path / "out" / "answers.csv")
    assert len(answers) == len(HARD) + 3
    (anna,) = [row for row in answers if row["person"] == "anna"]
    assert anna == {
        "item": "0",
        "key": "row 0",
        "person": "anna",
        "kind": "label",
        "label": "plain",
        "at": "2023-11-14T22:13:20Z",
        "seconds": "1.5",
    }
    (ben,) = [row for row in answers if row["kind"] == "skip"]
    assert (ben["item"], ben["person"], ben["label"]) == ("1", "ben", "")


def test_the_three_table_formats_hold_the_same(texts, tmp_path):
    write_export(texts, tmp_path / "out", ["csv", "jsonl", "parquet"])
    lines = (tmp_path / "out" / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    from_json = [json.loads(line) for line in lines]
    from_parquet = pandas.read_parquet(tmp_path / "out" / "labels.parquet").to_dict("records")
    for a, b, c in zip(rows_of(tmp_path / "out" / "labels.csv"), from_json, from_parquet, strict=True):
        assert a["label"] == b["label"] == c["label"]
        assert a["text"] == b["text"] == c["text"]
        assert a["at"] == b["at"] == c["at"].strftime("%Y-%m-%dT%H:%M:%SZ")


def test_no_cell_of_the_csv_files_is_a_formula(texts, tmp_path):
    write_export(texts, tmp_path / "out", ["csv"])
    for name in ("labels.csv", "answers.csv"):
        with (tmp_path / "out" / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert any(cell.startswith("'=") for cell in cells)
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_label_studio_gets_tasks_and_the_configuration_for_them(texts, tmp_path):
    write_export(texts, tmp_path / "out", ["labelstudio"])
    tasks = json.loads((tmp_path / "out" / "label_studio.json").read_text(encoding="utf-8"))
    tree = ElementTree.parse(tmp_path / "out" / "label_studio.xml")
    choices = [choice.get("value") for choice in tree.iter("Choice")]
    assert choices == [one.name for one in texts.classes.all()]
    assert tree.find("Text").attrib == {"name": "item", "value": "$text"}
    assert len(tasks) == len(HARD)
    for task in tasks:
        assert task["data"]["text"].startswith("=text")
        for annotation in task["annotations"]:
            for result in annotation["result"]:
                assert (result["from_name"], result["to_name"], result["type"]) == ("label", "item", "choices")
                assert result["value"]["choices"][0] in choices
    assert [a["was_cancelled"] for a in tasks[1]["annotations"]] == [False, True]
    assert tasks[0]["meta"]["answers"][1]["person"] == "anna"


def test_label_studio_finds_images_in_local_files(images, tmp_path):
    write_export(images, tmp_path / "out", ["labelstudio"])
    tasks = json.loads((tmp_path / "out" / "label_studio.json").read_text(encoding="utf-8"))
    assert tasks[0]["data"]["image"] == "/data/local-files/?d=photos/a/b.png"


def test_images_are_copied_into_folders_of_their_classes(images, tmp_path):
    notes = []
    write_export(images, tmp_path / "out", ["imagefolder"], tell=notes.append)
    copied = sorted(str(path.relative_to(tmp_path / "out" / "images")) for path in (tmp_path / "out").rglob("*.png"))
    assert copied == ["CON_/a_b.png", "CON_/c.png", "_x/A_b (2).png", "_x/a_b.png"]
    assert not any(path.is_symlink() for path in (tmp_path / "out").rglob("*"))
    classes = json.loads((tmp_path / "out" / "images" / "classes.json").read_text(encoding="utf-8"))
    assert classes == {"_x": "../x", "CON_": "CON"}
    first = (tmp_path / "out" / "images" / "_x" / "a_b.png").read_bytes()
    assert first == (tmp_path / "photos" / "a" / "b.png").read_bytes()
    assert any(note.startswith("2 labelled images are not in images/, for instance gone.png") for note in notes)


def test_texts_have_no_folder_of_images(texts, tmp_path):
    with pytest.raises(CusalError, match="the items are of the kind text; choose csv"):
        write_export(texts, tmp_path / "out", ["csv", "imagefolder"])
    assert not (tmp_path / "out").exists()


def test_a_format_that_is_not_known_is_named(texts, tmp_path):
    with pytest.raises(CusalError, match="no format named 'cvs'; did you mean 'csv'"):
        write_export(texts, tmp_path / "out", ["cvs"])


def test_a_folder_is_replaced_only_if_that_is_said(texts, tmp_path):
    write_export(texts, tmp_path / "out", ["csv"])
    (tmp_path / "out" / "mine.txt").write_text("keep me")
    with pytest.raises(CusalError, match="is there already; choose another name with --out"):
        write_export(texts, tmp_path / "out", ["csv"])
    assert (tmp_path / "out" / "mine.txt").exists()
    write_export(texts, tmp_path / "out", ["jsonl"], force=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("answers.jsonl", "card.json", "card.md", "labels.jsonl"),
    ]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_export_can_be_one_file(texts, tmp_path):
    (tmp_path / "exports").mkdir()
    path = write_archive(texts, tmp_path / "exports", "mails-1", ["csv"])
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == [
            f"mails-1/{name}" for name in sorted(["answers.csv", "card.json", "card.md", "labels.csv"])
        ]
    assert list((tmp_path / "exports").iterdir()) == [path]


def test_the_card_counts_and_escapes(texts, tmp_path):
    write_export(texts, tmp_path / "out", ["csv"])
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert card["labels"]["people"] == {"import": len(HARD), "anna": 1, "ben": 1}
    assert (card["labels"]["agreement"]["items"], card["labels"]["agreement"]["disagreements"]) == (1, 1)
    assert card["data"] == {"name": "mails.csv", "ok": len(HARD) + 1, "missing": 0, "broken": 0}
    assert str(tmp_path) not in json.dumps(card)
    text = (tmp_path / "out" / "card.md").read_text(encoding="utf-8")
    assert "There is no model" in text
    assert "Of 1 items with several labels, people disagree on 1" in text


def test_labels_are_exported_also_where_the_model_cannot_be_restored(texts, tmp_path):
    texts.rounds.add(Round(1, 8, {}, session=b"damaged"))
    notes = []
    write_export(texts, tmp_path / "out", ["csv"], tell=notes.append)
    assert len(rows_of(tmp_path / "out" / "labels.csv")) == len(HARD)
    texts.change_settings(features="no_such_module:function")
    saved = Saved(np.arange(3), "no_such_module:function", 3, 0, [], cusal.Session(np.eye(3)).to_bytes())
    texts.rounds.add(Round(2, 8, {}, session=saved.to_bytes()))
    write_export(texts, tmp_path / "again", ["csv"], tell=notes.append)
    assert len(rows_of(tmp_path / "again" / "labels.csv")) == len(HARD)
    assert "no module 'no_such_module'" in notes[-1]
