"""A model that a session exported classifies new data by `cusal predict`, in a process of its own."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

import cusal
from cusal.apps.label.export.new_data import open_new_data
from cusal.errors import UnknownName

COMMAND = [sys.executable, "-c", "from cusal.cli import main; main()"]


def labelled(session: cusal.Session, truth: np.ndarray) -> cusal.Session:
    for _ in range(3):
        query = session.ask(10)
        session.tell(query.indices, truth[query.indices])
    return session


def predicted(model: Path, data: Path, out: Path) -> list[str]:
    run = [*COMMAND, "predict", str(model), str(data), "--out", str(out)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with out.open(newline="") as file:
        return [row["label"] for row in csv.DictReader(file)]


def frame(folder: Path) -> tuple[cusal.Session, Path, list[str]]:
    table, numbers = load_breast_cancer(as_frame=True, return_X_y=True)
    session = labelled(cusal.Session(table), np.where(numbers == 1, "benign", "malignant"))
    table.iloc[:50, ::-1].to_csv(folder / "new.csv", index=False)  # columns in another order
    return session, folder / "new.csv", list(session.predict(table[:50]))


def array(folder: Path) -> tuple[cusal.Session, Path, list[str]]:
    X, y = load_digits(return_X_y=True)
    session = labelled(cusal.Session(X[:400]), y)
    np.save(folder / "new.npy", X[400:450])
    return session, folder / "new.npy", [str(label) for label in session.predict(X[400:450])]


def texts(folder: Path) -> tuple[cusal.Session, Path, list[str]]:
    items = [f"{text} {number % 7}" for number, text in enumerate(["good film", "bad film", "so good", "awful"] * 30)]
    session = labelled(cusal.Session(items), np.array(["pos", "neg", "pos", "neg"] * 30))
    pd.DataFrame({"text": ["good", "a bad one"]}).to_csv(folder / "new.csv", index=False)
    return session, folder / "new.csv", list(session.predict(["good", "a bad one"]))


def mixed() -> pd.DataFrame:
    """120 rows of texts, one of them empty, of numbers, also as Germans write them, of dates and categories."""
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=120)
    numbers = rng.normal(20, 5, 120).round(2)
    headlines = [f"{('shares rise', 'match is lost')[row % 2]} on day {row} of the year" for row in range(120)]
    return pd.DataFrame(
        {
            "headline": [*headlines[:20], None, *headlines[21:]],
            "price": [f"{number:.2f}".replace(".", ",") for number in numbers],
            "when": days.strftime("%Y-%m-%d"),
            "when_de": days.strftime("%d.%m.%Y"),
            "id": rng.permutation(120),
            "category": ["shop", "bank", "shop"] * 40,
            "count": rng.integers(0, 50, 120),
            "ratio": rng.random(120),
        }
    )


def mixed_csv(folder: Path) -> tuple[cusal.Session, Path, list[str]]:
    session = labelled(cusal.Session(mixed()), np.array(["money", "sport"] * 60))
    mixed()[:50].to_csv(folder / "new.csv", index=False)
    return session, folder / "new.csv", list(session.predict(mixed()[:50]))


def mixed_semicolons(folder: Path) -> tuple[cusal.Session, Path, list[str]]:
    session, data, expected = mixed_csv(folder)
    mixed()[:50].assign(label="unknown").to_csv(data, index=False, sep=";")
    return session, data, expected


def mixed_parquet(folder: Path) -> tuple[cusal.Session, Path, list[str]]:
    session, _, expected = mixed_csv(folder)
    mixed()[:50].to_parquet(folder / "new.parquet")
    return session, folder / "new.parquet", expected


@pytest.mark.parametrize("kind", [frame, array, texts, mixed_csv, mixed_semicolons, mixed_parquet])
def test_new_data_are_classified_as_the_session_does(kind, tmp_path):
    session, data, expected = kind(tmp_path)
    session.export(tmp_path / "model.cusal")
    assert predicted(tmp_path / "model.cusal", data, tmp_path / "out.csv") == expected


def test_an_array_model_says_that_it_takes_npy_files(tmp_path):
    session, _, _ = array(tmp_path)
    session.export(tmp_path / "model.cusal")
    pd.DataFrame({"a": [1.0, 2.0]}).to_csv(tmp_path / "new.csv", index=False)
    run = [*COMMAND, "predict", str(tmp_path / "model.cusal"), str(tmp_path / "new.csv")]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "is no .npy file, but the model classifies vectors" in done.stderr
    assert "pickle" not in done.stderr


def test_a_column_of_texts_that_is_not_there_is_named(tmp_path):
    session, data, _ = mixed_csv(tmp_path)
    session.export(tmp_path / "model.cusal")
    model = cusal.load_model(tmp_path / "model.cusal")
    assert open_new_data(model, str(data), "headline").inputs([]) == []
    with pytest.raises(UnknownName, match="title"):
        open_new_data(model, str(data), "title")


@pytest.mark.parametrize("kind", [frame, array, texts])
def test_the_classifier_in_memory_says_what_the_one_of_the_file_does(kind, tmp_path):
    session, data, expected = kind(tmp_path)
    items = np.load(data) if data.suffix == ".npy" else pd.read_csv(data)
    items = items["text"].tolist() if kind is texts else items
    session.export(tmp_path / "model.cusal")
    in_memory, of_the_file = session.classifier(), cusal.load_model(tmp_path / "model.cusal")
    np.testing.assert_allclose(in_memory.predict_proba(items), of_the_file.predict_proba(items), atol=1e-6)
    assert [str(label) for label in in_memory.predict(items)] == expected
