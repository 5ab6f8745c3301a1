"""One contract for every strategy that is found: nothing here names one."""

from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest

from cusal import strategies
from cusal.errors import InvalidInput, PoolExhausted
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

every_strategy = pytest.mark.parametrize("name", strategies.names())


class Round:
    """The items of one round: rows of `arrays` belong to `candidates`; views of it are read-only."""

    def __init__(self, arrays: dict[str, np.ndarray], reference: dict[str, np.ndarray], candidates: np.ndarray):
        self.arrays, self.reference, self.candidates = arrays, reference, candidates
        for array in (*arrays.values(), *reference.values(), candidates):
            array.flags.writeable = False

    def view(self, seed: int = 0) -> View:
        return View.of_arrays(
            self.candidates,
            np.random.default_rng(seed),
            probs=self.arrays["probs"],
            reference=(self.reference["probs"], self.reference["labels"]),
            embeddings=self.arrays["embeddings"],
            reference_embeddings=self.reference["embeddings"],
            sampled_probs=self.arrays["sampled"],
        )

    def take(self, rows: Any) -> "Round":
        arrays = {name: array[rows] for name, array in self.arrays.items()}
        return Round(arrays, self.reference, self.candidates[: len(arrays["probs"])])


def make_round(size: int = 60, classes: int = 4, *, dtype: Any = np.float64, concentration: float = 1.0) -> Round:
    rng = np.random.default_rng(size * classes)
    labels = np.arange(12) % classes
    arrays = {
        "probs": rng.dirichlet(np.full(classes, concentration), size).astype(dtype),
        "embeddings": rng.normal(size=(size, 6)).astype(dtype),
        "sampled": rng.dirichlet(np.full(classes, concentration), (size, 10)).astype(dtype),
    }
    reference = {
        "probs": rng.dirichlet(np.full(classes, concentration), len(labels)).astype(dtype),
        "embeddings": rng.normal(size=(len(labels), 6)).astype(dtype),
        "labels": labels,
    }
    return Round(arrays, reference, np.arange(size) * 3 + 1)


def assert_valid(query: np.ndarray, round_: Round, count: int) -> None:
    assert query.dtype == np.int64
    assert query.shape == (count,)
    assert len(np.unique(query)) == count
    assert np.isin(query, round_.candidates).all()


@every_strategy
def test_is_a_frozen_strategy_with_defaults(name: str) -> None:
    strategy = strategies.find(name)()
    assert isinstance(strategy, Strategy)
    assert strategy == strategies.find(name)()
    for field in fields(strategy):
        with pytest.raises(FrozenInstanceError):
            setattr(strategy, field.name, None)


