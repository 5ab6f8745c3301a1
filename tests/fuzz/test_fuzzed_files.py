"""Every reader of files with damaged ones: flipped bytes, cut short, random bytes. Only a `CusalError` comes out."""

import csv
import gzip
import json
import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from public_calls import ITEMS, LABELS, PROBS, TRUTH, audit, session

import cusal
from cusal.apps.bench import datasets
from cusal.errors import CusalError

pytest.importorskip("sqlalchemy")
pytest.importorskip("pydantic")
pytest.importorskip("pyarrow")

import pyarrow.parquet

from cusal.apps.bench.grid import PRESETS, read_grid
from cusal.apps.bench.report.from_store import load
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import ExportedRuns, Store
from cusal.apps.label import NewItem, Predictions, Project, Settings
from cusal.audit.prediction_table import read_predictions
from cusal.deploy.model_file import model_state, write_model
from cusal.deploy.session_model import model_of
from cusal.features import GivenVectors
from cusal.tables import NamedColumns

COUNTS: Counter[str] = Counter()
Reader = Callable[[Path], Any]


def make_files(folder: Path) -> dict[str, tuple[Path, Reader]]:
    """Write a valid file for each reader, and return both."""
    spec = Spec("try", "margin", "digits", "margin", seed=0, rounds=3, batch_size=2, warm_up=4, network={"name": "x"})
    with Store(folder / "runs.db") as store:
        store.add([spec.run])
        store.export(folder / "archive")
    with sqlite3.connect(folder / "runs.db") as connection:  # one file, without the log beside it
        connection.execute("PRAGMA journal_mode=DELETE")
    with Project.create(folder / "project.db", Settings("t", data="x.csv")) as project:
        project.items.add([NewItem(f"{i}", f"text {i}") for i in range(5)])
    with sqlite3.connect(folder / "project.db") as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    (run_file,) = (folder / "archive").rglob("*.json.gz")
    session().save(folder / "a.session")
    audit().save(folder / "a.audit")
    (folder / "packed").write_bytes(session().to_bytes())
    np.save(folder / "pool.npy", PROBS)
    np.savez(folder / "pool.npz", probs=PROBS)
    np.savez(folder / "labelled.npz", probs=PROBS, labels=LABELS)
    np.savez(folder / "own.npz", train=ITEMS, train_labels=TRUTH, test=ITEMS, test_labels=TRUTH)
    rows = [{"id": f"r{i}", "label": f"c{LABELS[i]}", "confidence": float(PROBS[i].max())} for i in range(12)]
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (folder / "table.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = pyarrow.table({"id": [row["id"] for row in rows], "probs": PROBS.tolist()})
    pyarrow.parquet.write_table(table, folder / "pool.parquet")
    (folder / "pool.jsonl").write_text("\n".join(map(json.dumps, table.to_pylist())))
    with (folder / "pool.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "p0", "p1", "p2"], *([row["id"], *PROBS[i]] for i, row in enumerate(rows))])
    write_model(folder / "model.cusal", model_state(*model_of(session(), GivenVectors(), {0: "a", 1: "b"})), "# card")
    (folder / "grid.toml").write_text((PRESETS / "digits.toml").read_text())
    top = np.zeros(3, np.int32)
    (folder / "predictions").write_bytes(
        Predictions(np.arange(3), top, top + 1, np.full(3, 0.6, np.float32), np.full(3, 0.2, np.float32)).to_bytes()
    )
    return {
        "session": (folder / "a.session", lambda path: cusal.Session.load(path, ITEMS).ask(1)),
        "packed session": (
            folder / "packed",
            lambda path: cusal.Session.from_bytes(path.read_bytes(), ITEMS, session().model).ask(1),
        ),
        "audit": (folder / "a.audit", lambda path: cusal.Audit.load(path).ask(1)),
        "model": (folder / "model.cusal", lambda path: cusal.load_model(path).predict_proba(ITEMS)),
        "pool.npy": (folder / "pool.npy", lambda path: _score(path, folder / "labelled.npz")),
        "pool.npz": (folder / "pool.npz", lambda path: _score(path, folder / "labelled.npz")),
        "pool.csv": (folder / "pool.csv", lambda path: _score(path, folder / "labelled.npz")),
        "pool.jsonl": (folder / "pool.jsonl", lambda path: _score(path, folder / "labelled.npz")),
        "pool.parquet": (folder / "pool.parquet", lambda path: _score(path, folder / "labelled.npz")),
        "labelled.npz": (folder / "labelled.npz", lambda path: _score(folder / "pool.npy", path)),
        "own.npz": (folder / "own.npz", lambda path: datasets.load(str(path))),
        "predictions.csv": (folder / "table.csv", lambda path: read_predictions(str(path), NamedColumns())),
        "predictions.jsonl": (folder / "table.jsonl", lambda path: read_predictions(str(path), NamedColumns())),
        "grid.toml": (folder / "grid.toml", lambda path: read_grid(str(path)).override({"seeds": 1}).specs()),
        "archive": (run_file, _read_archive),
        "store": (folder / "runs.db", _read_store),
        "project": (folder / "project.db", _read_project),
        "predictions of a round": (folder / "predictions", lambda path: Predictions.from_bytes(path.read_bytes())),
    }


def _score(pool: Path, labelled: Path) -> Any:
    return cusal.score_files(pool, labelled, batch_size=2, out=pool.with_name("picks.csv"))


def _read_archive(path: Path) -> Any:
    folder = path.parent / "in" / "try"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json.gz").write_bytes(path.read_bytes())
    return load(ExportedRuns(folder.parent))


def _read_store(path: Path) -> Any:
    with Store(path, read_only=True) as store:
        return load(store), store.rounds(), store.picks()


def _read_project(path: Path) -> Any:
    with Project(path) as project:
        return project.settings, project.classes.all(), project.items.ids(), project.answers.progress()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Reader]]:
    return make_files(tmp_path_factory.mktemp("files"))


