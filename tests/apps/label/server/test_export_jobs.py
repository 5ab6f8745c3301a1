"""Exports from the page: started, watched, listed and sent as files to be saved."""

import time

import pytest


@pytest.fixture
def written(tmp_path):
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "labels.csv").write_text("item,label\n")
    (folder / "Ünï 名.jsonl").write_text("{}\n")
    (folder / "page.html").write_text("<script>alert(1)</script>")
    (folder / ".hidden").write_text("x")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "folder").mkdir()
    return folder


def test_lists_the_files_that_can_be_saved(texts, app_of, written):
    rows = app_of(texts).get("/api/exports").json()
    assert sorted(row["name"] for row in rows) == ["labels.csv", "page.html", "Ünï 名.jsonl"]
    assert next(row["size"] for row in rows if row["name"] == "labels.csv") == 11
    assert all(row["at"] <= time.time() + 1 for row in rows)


@pytest.mark.parametrize("name", ["labels.csv", "Ünï 名.jsonl", "page.html"])
def test_files_are_saved_and_never_shown(texts, app_of, written, name):
    reply = app_of(texts).get(f"/exports/{name}")
    assert reply.content == (written / name).read_bytes()
    assert reply.headers["Content-Disposition"].startswith("attachment")
    assert reply.headers["Content-Type"] == "application/octet-stream"


@pytest.mark.parametrize("name", [".hidden", "link.txt", "folder", "none.csv", "%2e%2e%2fsecret.txt", "labels.csv%00"])
def test_other_files_are_not_sent(texts, app_of, written, name):
    assert app_of(texts).get(f"/exports/{name}").status_code in (400, 404)


def test_no_exports_yet_is_an_empty_list(texts, app_of):
    assert app_of(texts).get("/api/exports").json() == []


def test_an_export_that_fails_says_why(texts, app_of):
    client = app_of(texts)
    job = client.post("/api/exports", json={"formats": ["nothing"]}).json()
    assert job["state"] == "running"
    assert client.post("/api/exports", json={"formats": ["nothing"]}).json()["job"] == job["job"]
    end = time.monotonic() + 60
    while job["state"] == "running" and time.monotonic() < end:
        job = client.get(f"/api/exports/{job['job']}").json()
        time.sleep(0.02)
    assert job["state"] == "failed"
    assert job["message"]
    assert client.get("/api/exports/none").status_code == 404


@pytest.mark.parametrize("formats", [[], ["../x"], ["CSV"], ["a" * 30], [1], "csv"])
def test_formats_are_plain_words(texts, app_of, formats):
    assert app_of(texts).post("/api/exports", json={"formats": formats}).status_code == 422
