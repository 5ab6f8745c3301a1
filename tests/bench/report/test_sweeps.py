"""Experiments that differ in one setting, side by side."""

from dataclasses import replace
from pathlib import Path

import pytest

from cusal.bench.report import Curves, write_curves
from cusal.bench.report.curves import ACCURACY, mean
from cusal.bench.report.learning_plots import difference_curves
from cusal.bench.report.measures import TEST_ACCURACY
from cusal.bench.report.styles import styles
from cusal.bench.report.sweeps import find_sweeps, sweep_tables


def named(curves: Curves, *names: str) -> list[Curves]:
    return [replace(curves, experiment=name) for name in names]


def test_experiments_of_one_name_and_setting_form_a_sweep_in_the_order_of_its_values(curves: Curves) -> None:
    names = ["mine warm_up=100", "mine warm_up=20", "mine warm_up=20 on digits", "other", "alone pool=5"]
    (sweep,) = find_sweeps(named(curves, *names))
    assert (sweep.name, sweep.key, list(sweep.members)) == ("mine", "warm_up", ["20", "100"])


def test_a_data_set_in_the_name_stays_with_the_name(curves: Curves) -> None:
    (sweep,) = find_sweeps(named(curves, "mine p=1 on digits", "mine p=2 on digits"))
    assert sweep.name == "mine on digits"


def test_the_table_of_a_sweep_holds_means_over_rounds(curves: Curves) -> None:
    (sweep,) = find_sweeps(named(curves, "mine p=1", "mine p=2"))
    table = {made.name: made for made in sweep_tables(sweep)}[f"sweep_{TEST_ACCURACY.name}"]
    assert table.columns == ("p = 1", "p = 2")
    strategy, cells = table.rows[1]
    row = curves.strategies.index(strategy)
    expected = float(mean(curves.of_key(ACCURACY)[row].mean(axis=1))) * 100
    assert [cell.text for cell in cells] == [f"{expected:.1f}"] * 2


@pytest.mark.slow
def test_a_report_shows_the_sweep_before_its_members(curves: Curves, tmp_path: Path) -> None:
    write_curves(named(curves, "mine p=1", "mine p=2"), tmp_path, ["html", "md", "tex"])
    text = (tmp_path / "report.md").read_text()
    assert text.index("mine: p") < text.index("mine p=1")
    assert "How much depends on p" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "figures").is_dir()


def test_without_random_the_difference_is_to_least_confidence(curves: Curves) -> None:
    strategies = tuple("least_confidence" if s == "random" else s for s in curves.strategies)
    plot = difference_curves(replace(curves, strategies=strategies), styles(strategies))
    assert plot is not None
    assert plot.title == "Difference to least confidence"
    others = tuple("entropy" if s == "random" else s for s in curves.strategies)
    assert difference_curves(replace(curves, strategies=others), styles(others)) is None