@every_strategy
@pytest.mark.parametrize("classes", [2, 4, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_picks_distinct_open_items(name: str, classes: int, dtype: Any) -> None:
    round_ = make_round(classes=classes, dtype=dtype)
    assert_valid(strategies.find(name)().select(round_.view(), 7), round_, 7)


@pytest.mark.parametrize("name", [name for name in strategies.names() if hasattr(strategies.find(name), "keys")])
def test_keys_are_finite_numbers_for_each_candidate(name: str) -> None:
    keys = strategies.find(name)().keys(make_round().view())
    assert keys.dtype == np.float64
    assert len(keys) == 60
    assert np.isfinite(keys).all()


@every_strategy
def test_same_seed_gives_the_same_query(name: str) -> None:
    round_, strategy = make_round(), strategies.find(name)()
    np.testing.assert_array_equal(strategy.select(round_.view(5), 9), strategy.select(round_.view(5), 9))


@every_strategy
def test_leaves_the_view_unchanged(name: str) -> None:
    round_ = make_round()
    before = {key: array.copy() for key, array in round_.arrays.items()}
    view = round_.view()
    query = strategies.find(name)().select(view, 9)
    strategies.find(name)().explain(view, query)
    for key, array in before.items():
        np.testing.assert_array_equal(round_.arrays[key], array)
    np.testing.assert_array_equal(view.candidates, np.arange(60) * 3 + 1)


@every_strategy
def test_order_of_the_pool_is_irrelevant_without_chance(name: str) -> None:
    round_, strategy = make_round(), strategies.find(name)()
    queries = [strategy.select(round_.view(seed), 5) for seed in range(4)]
    if any((query != queries[0]).any() for query in queries):
        return  # chance plays a part
    order = np.random.default_rng(1).permutation(60)
    shuffled = strategy.select(round_.take(order).view(), 5)
    np.testing.assert_array_equal(order[np.searchsorted(round_.candidates, shuffled)] * 3 + 1, queries[0])


@every_strategy
def test_the_whole_pool_can_be_asked_for(name: str) -> None:
    round_ = make_round(30)
    query = strategies.find(name)().select(round_.view(), 30)
    np.testing.assert_array_equal(np.sort(query), round_.candidates)


@every_strategy
def test_one_item_left_is_picked(name: str) -> None:
    round_ = make_round().take([17])
    assert strategies.find(name)().select(round_.view(), 1).tolist() == [1]


@every_strategy
@pytest.mark.parametrize("count", [1, 8, 25])
def test_equal_items_give_distinct_picks(name: str, count: int) -> None:
    round_ = make_round().take(np.full(25, 3))
    assert_valid(strategies.find(name)().select(round_.view(), count), round_, count)


@every_strategy
@pytest.mark.parametrize("count", [6, 24])
def test_probabilities_of_zero_and_one_are_accepted(name: str, count: int) -> None:
    round_ = make_round(24, 3)
    certain = np.eye(3)[np.arange(24) % 3]
    arrays = round_.arrays | {"probs": certain, "sampled": np.repeat(certain[:, None], 10, axis=1)}
    round_ = Round(arrays, round_.reference | {"probs": np.eye(3)[np.arange(12) % 3]}, round_.candidates)
    assert_valid(strategies.find(name)().select(round_.view(), count), round_, count)


@every_strategy
def test_zero_embeddings_are_accepted(name: str) -> None:
    round_ = make_round(24, 3)
    reference = round_.reference | {"embeddings": np.zeros((12, 6))}
    round_ = Round(round_.arrays | {"embeddings": np.zeros((24, 6))}, reference, round_.candidates)
    assert_valid(strategies.find(name)().select(round_.view(), 6), round_, 6)


@every_strategy
def test_asking_for_too_many_says_how_many_are_open(name: str) -> None:
    with pytest.raises(PoolExhausted, match="asked for 61 items, but only 60 are open"):
        strategies.find(name)().query(make_round().view(), 61)


@every_strategy
@pytest.mark.parametrize("batch_size", [0, -1, 2.5, True, "3", None])
def test_a_batch_size_that_is_no_count_is_refused(name: str, batch_size: Any) -> None:
    with pytest.raises(InvalidInput, match=r"batch_size is .*; expected a whole number of at least 1"):
        strategies.find(name)().query(make_round().view(), batch_size)


@every_strategy
def test_explains_its_picks_in_their_order(name: str) -> None:
    round_, strategy = make_round(), strategies.find(name)()
    indices = strategy.select(round_.view(), 6)
    query = strategy.query(round_.view(), 6)
    assert query.strategy == name
    np.testing.assert_array_equal(query.indices, indices)
    expected = round_.arrays["probs"][(indices - 1) // 3].max(axis=1)
    np.testing.assert_array_equal(query.confidence, expected)


@every_strategy
def test_a_strategy_that_ranks_by_row_has_keys(name: str) -> None:
    strategy = strategies.find(name)()
    assert not strategy.by_row or hasattr(strategy, "keys")


@every_strategy
def test_is_imported_from_the_package_by_the_name_of_its_class(name: str) -> None:
    found = strategies.find(name)
    assert getattr(strategies, found.__name__) is found
    assert found.__name__ in dir(strategies)


@every_strategy
def test_says_for_whom_it_is_in_a_line(name):
    line = strategies.find(name).for_whom
    assert 10 <= len(line) <= 120
    assert "\n" not in line
    assert line == line.strip(" .")
