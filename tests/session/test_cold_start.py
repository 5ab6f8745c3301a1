"""The first batch: typical items that differ from each other, of whatever the items are."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import cusal
from cusal._items import count_items
from cusal.errors import CusalWarning
from cusal.session import cold_start
from cusal.session.cold_start import typical_items

X, Y = load_digits(return_X_y=True)
SENTENCES = [f"{verb} the {noun}" for verb in ("close", "open", "paint") for noun in ("door", "gate", "box", "lid")] * 5


class FrozenImages:
    """Images of a data set that takes one integer at a time."""

    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        return X[index].reshape(8, 8), int(Y[index])


ITEMS: dict[str, Any] = {
    "table": X[:60],
    "integers": X[:60].astype(np.int16),
    "flags": X[:60] > 8,
    "frame": pd.DataFrame(X[:60]),
    "images": X[:60].reshape(-1, 1, 8, 8),
    "one by one": FrozenImages(),
    "sparse": sparse.csr_matrix(X[:60]),
    "wide sparse": sparse.coo_matrix(np.random.default_rng(0).poisson(0.05, size=(60, 500))),
    "empty sparse": sparse.csr_matrix((60, 500)),
    "tf-idf": TfidfVectorizer().fit_transform(SENTENCES),
    "texts": SENTENCES,
    "array of texts": np.array(SENTENCES),
    "series of texts": pd.Series(SENTENCES, index=range(100, 160)),
    "letters": list("abc") * 20,
    "texts without words": ["", "?!"] * 30,
    "mixed frame": pd.DataFrame({"number": range(60), "word": SENTENCES}),
    "all equal": np.ones((60, 4)),
    "three distinct": np.repeat(np.eye(3), 20, axis=0),
    "missing values": np.where(np.arange(240).reshape(60, 4) % 7, 1.0, np.nan),
    "sparse with missing values": sparse.csr_matrix(np.full((60, 3), np.nan)),
    "no columns": np.empty((60, 0)),
    "huge numbers": X[:60] * 1e200,
}


def model_of(kind: str) -> Any:
    return HistGradientBoostingClassifier() if kind == "missing values" else LogisticRegression()


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("count", [1, 7, 60])
def test_any_items_give_a_batch_of_distinct_open_items(kind: str, count: int) -> None:
    query = cusal.Session(ITEMS[kind], model_of(kind)).ask(count)
    assert query.strategy == "cold_start"
    assert query.indices.dtype == np.int64
    assert len(set(query.indices.tolist())) == count
    assert set(query.indices.tolist()) <= set(range(60))


@pytest.mark.parametrize("kind", ITEMS)
def test_the_same_seed_asks_for_the_same_items(kind: str) -> None:
    one, other = (cusal.Session(ITEMS[kind], model_of(kind), seed=3) for _ in range(2))
    assert one.ask(5).indices.tolist() == one.ask(5).indices.tolist() == other.ask(5).indices.tolist()


@pytest.mark.parametrize("kind", ITEMS)
def test_with_labels_of_one_class_nothing_is_asked_twice(kind: str) -> None:
    session = cusal.Session(ITEMS[kind], model_of(kind))
    session.skip([0, 1])
    for asked in range(0, 54, 9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CusalWarning)
            query = session.ask(9)
        session.tell(query.indices, ["the only class"] * 9)
        assert len(session.labels) == asked + 9
    assert len(session.pool.open) == 4


def blobs(sizes: list[int], columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Groups far apart, whose items lie the farther from the middle the later they come."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(len(sizes)), sizes)
    radius = np.concatenate([np.linspace(0, 3, size) for size in sizes])
    return radius[:, None] * rng.normal(size=(len(group), columns)) + 50 * np.eye(len(sizes), columns)[group], group


def test_picks_from_the_middle_of_each_group_the_largest_first() -> None:
    points, group = blobs([60, 40, 90])
    picks = typical_items(points, np.arange(190), 3, rng=np.random.default_rng(0))
    assert group[picks].tolist() == [2, 0, 1]
    assert (picks - [100, 0, 60] < 8).all()


def test_is_no_outlier_and_no_nearest_pair() -> None:
    points, _ = blobs([80])
    points[5] = points[6] = points[0] + 30  # closest of all to each other, and far from the rest
    picks = typical_items(points, np.arange(80), 1, rng=np.random.default_rng(0))
    assert np.linalg.norm(points[picks[0]] - points[0]) < 1


@pytest.mark.parametrize("labelled", [[0], [0, 1, 2], [0, 60, 61]])
def test_half_of_the_next_items_are_of_groups_without_a_label(labelled: list[int]) -> None:
    points, group = blobs([60, 60, 60, 60], columns=4)
    candidates = np.setdiff1d(np.arange(240), labelled)
    free = set(range(4)) - set(group[labelled].tolist())
    for seed in range(5):
        picks = typical_items(points, candidates, 2 * len(free), labelled=labelled, rng=np.random.default_rng(seed))
        assert not set(picks.tolist()) & set(labelled)
        assert len(set(group[picks].tolist()) & free) >= len(free) - 1


def test_ten_labels_of_one_class_lead_to_others_sooner_than_chance() -> None:
    zeros = np.flatnonzero(Y == 0)[:10]
    session = cusal.Session(X, LogisticRegression(), labelled=(zeros, [0] * 10))
    with pytest.warns(CusalWarning, match="all 10 labels are 0"):
        assert len(set(Y[session.ask(10).indices].tolist()) - {0}) >= 5


def test_many_items_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_start, "MOST", 100)
    monkeypatch.setattr(cold_start, "LARGEST", 20)
    picks = typical_items(X, np.arange(len(X)), 10, rng=np.random.default_rng(0))
    assert len(set(picks.tolist())) == 10
    assert len(typical_items(X, np.arange(len(X)), 150, rng=np.random.default_rng(0))) == 150


def test_of_large_images_few_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_start, "MOST_NUMBERS", 64 * 50)
    read: list[int] = []
    points_of: Callable[[Any], Any] = cold_start._points
    monkeypatch.setattr(cold_start, "_points", lambda items: read.append(count_items(items)) or points_of(items))
    typical_items(X.reshape(-1, 8, 8), np.arange(len(X)), 10, rng=np.random.default_rng(0))
    assert read == [50]


@pytest.mark.parametrize("form", ["table", "images", "sparse"])
def test_twenty_typical_digits_teach_more_than_random_ones(form: str) -> None:
    items = {"table": X, "images": X.reshape(-1, 8, 8), "sparse": sparse.csr_matrix(X)}[form]

    def accuracy(indices: np.ndarray) -> float:
        return float(LogisticRegression(max_iter=2000).fit(X[indices], Y[indices]).score(X, Y))

    def mean_accuracy(choose: Callable[[np.random.Generator], np.ndarray]) -> float:
        return float(np.mean([accuracy(choose(np.random.default_rng(seed))) for seed in range(6)]))

    typical = mean_accuracy(lambda rng: typical_items(items, np.arange(len(X)), 20, rng=rng))
    assert typical > mean_accuracy(lambda rng: rng.choice(len(X), 20, replace=False)) + 0.05


def test_random_items_are_random_from_the_first_one() -> None:
    X, y = load_digits(return_X_y=True)
    session = cusal.Session(X, LogisticRegression(max_iter=2000), "random", seed=0)
    first = session.ask(40)
    assert first.strategy == "random"
    session.tell(first.indices, y[first.indices])
    assert session.estimate_accuracy().drawn == 40


def test_the_warning_of_one_class_names_the_remedy() -> None:
    X = load_digits(return_X_y=True)[0]
    session = cusal.Session(X, LogisticRegression(), labelled=(range(10), [0] * 10))
    with pytest.warns(CusalWarning, match="half at random.*If you know an item of another class, tell that one"):
        session.ask(5)
