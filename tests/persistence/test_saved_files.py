"""One format number of sessions, models and audits: stored files of it are read, older ones migrated, newer refused."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from write_saved_files import ITEMS

import cusal
from cusal.errors import DataError
from cusal.persistence import object_file

FILES = Path(__file__).with_name("files")
LOAD = {
    "small.session": lambda path: cusal.Session.load(path, ITEMS),
    "small.cusal": cusal.load_model,
    "small.audit": cusal.Audit.load,
}


def numbered(path, name, **changes):
    """Write a stored file with other parts in its header."""
    with zipfile.ZipFile(FILES / name) as source, zipfile.ZipFile(path, "w") as target:
        for part in source.namelist():
            content = source.read(part)
            if part == "content.json":
                tree = json.loads(content)
                tree["of"] = [[key, changes.get(key, value)] for key, value in tree["of"]]
                content = json.dumps(tree)
            target.writestr(part, content)
    return path


def test_a_stored_session_is_read():
    pytest.importorskip("sklearn", minversion="1.8")  # its classifier has settings that earlier versions do not know
    session = LOAD["small.session"](FILES / "small.session")
    assert session.labels == {0: "a", 1: "a", 18: "b", 19: "b"}
    assert session.predict(ITEMS[[0, 19]]).tolist() == ["a", "b"]


def test_a_stored_model_is_read():
    assert LOAD["small.cusal"](FILES / "small.cusal").predict(np.array([[0.0], [19.0]])).tolist() == ["a", "b"]


def test_a_stored_audit_is_read():
    audit = LOAD["small.audit"](FILES / "small.audit")
    assert (len(audit), audit.checks) == (20, 2)


@pytest.mark.parametrize("name", LOAD)
def test_stored_files_have_the_present_format(name):
    with zipfile.ZipFile(FILES / name) as archive:
        assert dict(json.loads(archive.read("content.json"))["of"])["format"] == object_file.FORMAT


@pytest.mark.parametrize("name", LOAD)
def test_a_file_of_an_older_format_is_migrated(name, tmp_path, monkeypatch):
    steps = []
    older = {number: lambda content, number=number: steps.append(number) or content for number in (1, 2)}
    monkeypatch.setattr(object_file, "MIGRATIONS", older)
    LOAD[name](numbered(tmp_path / name, name, format=1))
    assert steps == [1, 2]


@pytest.mark.parametrize("name", LOAD)
@pytest.mark.parametrize("number", [99, -1, 1.5, "3", None, [3]])
def test_a_file_of_an_unknown_format_is_refused(name, number, tmp_path):
    with pytest.raises(DataError, match=r"has format .*, written by cusal 9\.0, but this is cusal .*install the other"):
        LOAD[name](numbered(tmp_path / name, name, format=number, cusal="9.0"))
