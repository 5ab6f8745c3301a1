"""Training variants as grids name them."""

from dataclasses import replace

import pytest

from cusal.bench.experiment import Experiment, build_model
from cusal.bench.grid import read_grid
from cusal.errors import UnknownName

SMALL = replace(
    next(s for s in read_grid("digits").specs() if s.label == "margin"), pool=200, rounds=1, epochs=2, estimator_every=0
)


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"name": "plain"},
        {"name": "energy", "sampling_steps": 1},
        {"name": "augmented", "copies": 1, "strengths": [0.5]},
        {"name": "uncalibrated", "spread": 3.0},
        {"name": "temperature_scaled", "method": "held-out", "of": "energy"},
        {"name": "uncalibrated", "of": {"name": "temperature_scaled", "of": {"name": "augmented", "copies": 1}}},
    ],
    ids=lambda model: model.get("name", "none"),
)
@pytest.mark.parametrize("strategy", ["badge", "cusal"])
def test_every_variant_runs_with_any_strategy(model, strategy):
    experiment = Experiment(replace(SMALL, model=model, strategy=strategy))
    records = list(experiment.rounds(experiment.start()))
    assert [record.labelled for record in records] == [20, 30]
    assert all(0 <= record.test.recalibrated["ece"] <= 1 for record in records)


def test_ddu_runs_with_its_network_and_temperature():
    spec = next(s for s in read_grid("ablation-recalibration", on="digits").specs() if s.label == "DDU")
    experiment = Experiment(replace(spec, pool=100, rounds=1, epochs=2))
    assert [record.labelled for record in experiment.rounds(experiment.start())] == [20, 30]


def test_a_setting_that_a_variant_lacks_is_named():
    with pytest.raises(UnknownName, match="did you mean 'copies'"):
        build_model(replace(SMALL, model={"name": "augmented", "copied": 1}), (1, 8, 8), 10)
    with pytest.raises(UnknownName, match="did you mean 'method'"):
        build_model(replace(SMALL, model={"name": "temperature_scaled", "methd": "held-out"}), (1, 8, 8), 10)
    with pytest.raises(UnknownName, match="epochs"):  # a setting of the grid, not of the variant
        build_model(replace(SMALL, model={"name": "energy", "epochs": 3}), (1, 8, 8), 10)


def test_settings_of_the_schedule_reach_a_wrapped_model():
    model = build_model(replace(SMALL, model={"name": "temperature_scaled", "of": "energy"}), (1, 8, 8), 10)
    assert (model.model.epochs, model.model.warm_start, model.method) == (2, True, "held-out")
