import numpy as np
import pytest

import cusal
from cusal.apps.bench.report import Curve, Curves
from cusal.apps.bench.report.curves import ECE, LABELLED, RECALIBRATED_ECE, deviation, mean
from cusal.apps.bench.store import quarters

Simulated = dict[tuple[str, int], list[cusal.Round]]


def test_arrays_hold_what_the_records_say(simulated: Simulated, curves: Curves) -> None:
    assert curves.strategies == ("random", "margin", "cusal")
    assert curves.seeds == (0, 1, 2)
    record = simulated["margin", 2][3]
    assert record.test is not None
    assert curves.values[ECE][1, 2, 3] == record.test.raw["ece"]
    assert curves.values[RECALIBRATED_ECE][1, 2, 3] == record.test.recalibrated["ece"]
    assert curves.labelled.tolist() == [10, 15, 20, 25, 30]


def test_decided_by_is_counted_where_a_strategy_tells_it(simulated: Simulated, curves: Curves) -> None:
    both = [curves.values["picks", "decided_by", reason] for reason in ("calibration", "uncertainty")]
    assert (both[0] + both[1])[2, :, :4].tolist() == [[5.0] * 4] * 3
    assert np.isnan(both[0][:2]).all()
    assert np.isnan(both[0][2, :, 4]).all()  # the last round asks for nothing


def test_rounds_that_were_not_reached_are_nan(simulated: Simulated) -> None:
    part = {key: records[: 2 if key == ("cusal", 1) else 5] for key, records in simulated.items()}
    curves = Curves.of_rounds("digits", part, rounds=4)
    assert np.isnan(curves.values[ECE][2, 1]).tolist() == [False, False, True, True, True]
    assert [(run.strategy, run.seed, run.reached) for run in curves.unfinished] == [("cusal", 1, 1)]


def test_reliability_takes_the_items_of_all_seeds_together(simulated: Simulated, curves: Curves) -> None:
    pooled = curves.reliability("margin", "raw", 4)
    tests = [simulated["margin", seed][4].test for seed in range(3)]
    assert pooled is not None
    assert pooled.count.sum() == 3 * 120
    hits = sum(float(test.raw_bins.count @ test.raw_bins.hits) for test in tests if test is not None)
    assert pooled.count @ pooled.hits == pytest.approx(hits)
    assert curves.reliability("margin", "raw", 99) is None


@pytest.mark.parametrize("rounds", [4, 10, 40, 100])
def test_milestones_are_the_rounds_whose_bins_a_store_keeps(rounds: int) -> None:
    curves = Curves.of("x", [Curve("random", 0, rounds, {LABELLED: {0: 10.0}})])
    assert set(curves.milestones) | {0} == quarters(rounds)


def test_short_runs_have_each_milestone_once() -> None:
    def of(rounds: int) -> tuple[int, ...]:
        return Curves.of("x", [Curve("random", 0, rounds, {LABELLED: {0: 10.0}})]).milestones

    assert (of(0), of(1), of(2), of(3)) == ((0,), (1,), (1, 2), (1, 2, 3))


def test_a_strategy_and_seed_given_twice_is_an_error(simulated: Simulated) -> None:
    run = Curve.of("margin", 0, simulated["margin", 0])
    with pytest.raises(cusal.CusalError, match="margin with seed 0 twice"):
        Curves.of("digits", [run, run])


def test_mean_and_deviation_leave_out_what_is_missing() -> None:
    values = np.array([[1.0, np.nan, np.nan], [3.0, 2.0, np.nan]])
    assert np.array_equal(mean(values), [2.0, 2.0, np.nan], equal_nan=True)
    assert np.array_equal(deviation(values), [np.sqrt(2), np.nan, np.nan], equal_nan=True)
