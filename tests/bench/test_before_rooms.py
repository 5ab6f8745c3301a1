"""Stores that an earlier version wrote, whose modules had other names: they load, resume and report.

`before_rooms` holds the export of unfinished runs (`half`), of the same runs finished (`whole`), and their grids. A
change that makes their rounds others on purpose raises `cusal.bench.spec.ALGORITHM`.
"""

import io
import pickle
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from cusal.bench import report
from cusal.bench.grid import read_grid
from cusal.bench.runner import run_grid
from cusal.bench.spec import Spec
from cusal.bench.store import Store
from cusal.loop import old_pickles

BEFORE = Path(__file__).parent / "before_rooms"


def specs() -> list[Spec]:
    return [spec for name in ("grid", "swept") for spec in read_grid(str(BEFORE / f"{name}.toml")).specs()]


def loaded(folder: str, place: Path) -> Store:
    store = Store(place)
    store.load(BEFORE / folder)
    return store


def without(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if not key.startswith(names)} for row in rows]


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the unfinished runs, after a runner finished them."""
    place = tmp_path_factory.mktemp("resumed") / "runs.db"
    with loaded("half", place) as store:
        assert {row["status"] for row in store.runs()} == {"open"}
        assert {row["round"] for row in store.rounds()} == {0, 1}
    outcome = run_grid(specs(), str(place), workers=2, trusted=True)
    assert outcome.failed == ()
    assert outcome.done == outcome.total == len(specs())
    return place


def test_unfinished_runs_end_as_they_would_have(resumed: Path, tmp_path: Path) -> None:
    with Store(resumed) as ours, loaded("whole", tmp_path / "whole.db") as theirs:
        assert without(ours.runs(), "updated") == without(theirs.runs(), "updated")
        for name in ("picks", "rounds", "metrics"):
            found, expected = getattr(ours, name)(), getattr(theirs, name)()
            inexact = ("seconds", "value", "error", "confidence", "temperature")
            assert without(found, *inexact) == without(expected, *inexact)
            for column in ("value", "error", "confidence", "temperature"):
                # Networks differ in their last digits between processors, and every further round adds to that.
                numbers = [row[column] for row in found if column in row and row[column] is not None]
                assert numbers == pytest.approx(
                    [row[column] for row in expected if column in row and row[column] is not None], abs=1e-3
                )


def test_unfinished_runs_that_nobody_signed_start_again_and_end_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (margin,) = (spec for spec in specs() if spec.label == "margin" and spec.experiment == "grid")
    with loaded("half", tmp_path / "runs.db"):
        pass
    assert run_grid([margin], str(tmp_path / "runs.db"), workers=1).done == 1
    assert "margin, seed 0: starts again, because its checkpoint was not written by you" in capfd.readouterr().out
    with Store(tmp_path / "runs.db") as ours, loaded("whole", tmp_path / "whole.db") as theirs:
        found, expected = ours.picks([margin.id]), theirs.picks([margin.id])
        assert [row["item"] for row in found] == [row["item"] for row in expected]


def test_finished_runs_give_a_report(tmp_path: Path) -> None:
    with loaded("whole", tmp_path / "runs.db") as store:
        report.write(store, tmp_path / "out", ["tex", "csv"])
    text = (tmp_path / "out" / "report.tex").read_text()
    titles = (r"grid (data set ", r"swept warm\_up=10", r"swept warm\_up=20", r"swept: warm\_up")
    assert all(rf"\caption{{{title}" in text for title in titles)
    assert "cusal-listing" in text


class Before:
    def __init__(self, colour: str) -> None:
        self.colour = colour


class Today:
    def __init__(self, color: str) -> None:
        self.color = color


class Translated:
    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__class__ = Today  # type: ignore[assignment]
        self.__dict__["color"] = state["colour"]


def test_a_class_that_is_gone_becomes_one_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(old_pickles.CLASSES, f"{__name__}:Before", f"{__name__}:Translated")
    text = io.BytesIO()
    pickle.dump({"model": Before("red")}, text, protocol=5)
    model = old_pickles.unpickle(text.getvalue())["model"]
    assert type(model) is Today
    assert model.color == "red"
