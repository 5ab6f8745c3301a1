"""The project behind `cusal label`: begun, continued, and protected from options that contradict it."""

import os
import shutil

import numpy as np
import pytest
from PIL import Image

from cusal.apps.label.command import exports_folder
from cusal.apps.label.sources import SourceOptions
from cusal.apps.label.start import Options, start_project
from cusal.apps.label.store import Round
from cusal.errors import CusalError, DataError, InvalidInput, ProjectError

SET_ASIDE = "Set aside, because they cannot be read: 1. Browse lists them: Answer, Missing or broken."


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "reviews.csv"
    rows = [f"{row},The film number {row} was long and loud.,{'good' if row % 2 else 'bad'}" for row in range(20)]
    path.write_text("\n".join(["id,review,verdict", *rows]))
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "photos"
    for name in ("cats/a.png", "cats/b.png", "dogs/c.png"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.zeros((4, 4), np.uint8)).save(path / name)
    return path


def start(data, *, close=True, **options):
    started = start_project(Options(str(data), **options))
    if close:
        started.project.close()
    return started


def test_a_new_project_is_kept_beside_its_data(table, tmp_path):
    started = start(table, classes=("good", " bad ", "good"), changes={"batch": 7, "seed": 3}, close=False)
    with started.project as project:
        assert project.place == str(tmp_path / "reviews.cusal.db")
        assert project.items.count() == 20
        assert [one.name for one in project.classes.all()] == ["good", "bad"]
        assert (project.settings.batch, project.settings.seed) == (7, 3)
        assert started.finished
        assert exports_folder(project) == tmp_path / "reviews.cusal.exports"


def test_a_project_continues_with_what_is_given_again(table):
    start(table, changes={"batch": 7, "budget": 100})
    started = start(table, changes={"batch": 9, "overlap": 2}, classes=("new",), close=False)
    with started.project as project:
        settings = project.settings
        assert (settings.batch, settings.budget, settings.overlap) == (9, 100, 2)
        assert project.items.count() == 20


def test_known_labels_can_come_later(table):
    start(table)
    started = start(table, source=SourceOptions(label="verdict"), close=False)
    with started.project as project:
        assert project.answers.progress()["labelled"] == 20
        assert {one.name for one in project.classes.all()} == {"good", "bad"}


def test_folders_are_labels_on_request(folder):
    with start(folder, close=False).project as project:
        assert project.answers.progress()["labelled"] == 0
    with start(folder, source=SourceOptions(folders_are_labels=True), close=False).project as project:
        assert sorted(one.name for one in project.classes.all()) == ["cats", "dogs"]
    with start(folder, close=False).project as project:
        assert project.settings.options["folders_are_labels"]


def test_new_files_are_noticed_missing_ones_said_and_found_again(folder, tmp_path):
    start(folder)
    shutil.move(folder / "cats" / "a.png", tmp_path / "a.png")
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(folder / "dogs" / "d.png")
    started = start(folder)
    assert started.remarks == [
        "1 files are new since the last start.",
        "1 files are not there any more; their items are left out until they return.",
    ]
    shutil.move(tmp_path / "a.png", folder / "cats" / "a.png")
    started = start(folder, close=False)
    with started.project as project:
        assert started.remarks == ["1 files that were missing are back."]
        assert project.items.count("ok") == 4


def test_a_broken_file_that_was_changed_is_tried_again(folder):
    with start(folder, close=False).project as project:
        project.items.mark(0, "broken", "cannot be read")
        project.items.mark(1, "broken", "cannot be read")
    Image.fromarray(np.ones((4, 4), np.uint8)).save(folder / "cats" / "a.png")
    os.utime(folder / "cats" / "a.png", (1, 1))  # the date of the copy that it was restored from
    started = start(folder, close=False)
    with started.project as project:
        assert started.remarks == ["1 files that were broken have changed, and are tried again.", SET_ASIDE]
        assert project.items.ids("broken").tolist() == [1]
        assert project.items.get(0).note is None
    assert start(folder).remarks == [SET_ASIDE]


