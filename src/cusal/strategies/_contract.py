"""What every strategy must do, as checks that raise an error: for strategies of your own, and for ours in the tests.

Each check takes a strategy with its settings. Ties follow one rule: of items that are equal in every respect, the lower
position in the data set comes first, or chance decides by the view's generator.
"""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

import numpy as np

from cusal._types import Indices
from cusal.errors import InvalidInput, MissingMethod, PoolExhausted
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

SIZE, LABELLED, FEATURES, SAMPLES = 60, 12, 6, 10
Check = Callable[[Strategy], None]


def check_strategy(strategy: Strategy | type[Strategy]) -> None:
    """Check that a strategy does what sessions and queries rely on; for models scikit-learn has `check_estimator`.

    Small made-up pools are asked about: of 2, 4 and 100 classes, in two precisions, with equal items, certain
    predictions, one item left, and in another order.

    Parameters
    ----------
    strategy : Strategy, or a subclass of it
        An object with its settings, or a class, whose defaults are taken.

    Raises
    ------
    InvalidInput
        If it breaks a rule; the message says which, what was met and what was expected.

    Examples
    --------
    >>> from cusal.strategies import Margin
    >>> check_strategy(Margin)
    """
    if isinstance(strategy, type):
        strategy = strategy()
    if not isinstance(strategy, Strategy):
        raise InvalidInput(f"strategy is {strategy!r}; expected an object that derives from cusal.Strategy.")
    for check in CHECKS:
        check(strategy)


def is_a_frozen_dataclass(strategy: Strategy) -> None:
    parameters = getattr(type(strategy), "__dataclass_params__", None)
    own = "__dataclass_params__" in vars(type(strategy))
    if not is_dataclass(strategy) or not own or parameters is None or not parameters.frozen:
        _fail(strategy, "it is no frozen dataclass of its own; write @dataclass(frozen=True) above the class")
    for field in fields(strategy):
        try:
            setattr(strategy, field.name, getattr(strategy, field.name))
        except FrozenInstanceError:
            continue
        _fail(strategy, f"its setting {field.name} can be changed; write @dataclass(frozen=True) above the class")
    copy = type(strategy)(**{field.name: getattr(strategy, field.name) for field in fields(strategy) if field.init})
    if copy != strategy:
        _fail(strategy, "two objects with the same settings are not equal; leave comparing to the dataclass")


def picks_distinct_open_items(strategy: Strategy) -> None:
    for classes in (2, 4, 100):
        for dtype in (np.float32, np.float64):
            pool = Pool.draw(classes=classes, dtype=dtype)
            _expect_distinct(strategy, pool, 7, f"of {SIZE} items, {classes} classes, {np.dtype(dtype)}")


def has_finite_keys(strategy: Strategy) -> None:
    if not hasattr(strategy, "keys"):
        if strategy.by_row:
            _fail(strategy, "by_row is True, but there is no keys(view); define it, or leave by_row out")
        return
    keys = strategy.keys(Pool.draw().view(strategy))
    if not isinstance(keys, np.ndarray) or keys.dtype != np.float64 or len(keys) != SIZE or not np.isfinite(keys).all():
        _fail(strategy, f"keys(view) is no array of finite float64 with {SIZE} rows; return one key for each candidate")


def picks_the_same_by_the_same_seed(strategy: Strategy) -> None:
    pool = Pool.draw()
    if (strategy.select(pool.view(strategy, 5), 9) != strategy.select(pool.view(strategy, 5), 9)).any():
        _fail(strategy, "two queries with the same seed differ; draw every random number from view.rng")


def leaves_the_view_unchanged(strategy: Strategy) -> None:
    pool = Pool.draw()
    before, candidates = {name: array.copy() for name, array in pool.arrays.items()}, pool.candidates.copy()
    view = pool.view(strategy)
    strategy.explain(view, strategy.select(view, 9))
    changed = [name for name, array in before.items() if not np.array_equal(array, pool.arrays[name])]
    if changed or not np.array_equal(view.candidates, candidates):
        _fail(strategy, f"a query changed {', '.join(changed) or 'the candidates'} of the view; work on a copy")


