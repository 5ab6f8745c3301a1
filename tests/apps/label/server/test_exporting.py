"""Exports from the page: started, watched, listed and fetched."""

import io
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from cusal.apps.label.store import Answer, Project


def exported(client: TestClient, formats: list[str]) -> Any:
    """Start an export, and return its job when it is done."""
    job = client.post("/api/exports", json={"formats": formats}).json()
    give_up = time.monotonic() + 120
    while job["state"] == "running":
        assert time.monotonic() < give_up
        time.sleep(0.1)
        job = client.get(f"/api/exports/{job['job']}").json()
    return job


@pytest.mark.slow
def test_an_export_is_one_file_that_can_be_fetched(texts: Project, app_of: Callable[..., TestClient]) -> None:
    texts.answers.store([Answer("answer-1", 3, "me", class_id=1)])
    client = app_of(texts)
    job = exported(client, ["csv", "model"])
    assert job["state"] == "done", job
    assert "only labels are exported" in job["message"]
    (file,) = client.get("/api/exports").json()
    fetched = client.get(f"/exports/{file['name']}")
    assert fetched.headers["content-disposition"].startswith("attachment")
    with zipfile.ZipFile(io.BytesIO(fetched.content)) as archive:
        folder = file["name"].removesuffix(".zip")
        assert b"3,3,text number 3,dog,me,false" in archive.read(f"{folder}/labels.csv")
    failed = exported(client, ["csv", "nonsense"])
    assert failed["state"] == "failed"
    assert "no format named 'nonsense'" in failed["message"]
    assert len(client.get("/api/exports").json()) == 1
