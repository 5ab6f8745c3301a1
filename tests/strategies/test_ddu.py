"""DDU: the least likely features first."""

from typing import Any

import numpy as np
import pytest

from cusal.errors import NotReady, UnknownName
from cusal.strategies._view import View
from cusal.strategies.ddu import Ddu


def view_of(pool: np.ndarray, labelled: np.ndarray, labels: np.ndarray) -> View:
    return View.of_arrays(
        np.arange(len(pool)),
        np.random.default_rng(0),
        probs=np.full((len(pool), 2), 0.5),
        reference=(np.full((len(labels), 2), 0.5), labels),
        embeddings=pool,
        reference_embeddings=labelled,
    )


@pytest.mark.parametrize("covariance", ["shared", "per_class"])
def test_items_far_from_both_classes_come_first(covariance: Any) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    labelled = rng.normal(size=(40, 2)) + 10 * labels[:, None]
    pool = np.array([[0.0, 0.0], [10.0, 10.0], [5.0, 5.0], [30.0, -30.0]])
    assert Ddu(covariance=covariance).select(view_of(pool, labelled, labels), 2).tolist() == [3, 2]


def test_without_labels_it_says_what_is_missing() -> None:
    view = view_of(np.zeros((3, 2)), np.empty((0, 2)), np.empty(0, dtype=np.int64))
    with pytest.raises(NotReady, match="none are labelled"):
        Ddu().select(view, 1)


def test_an_unknown_covariance_is_refused() -> None:
    setting: Any = "share"
    with pytest.raises(UnknownName, match="did you mean 'shared'"):
        Ddu(covariance=setting)