def does_not_depend_on_the_order_of_the_pool(strategy: Strategy) -> None:
    pool = Pool.draw()
    if _plays_with_chance(strategy, pool):
        return
    order = np.random.default_rng(1).permutation(SIZE)
    shuffled = strategy.select(pool.take(order).view(strategy), 5)
    expected = strategy.select(pool.view(strategy), 5)
    found = pool.candidates[order[np.searchsorted(pool.candidates, shuffled)]]
    if not np.array_equal(found, expected):
        _fail(
            strategy, f"in another order of the pool it picks {found.tolist()}, not {expected.tolist()}; no tie is here"
        )


def breaks_ties_by_position(strategy: Strategy) -> None:
    pool = Pool.draw().take(np.full(25, 3))
    for count in (1, 8, 25):
        _expect_distinct(strategy, pool, count, "of 25 equal items")
    if hasattr(strategy, "keys") and len(np.unique(strategy.keys(pool.view(strategy)), axis=0)) == 1:
        found = strategy.select(pool.view(strategy), 8)
        if not np.array_equal(found, pool.candidates[:8]):
            _fail(
                strategy,
                f"of 25 items with equal keys it picks {found.tolist()}, not {pool.candidates[:8].tolist()}; "
                "equal keys go to the lower position",
            )


def takes_the_whole_pool_and_the_last_item(strategy: Strategy) -> None:
    _expect_distinct(strategy, Pool.draw(30), 30, "the whole pool of 30 items")
    _expect_distinct(strategy, Pool.draw().take([17]), 1, "the one item that is left")


def accepts_certain_predictions(strategy: Strategy) -> None:
    pool, certain = Pool.draw(24, 3), np.eye(3)[np.arange(24) % 3]
    arrays = pool.arrays | {"probs": certain, "sampled_probs": np.repeat(certain[:, None], SAMPLES, axis=1)}
    reference = np.eye(3)[np.arange(LABELLED) % 3], pool.reference[1]
    for count in (6, 24):
        _expect_distinct(strategy, Pool(arrays, reference, pool.candidates), count, "with predictions of 0 and 1")


def accepts_equal_embeddings(strategy: Strategy) -> None:
    pool = Pool.draw(24, 3)
    zeros = {"embeddings": np.zeros((24, FEATURES)), "reference_embeddings": np.zeros((LABELLED, FEATURES))}
    _expect_distinct(strategy, Pool(pool.arrays | zeros, pool.reference, pool.candidates), 6, "with embeddings of 0")


def refuses_a_wrong_batch_size(strategy: Strategy) -> None:
    view = Pool.draw().view(strategy)
    for size, error in ((SIZE + 1, PoolExhausted), (0, InvalidInput), (2.5, InvalidInput), (True, InvalidInput)):
        try:
            strategy.query(view, size)  # type: ignore[arg-type]
        except error:
            continue
        _fail(strategy, f"query accepts a batch size of {size!r}; leave `query` to the base class")


def explains_its_picks_in_their_order(strategy: Strategy) -> None:
    pool = Pool.draw()
    indices, query = strategy.select(pool.view(strategy), 6), strategy.query(pool.view(strategy), 6)
    rows = np.searchsorted(pool.candidates, indices)
    if not np.array_equal(query.indices, indices) or query.strategy != strategy.name:
        _fail(strategy, f"query returns {query.indices.tolist()} of {query.strategy!r}, select {indices.tolist()}")
    if not np.array_equal(np.asarray(query.confidence), pool.arrays["probs"][rows].max(axis=1)):
        _fail(strategy, "the query's confidence is not that of its picks; explain must keep their order")


