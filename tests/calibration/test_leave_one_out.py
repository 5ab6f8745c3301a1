"""Leave-one-out calibration errors of a labelled set."""

from pathlib import Path

import numpy as np
import pytest

from cusal.calibration import canonical_error, marginal_error, pointwise_error, top_label_error
from cusal.errors import CusalError

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "golden.npz")


@pytest.mark.parametrize("case", ["c01", "c03", "c05", "c06", "c09", "c11", "c13"])
def test_equals_the_golden_values(case):
    probs, labels = GOLDEN[f"{case}/f_train"], GOLDEN[f"{case}/y_train"]
    error = canonical_error(probs, labels, bandwidth=float(GOLDEN[f"{case}/b"]), p=int(GOLDEN[f"{case}/p"]))
    assert error == pytest.approx(float(GOLDEN[f"{case}/loo_log_f64"]), abs=1e-9)


def test_is_the_mean_of_pointwise_errors_from_all_others():
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(3), size=12), rng.integers(3, size=12)
    errors = []
    for j in range(12):
        others = np.arange(12) != j
        estimate = pointwise_error(
            probs[j : j + 1], probs[others], labels[others], bandwidth=0.1, density_floor=None, tolerance=0
        )
        errors.append(estimate.error[0])
    assert canonical_error(probs, labels, bandwidth=0.1) == pytest.approx(np.mean(errors), abs=1e-12)


def test_tiles_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(1)
    probs, labels = rng.dirichlet(np.ones(4), size=300), rng.integers(4, size=300)
    whole = canonical_error(probs, labels, bandwidth=0.05)
    monkeypatch.setattr("cusal.calibration.dense.TILE_NUMBERS", 700)
    assert canonical_error(probs, labels, bandwidth=0.05) == pytest.approx(whole, abs=1e-12)


def test_calibrated_scores_err_less_than_overconfident_ones():
    rng = np.random.default_rng(2)
    scores = rng.random(2000)
    labels = (rng.random(2000) < scores).astype(int)
    sharpened = scores**3 / (scores**3 + (1 - scores) ** 3)
    assert canonical_error(scores, labels, bandwidth=0.01) < 0.06
    assert canonical_error(sharpened, labels, bandwidth=0.01) > 0.1


def test_marginal_and_top_label_of_two_classes_follow_from_the_column():
    rng = np.random.default_rng(3)
    scores = rng.random(200)
    labels = (rng.random(200) < scores).astype(int)
    both = np.stack([1 - scores, scores], axis=1)
    column = canonical_error(scores, labels, bandwidth=0.02)
    assert marginal_error(both, labels, bandwidth=0.02) == pytest.approx(column, abs=1e-12)
    assert canonical_error(both, labels, bandwidth=0.02) == pytest.approx(2 * column, abs=1e-12)
    confidence, right = both.max(axis=1), (both.argmax(axis=1) == labels).astype(int)
    expected = canonical_error(confidence, right, bandwidth=0.02)
    assert top_label_error(both, labels, bandwidth=0.02) == pytest.approx(expected, abs=1e-12)


def test_needs_two_points():
    with pytest.raises(CusalError, match="at least two"):
        canonical_error([[0.5, 0.5]], [0])
