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


@pytest.mark.parametrize("kind", [frame, array, texts])
def test_new_data_are_classified_as_the_session_does(kind, tmp_path):
    session, data, expected = kind(tmp_path)
    session.export(tmp_path / "model.cusal")
    assert predicted(tmp_path / "model.cusal", data, tmp_path / "out.csv") == expected