def test_data_that_moved_with_their_project_are_found(folder, tmp_path):
    start(folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(folder, elsewhere / "photos")
    shutil.move(tmp_path / "photos.cusal.db", elsewhere / "photos.cusal.db")
    with start(elsewhere / "photos", close=False).project as project:
        assert project.settings.data == str(elsewhere / "photos")
        assert project.items.count("ok") == 3


def test_other_data_are_refused(table, folder, tmp_path):
    start(table)
    other = tmp_path / "other.csv"
    shutil.copy(table, other)
    for data in (other, folder):
        with pytest.raises(ProjectError, match=r"is about .*reviews\.csv, not .*; name another project by --store"):
            start(data, store=str(tmp_path / "reviews.cusal.db"))


def test_another_column_is_refused(table):
    start(table)
    with pytest.raises(ProjectError, match="begun with --text review, not verdict"):
        start(table, source=SourceOptions(text="verdict"))
    start(table, source=SourceOptions(text="review"))


def test_another_seed_is_refused_once_a_model_has_learned(table):
    with start(table, changes={"seed": 1}, close=False).project as project:
        project.rounds.add(Round(1, 10, {}))
    start(table, changes={"seed": 1})
    with pytest.raises(ProjectError, match="was begun with --seed 1"):
        start(table, changes={"seed": 2})


@pytest.mark.parametrize("classes", [("",), ("a", ""), (" ",)])
def test_an_empty_class_name_is_refused(table, classes):
    with pytest.raises(InvalidInput, match="holds an empty name"):
        start(table, classes=classes)


def test_features_are_a_file_that_is_there(table, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"there is no file none\.npy with features"):
        start(table, changes={"features": "none.npy"})
    np.save(tmp_path / "own.npy", np.zeros((20, 2)))
    monkeypatch.chdir(tmp_path)
    with start(table, changes={"features": "own.npy"}, close=False).project as project:
        assert project.settings.features == str(tmp_path / "own.npy")


def test_data_that_are_not_there_make_no_project(tmp_path):
    with pytest.raises(CusalError, match="there is no folder or table"):
        start(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_a_project_begins_and_continues_in_either_database(table, place):
    start(table, store=place, changes={"batch": 4})
    with start(table, store=place, close=False).project as project:
        assert project.settings.batch == 4
        assert project.items.count() == 20


def test_every_call_works_on_either_database(table, place, app_of):
    with start(table, store=place, classes=("good", "bad"), close=False).project as project:
        client = app_of(project)
        items = [item["id"] for item in client.get("/api/next?count=3").json()["items"]]
        answers = [{"id": f"answer-{item}", "item": item, "class": 1} for item in items]
        assert client.post("/api/answers", json={"answers": answers}).json()["progress"]["labelled"] == 3
        assert client.post("/api/undo", json={"id": "undo-0001"}).json()["progress"]["labelled"] == 2
        body = {"id": "labels-0001", "items": [0, 1, 2], "class": 0}
        assert client.post("/api/labels", json=body).status_code == 200
        body = {"id": "classes-0001", "action": "merge", "class": 0, "into": 1}
        assert len(client.post("/api/classes", json=body).json()["classes"]) == 1
        assert client.post("/api/release", json={"items": items}).status_code == 200
        for path in ("project", "status", "history", "report", "guesses", "exports", "items/0", "classes"):
            assert client.get(f"/api/{path}").status_code == 200, path
        query = {"label": 1, "person": "me", "kind": "label", "text": "film", "order": "recent", "disagree": False}
        assert client.get("/api/browse", params=query).status_code == 200


def test_exports_of_a_project_on_a_server_lie_beside_the_data(table, place):
    with start(table, store=place, close=False).project as project:
        folder = exports_folder(project)
        name = "reviews.csv.cusal.exports" if "://" in place else "runs.exports"
        assert folder == table.with_name(name)
