"""What a reader of a report sees: titles, ties, one axis, switches."""

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cusal
from cusal.apps.bench.grid import Grid, read_grid
from cusal.apps.bench.report import Curve, Curves, write, write_curves
from cusal.apps.bench.report.axes import Axes, Axis
from cusal.apps.bench.report.contents.diagnostics import seconds
from cusal.apps.bench.report.contents.learning_plots import learning_curves
from cusal.apps.bench.report.curves import ACCURACY, ECE, LABELLED, About
from cusal.apps.bench.report.outline import sections
from cusal.apps.bench.report.plot import Plot
from cusal.apps.bench.report.styles import styles
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Store

Simulated = dict[tuple[str, int], list[cusal.Round]]


def made(by_strategy: dict[str, list[float]], seeds: int = 3) -> Curves:
    """Return curves with these accuracies after each round, the same for every seed but for a little of it."""
    runs = [
        Curve(
            strategy,
            seed,
            len(values) - 1,
            {
                ACCURACY: {t: value + 0.001 * seed for t, value in enumerate(values)},
                ECE: {t: 0.3 - 0.2 * value for t, value in enumerate(values)},
                LABELLED: {t: 10.0 * (t + 1) for t in range(len(values))},
            },
        )
        for strategy, values in by_strategy.items()
        for seed in range(seeds)
    ]
    return Curves.of("by hand", runs)


def test_title_and_data_set_of_the_grid_are_in_every_format(
    simulated: Simulated, fill: Callable[..., Spec], tmp_path: Path
) -> None:
    with Store(tmp_path / "runs.db") as store:
        for (strategy, seed), records in simulated.items():
            fill(store, strategy, seed, records, title="My 1st grid")
        write(store, tmp_path)
    for name in ("report.html", "report.md", "report.tex"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "Active learning report: My 1st grid" in text
        assert "My 1st grid; data set digits" in text
    with (tmp_path / "numbers.csv").open(newline="") as file:
        assert {(row["title"], row["dataset"]) for row in csv.DictReader(file)} == {("My 1st grid", "digits")}


def test_runs_without_a_title_have_that_of_their_preset(
    simulated: Simulated, fill: Callable[..., Spec], tmp_path: Path
) -> None:
    from cusal.apps.bench.report.from_store import _title

    with Store(tmp_path / "runs.db") as store:
        spec = fill(store, "margin", 0, simulated["margin", 0])
    assert _title([replace(spec, experiment="mnist epochs=60")]) == read_grid("mnist").values["title"]
    assert _title([spec]) == ""


def test_a_title_leaves_the_id_of_a_run_as_it_is() -> None:
    (spec,) = Grid("g", read_grid("digits").values | {"strategies": ["margin"], "seeds": 1}).specs()
    assert spec.title == read_grid("digits").values["title"]
    assert spec.id == replace(spec, title="").id
    assert Spec.of(spec.json) == spec


def test_ties_have_no_single_winner() -> None:
    tied = made({"margin": [0.5, 0.8], "badge": [0.5, 0.80001], "random": [0.5, 0.7]})
    (section,), _ = sections([tied])
    assert (section.headlines[0].strategy, section.headlines[0].remark) == (
        "margin and badge",
        "equal to the digits shown",
    )


def test_one_that_is_significantly_better_is_named_alone() -> None:
    rng = np.random.default_rng(0)
    curves = made({"margin": [0.5, 0.8], "random": [0.5, 0.7]}, seeds=5)
    curves.values[ACCURACY][:] += 1e-4 * rng.random(curves.values[ACCURACY].shape)
    (section,), _ = sections([curves])
    assert section.headlines[0].strategy == "margin"
    assert section.headlines[0].remark == "significantly better than every other"


def ends(plot: Plot) -> dict[str, tuple[float, float]]:
    drawn = {}
    for panel in plot.panels:
        axes = Axes(plot.size, panel.title)
        panel.draw(axes)
        drawn[panel.title] = axes.y.ends
    return drawn


def test_all_calibration_errors_have_one_axis(curves: Curves) -> None:
    plot = learning_curves(curves, styles(curves.strategies))
    assert plot is not None
    found = ends(plot)
    assert found["Calibration error (ECE)"] == found["Recalibrated ECE"] == found["ECE on the pool"]
    assert found["Calibration error (ECE)"][0] == 0.0
    assert found["Accuracy %"][1] > 1


def test_seconds_leave_the_start_of_a_process_out(curves: Curves) -> None:
    key = ("seconds", "measured", "fit")
    slow = {k: v.copy() for k, v in curves.values.items()}
    slow[key][:] = 2.0
    slow[key][:, :, 0] = 50.0
    for phase in ("predict", "select", "test"):
        slow["seconds", "measured", phase][:] = 0.0
    plot = seconds(replace(curves, values=slow), styles(curves.strategies))
    assert plot is not None
    assert plot.drawn[0].count("2.00 s") == len(curves.strategies)
    assert "it took 50.0 s in the mean" in plot.caption


def test_strategies_are_switched_by_boxes_that_need_no_script(curves: Curves, tmp_path: Path) -> None:
    (path,) = write_curves([replace(curves, about=About("digits", "Small"))], tmp_path, ["html"])
    text = path.read_text(encoding="utf-8")
    boxes = re.findall(r'<input type="checkbox" id="show-(\d+)"', text)
    assert len(boxes) == len(curves.strategies)
    assert "<script" not in text
    for number in boxes:
        assert f"#show-{number}:not(:checked)~* :is(.s{number},.p{number},.r{number}){{display:none}}" in text
        assert text.count(f'<label for="show-{number}">') > 2
        assert f'class="series s{number}"' in text
        assert f'<tr class="r{number}">' in text


def test_ticks_are_round_numbers_within_the_ends() -> None:
    assert Axis(low=0, high=1, most=4).ticks() == [
        (0.0, "0.00"),
        (0.25, "0.25"),
        (0.5, "0.50"),
        (0.75, "0.75"),
        (1.0, "1.00"),
    ]
    assert [words for _, words in Axis(low=-0.2, high=0.2, most=4).ticks()] == [
        "\u22120.2",
        "\u22120.1",
        "0.0",
        "0.1",
        "0.2",
    ]
    assert [words for _, words in Axis(low=20, high=420, whole=True).ticks()] == ["100", "200", "300", "400"]
    assert [words for _, words in Axis(low=0.5, high=20, log=True).ticks()] == ["0.5", "1", "2", "5", "10", "20"]


@pytest.mark.parametrize("values", [[], [np.nan], [3.0], [0.0, 0.0], [-1e-9, 1e9]])
@pytest.mark.parametrize("log", [False, True])
def test_an_axis_of_any_values_has_two_different_ends(values: list[float], log: bool) -> None:
    axis = Axis(log=log)
    axis.meet(np.array(values))
    low, high = axis.ends
    assert low < high
    assert (axis.share(np.array([low, high])) == [0, 1]).all()
    axis.ticks()
