"""Several recalibrations measured in one run, and runs with audit items."""

import pickle
from dataclasses import replace

import pytest

pytest.importorskip("torch")

from cusal.apps.bench.experiment import Experiment
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.spec import Spec
from cusal.errors import InvalidInput, UnknownName
from cusal.session import Session

METHODS = ["prequential", "cross-fit", "vector", "auto", "held-out"]


def a_spec(**changes: object) -> Spec:
    grid = read_grid("digits").choose(["diverse_margin"]).override({"seeds": [3], "rounds": 3, "epochs": 3})
    return replace(grid.specs()[0], **{"pool": 100, "estimator_every": 0} | changes)


def records(spec: Spec) -> list:
    return list(Experiment(spec).rounds(Experiment(spec).start()))


@pytest.mark.parametrize("method", METHODS)
def test_what_is_measured_beside_a_run_is_what_a_run_with_that_recalibration_has(method: str) -> None:
    beside = records(a_spec(recalibrate=None, recalibrations=[method]))
    own = records(a_spec(recalibrate=method))
    for ours, theirs in zip(beside, own, strict=True):
        for name in ("ece", "accuracy", "nll"):
            assert ours.measured[f"{name} {method}"] == pytest.approx(theirs.test.recalibrated[name], abs=1e-12)
        assert ours.test.raw == theirs.test.raw


def test_a_run_measures_all_of_them_and_its_estimator_where_it_is_due() -> None:
    measured = [record.measured for record in records(a_spec(recalibrations=METHODS[:2], estimator_every=2))]
    assert all(f"ece {method}" in each for each in measured for method in METHODS[:2])
    assert ["bound" in each for each in measured] == [True, False, True, False]


def test_a_run_that_was_stopped_measures_the_same() -> None:
    spec = a_spec(recalibrations=["cross-fit", "auto"])
    whole = records(spec)
    experiment = Experiment(spec)
    session = experiment.start()
    rounds = experiment.rounds(session)
    next(rounds), next(rounds)
    rest = list(experiment.rounds(experiment.start(pickle.dumps(session.checkpoint()))))
    assert [record.measured for record in rest] == [record.measured for record in whole[2:]]


def test_a_share_of_each_batch_is_drawn_at_random() -> None:
    found = records(a_spec(audit=0.2))
    assert [int(record.query.audit.sum()) for record in found[:-1]] == [2, 2, 2]
    assert all(record.query.audit is None for record in records(a_spec())[:-1])


def test_a_session_resumed_keeps_its_share() -> None:
    experiment = Experiment(a_spec(audit=0.2))
    session = experiment.start()
    next(experiment.rounds(session))
    assert isinstance(session, Session)
    assert experiment.start(pickle.dumps(session.checkpoint())).audit == 0.2


def test_grids_name_them_and_one_strategy_may_have_its_own_audit_and_epochs() -> None:
    entry = {"name": "margin", "label": "audited", "audit": 0.1, "epochs": 7}
    grid = read_grid("digits").override({"recalibrations": ["auto"], "strategies": ["margin", entry]})
    plain, audited = grid.specs()[:2]
    assert (plain.audit, audited.audit) == (0.0, 0.1)
    assert (plain.epochs, audited.epochs) == (read_grid("digits").specs()[0].epochs, 7)
    assert plain.recalibrations == audited.recalibrations == ["auto"]
    assert Spec.of(audited.json) == audited
    assert len({plain.content, audited.content}) == 2


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"audit": 1.5}, InvalidInput, "audit is 1.5; expected a share of each batch"),
        ({"recalibrations": ["prequentail"]}, UnknownName, "did you mean 'prequential'"),
        ({"recalibrations": ["auto", "auto"]}, InvalidInput, "expected a list of distinct recalibrations"),
        ({"strategies": [{"name": "margin", "audit": -1}]}, InvalidInput, "audit is -1"),
    ],
)
def test_values_that_do_not_fit_are_named(changes: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        read_grid("digits").override(changes)
