"""CUSAL: the order, its tie-breaks, and batches that join the evidence."""

from typing import Any

import numpy as np
import pytest

from cusal.calibration import pointwise_error
from cusal.errors import InvalidInput, UnknownName
from cusal.strategies._view import View
from cusal.strategies.cusal import Cusal

TIE_BREAKS = ["confidence", "margin", "entropy", "random", "diverse"]


def round_view(seed: int = 0) -> View:
    rng = np.random.default_rng(3)
    return View.of_arrays(
        np.arange(90) + 5,
        np.random.default_rng(seed),
        probs=rng.dirichlet(np.ones(3), 90),
        reference=(rng.dirichlet(np.ones(3), 20), np.arange(20) % 3),
        embeddings=rng.normal(size=(90, 4)),
    )


def test_order_is_error_then_confidence() -> None:
    view = round_view()
    error = pointwise_error(view.probs, view.reference_probs, view.reference_labels).error
    expected = np.lexsort((view.probs.max(axis=1), -np.round(error / 1e-6)))
    np.testing.assert_array_equal(Cusal().select(view, 90), view.candidates[expected])


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@pytest.mark.parametrize("count", [1, 30, 60, 90])
def test_every_tie_break_keeps_the_order_of_errors(tie_break: Any, count: int) -> None:
    view = round_view()
    picks = Cusal(tie_break=tie_break).select(view, count)
    error = Cusal().estimate(view).error
    assert len(np.unique(picks)) == count
    np.testing.assert_allclose(error[picks - 5], np.sort(error)[::-1][:count], atol=2e-6)


def test_diverse_tie_break_spreads_the_tied_picks() -> None:
    view = round_view()
    error = Cusal().estimate(view).error
    above = int((np.round(error / 1e-6) > 1e6).sum())
    tied = int((np.round(error / 1e-6) == 1e6).sum())
    assert tied > 10

    def narrowest(tie_break: Any) -> float:
        points = view.embeddings[Cusal(tie_break=tie_break).select(view, above + 8) - 5]
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2)[above:]
        gaps[gaps == 0] = np.inf
        return float(gaps.min())

    assert narrowest("diverse") > narrowest("confidence")


def test_batch_aware_picks_do_not_crowd_one_prediction() -> None:
    probs = np.array([[0.5, 0.5]] * 5 + [[0.6, 0.4]] * 5)
    view = View.of_arrays(
        np.arange(10), np.random.default_rng(0), probs=probs, reference=(np.array([[0.9, 0.1]]), np.array([0]))
    )
    assert set(Cusal().select(view, 2)) == {0, 1}
    assert Cusal(batch_aware=True).select(view, 2).tolist() == [0, 5]
    np.testing.assert_array_equal(np.sort(Cusal(batch_aware=True).select(view, 10)), np.arange(10))


def test_without_labelled_items_the_order_is_that_of_least_confidence() -> None:
    view = round_view()
    bare = View.of_arrays(
        view.candidates,
        np.random.default_rng(0),
        probs=view.probs,
        reference=(view.probs[:0], np.empty(0, dtype=np.int64)),
    )
    expected = view.candidates[np.argsort(view.probs.max(axis=1))]
    np.testing.assert_array_equal(Cusal().select(bare, 90), expected)


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'margin'"):
        Cusal(tie_break="margins")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="tie_tolerance"):
        Cusal(tie_tolerance=-1)
