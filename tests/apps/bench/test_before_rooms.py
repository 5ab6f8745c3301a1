"""Stores that an earlier version wrote: they load and report, and the same runs end the same today.

`before_rooms` holds the export of unfinished runs (`half`), of the same runs finished (`whole`), and their grids. A
change that makes their rounds others on purpose raises `cusal.apps.bench.spec.ALGORITHM`.
"""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from cusal.apps.bench import report
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.runner import run_grid
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Store

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
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the same runs, done by this version."""
    place = tmp_path_factory.mktemp("repeated") / "runs.db"
    outcome = run_grid(specs(), str(place), workers=2, trusted=True)
    assert outcome.failed == ()
    assert outcome.done == outcome.total == len(specs())
    return place


def test_runs_end_as_they_did(repeated: Path, tmp_path: Path) -> None:
    with Store(repeated) as ours, loaded("whole", tmp_path / "whole.db") as theirs:
        assert without(ours.runs(), "updated", "spec") == without(theirs.runs(), "updated", "spec")  # ids tell specs
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
