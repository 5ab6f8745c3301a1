"""Experiments that differ in one setting, side by side."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.report import Curves
from cusal.apps.bench.report.contents.learning_plots import BASELINES, difference_curves
from cusal.apps.bench.report.curves import ACCURACY, Swept, mean
from cusal.apps.bench.report.measures import TEST_ACCURACY
from cusal.apps.bench.report.outline import sections
from cusal.apps.bench.report.styles import styles
from cusal.apps.bench.report.sweeps import find_sweeps, find_swept, sweep_tables
from cusal.apps.bench.report.webpage import write_page
from cusal.apps.bench.spec import Spec


def of_sweep(curves: Curves, sweep: str, key: str, *values: str) -> list[Curves]:
    names = [(f"{sweep} {key}={value}", (Swept(sweep, key, value),)) for value in values]
    return [replace(curves, experiment=name, swept=swept) for name, swept in names]


def a_spec(experiment: str, **values: Any) -> Spec:
    fixed = {"label": "margin", "dataset": "digits", "strategy": "margin", "seed": 0, "rounds": 4, "batch_size": 5}
    return Spec(**{"experiment": experiment, "warm_up": 10, "network": {"name": "small_net"}} | fixed | values)


def test_a_sweep_has_the_order_of_its_values(curves: Curves) -> None:
    alone = of_sweep(curves, "alone", "pool", "5")
    (sweep,) = find_sweeps([*of_sweep(curves, "mine", "warm_up", "100", "20"), *alone, curves])
    assert (sweep.name, sweep.key, list(sweep.members)) == ("mine", "warm_up", ["20", "100"])


def test_a_spec_says_which_sweep_it_is_of() -> None:
    spec = a_spec("any name", sweep={"name": "mine", "over": {"warm_up": 10}})
    assert find_swept([spec], suffix=" on digits") == (Swept("mine on digits", "warm_up", "10"),)


def test_a_sweep_over_two_settings_is_one_over_each() -> None:
    spec = a_spec("mine", sweep={"name": "mine", "over": {"warm_up": 10, "p": 2}})
    assert find_swept([spec]) == (Swept("mine p=2", "warm_up", "10"), Swept("mine warm_up=10", "p", "2"))


@pytest.mark.parametrize(
    ("experiment", "values", "expected"),
    [
        ("mine warm_up=10", {}, (Swept("mine", "warm_up", "10"),)),
        ("mine on svhn pool=0", {}, (Swept("mine on svhn", "pool", "0"),)),
        ("mine network=small_net", {}, (Swept("mine", "network", "small_net"),)),
        ("mine warm_up=20", {}, ()),  # a name that the values do not bear out
        ("mine", {}, ()),
        ("mine x=10", {}, ()),
        ("mine p=2 warm_up=10", {"p": 2}, (Swept("mine p=2", "warm_up", "10"), Swept("mine warm_up=10", "p", "2"))),
    ],
)
def test_a_spec_without_its_sweep_has_one_by_its_values(
    experiment: str, values: dict[str, Any], expected: tuple[Swept, ...]
) -> None:
    assert find_swept([a_spec(experiment, **values)]) == expected


def test_the_sweep_of_a_grid_and_the_one_found_by_values_are_the_same() -> None:
    for spec in read_grid("ablation-warm-up", on="svhn").specs():
        assert find_swept([spec]) == find_swept([replace(spec, sweep={})])


def test_the_table_of_a_sweep_holds_means_over_rounds(curves: Curves) -> None:
    (sweep,) = find_sweeps(of_sweep(curves, "mine", "p", "1", "2"))
    table = {made.name: made for made in sweep_tables(sweep)}[f"sweep_{TEST_ACCURACY.name}"]
    assert table.columns == ("p = 1", "p = 2")
    strategy, cells = table.rows[1]
    row = curves.strategies.index(strategy)
    expected = float(mean(curves.of_key(ACCURACY)[row].mean(axis=1))) * 100
    assert [cell.text for cell in cells] == [f"{expected:.1f}"] * 2


def test_a_report_shows_the_sweep_before_its_members(curves: Curves, tmp_path: Path) -> None:
    shown, looks = sections(of_sweep(curves, "mine", "p", "1", "2"))
    assert [section.title for section in shown] == ["mine: p", "mine p=1", "mine p=2"]
    text = write_page(shown[:1], looks, tmp_path / "report.html", title="mine").read_text()
    assert "How much depends on p" in text
    assert text.count("<figure>") == 1


@pytest.mark.parametrize("name", ["least_confidence", "margin", "none", "badge"])
def test_without_random_the_difference_is_to_the_next_baseline(name: str, curves: Curves) -> None:
    first = curves.strategies.index("random")
    strategies = tuple(name if i == first else f"other {i}" for i in range(len(curves.strategies)))
    plot = difference_curves(replace(curves, strategies=strategies), styles(strategies))
    assert plot is not None
    assert plot.title == f"Difference to {BASELINES[name]}"
    others = tuple("entropy" if s == name else s for s in strategies)
    assert difference_curves(replace(curves, strategies=others), styles(others)) is None
