"""A folder of images as items: which files, in which order, with which labels."""

import os

import pytest

from cusal.apps.label import Project
from cusal.apps.label.sources import SourceOptions, default_place, open_source, read_in, source_of
from cusal.errors import DataError, InvalidInput, ProjectError


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"image")


def keys(source):
    return [row.key for row in source.rows()]


def test_images_of_all_kinds_in_sub_folders_are_sorted_by_path(tmp_path):
    names = ["a.jpg", "a/b.JPEG", "a/c/d.png", "a-b.webp", "z.tif", "Z.tiff", "b/e.gif", "b.bmp"]
    make(tmp_path, *names, "notes.txt", "a/x.svg", ".hidden.png", ".git/x.png", "page.html")
    source = open_source(tmp_path)
    assert keys(source) == sorted(names)
    assert source.kind == "image"
    assert source.settings().title == tmp_path.name


def test_links_that_leave_the_folder_are_left_out_and_said(tmp_path):
    folder = tmp_path / "photos"
    make(folder, "a.png", "sub/b.png")
    make(tmp_path, "secret.png", "other/c.png")
    os.symlink(tmp_path / "secret.png", folder / "link.png")
    os.symlink(tmp_path / "other", folder / "others")
    os.symlink(folder / "a.png", folder / "same.png")
    os.symlink(folder, folder / "sub" / "loop")
    os.symlink(tmp_path / "nothing.png", folder / "gone.png")
    source = open_source(folder)
    assert keys(source) == ["a.png", "same.png", "sub/b.png"]
    assert source.notes() == ["2 links lead out of the folder and were left out; the first is gone.png."]


def test_a_name_that_is_not_utf8_is_left_out_and_said(tmp_path):
    make(tmp_path, "a.png")
    with open(os.fsencode(tmp_path) + b"/caf\xe9.png", "wb"):
        pass
    source = open_source(tmp_path)
    assert keys(source) == ["a.png"]
    assert "not UTF-8" in source.notes()[0]


def test_names_of_sub_folders_are_labels(tmp_path):
    make(tmp_path, "cat/1.png", "dog/small/2.png", "3.png")
    rows = open_source(tmp_path, SourceOptions(folders_are_labels=True)).rows()
    assert {row.key: row.label for row in rows} == {"3.png": None, "cat/1.png": "cat", "dog/small/2.png": "dog/small"}


def test_a_file_of_labels_finds_images_by_path_and_by_name(tmp_path):
    folder = tmp_path / "photos"
    make(folder, "a.png", "x/b.png", "x/c.png", "y/c.png", "d e.png")
    labels = tmp_path / "labels.csv"
    lines = [
        "Label,File",
        "cat,a.png",
        "dog,.\\x\\b.png",
        "dog,c.png",
        f"cat,{folder}/y/c.png",
        "owl,b.png",
        ",d e.png",
    ]
    labels.write_text("\n".join([*lines, "cat,../photos/d e.png", "cat,none.png"]))
    source = open_source(folder, SourceOptions(labels=str(labels)))
    assert list(source.known_labels) == [
        ("a.png", "cat"),
        ("x/b.png", "dog"),
        ("y/c.png", "cat"),
        ("x/b.png", "owl"),
        ("d e.png", "cat"),
    ]
    assert source.notes() == ["2 known labels are of files that are not in the folder; the first is c.png."]


def test_a_folder_without_images_and_options_of_tables_are_refused(tmp_path):
    with pytest.raises(DataError, match="holds no images"):
        open_source(tmp_path)
    make(tmp_path, "a.png")
    with pytest.raises(InvalidInput, match="has no columns"):
        open_source(tmp_path, SourceOptions(text="text"))
    with pytest.raises(DataError, match="there is no folder or table"):
        open_source(tmp_path / "nothing")
    with pytest.raises(DataError, match="with known labels"):
        open_source(tmp_path, SourceOptions(labels=str(tmp_path / "none.csv")))


def test_new_files_are_added_missing_ones_marked_and_those_that_return_unmarked(tmp_path):
    folder = tmp_path / "photos"
    make(folder, "b.png", "c.png", "d/e.png")
    source = open_source(folder)
    with Project.create(default_place(folder), source.settings()) as project:
        assert read_in(project, source).added == 3
        make(folder, "a.png")
        (folder / "c.png").unlink()
        (folder / "d" / "e.png").rename(tmp_path / "aside.png")
        again = read_in(project, source_of(project))
        assert (again.added, again.missing, again.back, again.finished) == (1, 2, 0, True)
        assert [one.key for one in project.items.of(project.items.ids())] == ["b.png", "a.png"]
        assert project.items.get(1).note == "the file is not there any more"
        (tmp_path / "aside.png").rename(folder / "d" / "e.png")
        again = read_in(project, source_of(project))
        assert (again.added, again.missing, again.back) == (0, 0, 1)
        assert [one.key for one in project.items.of(project.items.ids())] == ["b.png", "d/e.png", "a.png"]
        assert project.status.all()["items"]["finished"]


def test_the_first_images_are_read_in_by_themselves(tmp_path):
    folder = tmp_path / "photos"
    make(folder, *(f"{i}.png" for i in range(9)))
    source = open_source(folder)
    with Project.create(default_place(folder), source.settings()) as project:
        first = read_in(project, source, limit=4)
        assert (first.added, first.finished, project.items.count()) == (4, False, 4)
        assert not project.status.all()["items"]["finished"]
        assert read_in(project, source, limit=9).finished
        assert project.items.count("ok") == 9


def test_the_project_is_kept_beside_the_data(tmp_path, monkeypatch):
    make(tmp_path, "photos/a.png")
    assert default_place(tmp_path / "photos") == tmp_path / "photos.cusal.db"
    assert default_place(tmp_path / "photos/") == tmp_path / "photos.cusal.db"
    assert default_place(tmp_path / "my.texts.csv.gz") == tmp_path / "my.texts.cusal.db"
    monkeypatch.chdir(tmp_path / "photos")
    assert default_place(".") == tmp_path / "photos.cusal.db"
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ProjectError, match="--store"):
        default_place(tmp_path / "photos")
