"""What a strategy sees: each part computed when it is first read, and once."""

import numpy as np
import pytest

from cusal import strategies
from cusal.errors import InvalidInput, MissingMethod
from cusal.strategies import Cusal
from cusal.strategies._view import ArrayAnswers, View


class Counting:
    """Answers that count what they are asked."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.calls = []
        self.arrays = ArrayAnswers(
            np.arange(100, 130),
            probs=rng.dirichlet(np.ones(3), size=30),
            embeddings=rng.normal(size=(30, 4)),
            reference_embeddings=rng.normal(size=(6, 4)),
            reference=(rng.dirichlet(np.ones(3), size=6), rng.integers(3, size=6)),
        )

    def probs(self, indices, *, whole=True):
        self.calls.append("probs" if whole else "some probs")
        return self.arrays.probs(indices)

    def embeddings(self, indices):
        self.calls.append("embeddings")
        return self.arrays.embeddings(indices)

    def reference(self):
        self.calls.append("reference")
        return self.arrays.reference()

    def reference_embeddings(self):
        self.calls.append("reference_embeddings")
        return self.arrays.reference_embeddings()

    def view(self):
        return View(np.arange(100, 130), np.random.default_rng(1), self)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("random", set()),
        ("margin", {"probs"}),
        ("coreset", {"embeddings", "reference_embeddings"}),
        ("badge", {"probs", "embeddings"}),
        ("cusal", {"probs", "reference"}),
        ("cluster_cusal", {"probs", "reference", "embeddings"}),
        ("diverse_margin", {"probs", "embeddings"}),
    ],
)
def test_a_strategy_computes_only_what_it_looks_at_and_once(name, parts):
    counting = Counting()
    strategies.find(name)().select(counting.view(), 5)
    assert sorted(counting.calls) == sorted(parts)


def test_explaining_a_random_choice_predicts_the_picks_alone():
    counting = Counting()
    query = strategies.Random().explain(counting.view(), np.array([103, 101]))
    assert counting.calls == ["some probs"]
    assert (query.probs == counting.arrays.probs(np.array([103, 101]))).all()


def test_embeddings_of_some_candidates_are_rows_of_all():
    counting = Counting()
    view, some = counting.view(), np.array([111, 104])
    alone = view.embeddings_of(some)
    np.testing.assert_array_equal(alone, view.embeddings[[11, 4]])
    np.testing.assert_array_equal(view.embeddings_of(some), alone)
    assert counting.calls == ["embeddings", "embeddings"]  # the third time they are there already


def test_an_embedding_of_some_candidates_that_is_no_number_names_the_item():
    embeddings = np.array([[0.0], [np.nan], [1.0]])
    view = View.of_arrays(np.arange(5, 8), np.random.default_rng(0), probs=np.eye(3), embeddings=embeddings)
    assert view.embeddings_of(np.array([5, 7])).tolist() == [[0.0], [1.0]]
    with pytest.raises(InvalidInput, match="the embedding of item 6 holds NaN or infinity"):
        view.embeddings_of(np.array([7, 6]))


def test_the_estimate_is_computed_once_for_each_setting():
    view = Counting().view()
    assert Cusal().estimate(view) is Cusal(tie_break="margin").estimate(view)
    assert Cusal(density_floor=None).estimate(view) is not Cusal().estimate(view)


def test_a_part_that_nobody_gave_is_named_together_with_the_strategy():
    view = View.of_arrays(np.arange(2), np.random.default_rng(0), probs=np.eye(2))
    with pytest.raises(MissingMethod, match="strategy coreset: it needs embeddings"):
        strategies.Coreset().query(view, 1)
    with pytest.raises(MissingMethod, match="strategy bald: it needs sampled predictions"):
        strategies.Bald().query(view, 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_embeddings_that_are_no_numbers_are_named(bad):
    embeddings = np.zeros((3, 2))
    embeddings[1, 0] = bad
    arrays = {"probs": np.full((3, 2), 0.5), "embeddings": embeddings, "reference_embeddings": np.zeros((1, 2))}
    view = View.of_arrays(np.array([4, 5, 6]), np.random.default_rng(0), **arrays)
    with pytest.raises(InvalidInput, match="the embedding of item 5 holds NaN or infinity"):
        strategies.Coreset().query(view, 1)


def test_a_strategy_without_keys_and_select_is_refused_when_it_is_defined():
    with pytest.raises(TypeError, match="Idle defines neither keys"):
        type("Idle", (strategies.Strategy,), {})