def needs_what_it_says(strategy: Strategy) -> None:
    unknown = sorted(set(strategy.needs) - set(OFFERED))
    if unknown:
        _fail(strategy, f"needs names {', '.join(unknown)}; expected some of {', '.join(OFFERED)}")
    try:
        strategy.query(Pool.draw().view(strategy, offering=strategy.needs), 7)
    except MissingMethod as error:
        raise InvalidInput(f"strategy {strategy.name}: {error} Name it in the class attribute `needs`.") from error
    for name in strategy.needs:
        try:
            strategy.query(Pool.draw().view(strategy, offering=set(strategy.needs) - {name}), 7)
        except MissingMethod:
            continue
        _fail(strategy, f"it works without {name}; leave that out of its class attribute `needs`")


CHECKS: tuple[Check, ...] = (
    is_a_frozen_dataclass,
    picks_distinct_open_items,
    has_finite_keys,
    picks_the_same_by_the_same_seed,
    leaves_the_view_unchanged,
    does_not_depend_on_the_order_of_the_pool,
    breaks_ties_by_position,
    takes_the_whole_pool_and_the_last_item,
    accepts_certain_predictions,
    accepts_equal_embeddings,
    refuses_a_wrong_batch_size,
    explains_its_picks_in_their_order,
    needs_what_it_says,
)
OFFERED = {"embeddings": ("embeddings", "reference_embeddings"), "samples": ("sampled_probs",)}


class Pool:
    """Made-up items of one round, read-only: rows of `arrays` belong to `candidates`, or to the labelled items."""

    def __init__(
        self, arrays: dict[str, np.ndarray], reference: tuple[np.ndarray, Indices], candidates: Indices
    ) -> None:
        self.arrays, self.reference, self.candidates = arrays, reference, candidates
        for array in (*arrays.values(), *reference, candidates):
            array.flags.writeable = False

    @classmethod
    def draw(cls, size: int = SIZE, classes: int = 4, *, dtype: Any = np.float64) -> "Pool":
        """Return random items, of which every third of a data set is open."""
        rng = np.random.default_rng(size * classes)
        arrays = {
            "probs": rng.dirichlet(np.ones(classes), size).astype(dtype),
            "embeddings": rng.normal(size=(size, FEATURES)).astype(dtype),
            "sampled_probs": rng.dirichlet(np.ones(classes), (size, SAMPLES)).astype(dtype),
        }
        reference = rng.dirichlet(np.ones(classes), LABELLED).astype(dtype), np.arange(LABELLED) % classes
        arrays["reference_embeddings"] = rng.normal(size=(LABELLED, FEATURES)).astype(dtype)
        return cls(arrays, reference, np.arange(size) * 3 + 1)

    def take(self, rows: Any) -> "Pool":
        """Return a pool whose items are some of these, in the order of `rows`."""
        arrays = {n: array if n == "reference_embeddings" else array[rows] for n, array in self.arrays.items()}
        return Pool(arrays, self.reference, self.candidates[: len(arrays["probs"])].copy())

    def view(self, strategy: Strategy, seed: int = 0, *, offering: Any = ("embeddings", "samples")) -> View:
        """Return what a strategy sees."""
        names = ["probs", *(name for offer in offering for name in OFFERED[offer])]
        arrays: dict[str, Any] = {name: self.arrays[name] for name in names}
        return View.of_arrays(self.candidates, np.random.default_rng(seed), reference=self.reference, **arrays)


def _expect_distinct(strategy: Strategy, pool: Pool, count: int, case: str) -> None:
    picks = strategy.select(pool.view(strategy), count)
    if not (isinstance(picks, np.ndarray) and picks.dtype == np.int64 and picks.shape == (count,)):
        _fail(strategy, f"{case}: select returned {picks!r}; expected an int64 array of {count} positions")
    if len(np.unique(picks)) != count or not np.isin(picks, pool.candidates).all():
        _fail(strategy, f"{case}: select returned {picks.tolist()}; expected {count} distinct items of view.candidates")


def _plays_with_chance(strategy: Strategy, pool: Pool) -> bool:
    queries = [strategy.select(pool.view(strategy, seed), 5) for seed in range(4)]
    return any((query != queries[0]).any() for query in queries)


def _fail(strategy: Strategy, text: str) -> None:
    raise InvalidInput(f"strategy {strategy.name}: {text}.")