NAMES = (
    "session", "packed session", "audit", "model", "pool.npy", "pool.npz", "pool.csv", "pool.jsonl",
    "pool.parquet", "labelled.npz", "own.npz",
    "predictions.csv", "predictions.jsonl", "grid.toml", "archive", "store", "project", "predictions of a round",
)  # fmt: skip


def damaged(data: st.DataObject, whole: bytes) -> bytes:
    """Return the bytes of a file after something went wrong with it."""
    kind = data.draw(st.sampled_from(("flipped", "cut", "random", "longer")))
    place = data.draw(st.integers(0, len(whole) - 1))
    if kind == "flipped":
        content = bytearray(whole)
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        return bytes(content)
    if kind == "cut":
        return whole[:place]
    return data.draw(st.binary(max_size=60)) + (whole[place:] if kind == "longer" else b"")


@pytest.mark.parametrize("name", NAMES)
def test_only_errors_on_purpose_come_out_of_files(
    name: str, files: dict[str, tuple[Path, Reader]], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    source, read = files[name]
    whole = source.read_bytes()
    inner = gzip.decompress(whole) if source.name.endswith(".gz") else None
    path = tmp_path / source.name

    @settings(
        max_examples=2 * request.config.getoption("--fuzz"),
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        packed = inner is not None and data.draw(st.booleans())  # what is inside gets through the checksum
        content = gzip.compress(damaged(data, inner)) if packed and inner else damaged(data, whole)
        path.write_bytes(content)
        COUNTS["files"] += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path)
        except CusalError:
            COUNTS["refused"] += 1
        assert path.read_bytes() == content or name in ("store", "project")

    fuzz()


def test_says_how_many_files_were_read(record_property: Callable[[str, object], None]) -> None:
    said = f"fuzz: {COUNTS['files']:,} damaged files of {len(NAMES)} kinds, {COUNTS['refused']:,} refused"
    record_property("said", said)  # at the end, also where other processes ran the tests
