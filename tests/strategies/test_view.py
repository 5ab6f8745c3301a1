"""What a strategy sees: each part computed when it is first read, and once."""

import numpy as np
import pytest

from cusal import strategies
from cusal.strategies._view import View


class Counting:
    """A view's parts that count how often they are computed."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.calls = []
        self.arrays = {
            "probs": rng.dirichlet(np.ones(3), size=30),
            "embeddings": rng.normal(size=(30, 4)),
            "reference_embeddings": rng.normal(size=(6, 4)),
        }
        self.reference = (rng.dirichlet(np.ones(3), size=6), rng.integers(3, size=6))

    def part(self, name):
        def compute():
            self.calls.append(name)
            return self.arrays[name]

        return compute

    def view(self):
        def reference():
            self.calls.append("reference")
            return self.reference

        def probs_of(indices):
            self.calls.append("probs_of")
            return self.arrays["probs"][indices - 100]

        return View(
            np.arange(100, 130),
            np.random.default_rng(1),
            probs=self.part("probs"),
            reference=reference,
            embeddings=self.part("embeddings"),
            reference_embeddings=self.part("reference_embeddings"),
            probs_of=probs_of,
        )


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("random", set()),
        ("margin", {"probs"}),
        ("coreset", {"embeddings", "reference_embeddings"}),
        ("badge", {"probs", "embeddings"}),
        ("cusal", {"probs", "reference"}),
        ("cluster_cusal", {"probs", "reference", "embeddings"}),
    ],
)
def test_a_strategy_computes_only_what_it_looks_at_and_once(name, parts):
    counting = Counting()
    strategies.find(name)().select(counting.view(), 5)
    assert sorted(counting.calls) == sorted(parts)


def test_explaining_a_random_choice_predicts_the_picks_alone():
    counting = Counting()
    view = counting.view()
    query = strategies.find("random")().explain(view, np.array([103, 101]))
    assert counting.calls == ["probs_of"]
    assert (query.probs == counting.arrays["probs"][[3, 1]]).all()


def test_the_estimate_is_computed_once_for_each_setting():
    view = Counting().view()
    assert view.estimate(1e-3, 1, 1e-10) is view.estimate(1e-3, 1, 1e-10)
    assert view.estimate(1e-3, 1, None) is not view.estimate(1e-3, 1, 1e-10)


def test_a_part_that_nobody_gave_is_named():
    view = View(np.arange(2), np.random.default_rng(0), probs=np.eye(2), reference=(np.eye(2), np.arange(2)))
    with pytest.raises(AttributeError, match="no embeddings"):
        _ = view.embeddings
    with pytest.raises(AttributeError, match="no sampled_probs"):
        view.sampled_probs(3)
