"""A spec made real: the data, the warm-up labels, the session, and the rounds that it yields."""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from cusal import datasets, strategies
from cusal._checks import as_array
from cusal._items import Subset
from cusal._types import Indices
from cusal.bench.features import featured
from cusal.bench.measured_errors import measure_errors
from cusal.bench.measured_recalibrations import measure_recalibrations
from cusal.bench.networks import build_module
from cusal.bench.spec import Spec
from cusal.bench.validation import VALIDATION, with_validation
from cusal.bench.variants import build_variant
from cusal.errors import InvalidInput
from cusal.loop.old_pickles import unpickle
from cusal.loop.session import Session
from cusal.loop.simulate import Round, simulate
from cusal.strategies._strategy import Strategy


def features_key(spec: Spec) -> str:
    """Return the features that a spec wants as `load_data` takes them."""
    return json.dumps(spec.features, sort_keys=True)


@lru_cache(maxsize=1)
def load_data(name: str, features: str = "{}", test: str = "test") -> datasets.Dataset:
    """Return a data set, read once for all runs of a process.

    features: a `features_key`, "{}" for the items themselves. test: "validation" puts the last train items in place of
    the test items.
    """
    data, wanted = datasets.load(name), json.loads(features)
    data = featured(data, wanted) if wanted else data
    return with_validation(data) if test == VALIDATION else data


class Experiment:
    """One run of a spec over its data: `rows` are the positions in the train split that take part, ascending."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.data = load_data(spec.dataset, features_key(spec), spec.test)
        labels = self.data.train_labels
        self.warm_up, self.rows = draw_items(spec, labels, len(self.data.classes))
        self.labels = labels[self.rows]
        train = self.data.train
        self.items: Any = train
        if len(self.rows) < len(train):
            self.items = train[self.rows] if isinstance(train, np.ndarray) else Subset(train, self.rows)

    def start(self, state: bytes | None = None) -> Session:
        """Return the session at its beginning, or as it was when `state` was pickled."""
        if state is not None:
            return Session.resume(unpickle(state), self.items)
        places = np.searchsorted(self.rows, self.warm_up)
        return Session(
            self.items,
            build_model(self.spec, self.items.shape[1:], len(self.data.classes)),
            build_strategy(self.spec),
            labelled=dict(zip(places.tolist(), self.labels[places].tolist(), strict=True)),
            classes=range(len(self.data.classes)),
            seed=self.spec.seed,
            recalibrate=self.spec.recalibrate,  # type: ignore[arg-type]
            reference=self.spec.reference,  # type: ignore[arg-type]
            audit=self.spec.audit,
        )

    def rounds(self, session: Session) -> Iterator[Round]:
        """Yield the rounds that are left, each as it ends."""
        return simulate(
            session,
            self.labels,
            rounds=self.spec.rounds - session.round - 1,
            batch_size=self.spec.batch_size,
            test=(self.data.test, self.data.test_labels),
            measure=self._measure(),
        )

    def _measure(self) -> Callable[[Session], dict[str, float]] | None:
        spec, test = self.spec, (self.data.test, self.data.test_labels)
        if not spec.estimator_every and not spec.recalibrations:
            return None

        def measure(session: Session) -> dict[str, float]:
            measured = measure_recalibrations(session, spec.recalibrations, test)
            if not spec.estimator_every or session.round % spec.estimator_every:
                return measured
            return measured | measure_errors(session, self.labels, test, bandwidth=spec.bandwidth, p=spec.p)

        return measure


def draw_items(spec: Spec, labels: Indices, classes: int) -> tuple[Indices, Indices]:
    """Return the positions of the warm-up items, and of all that take part, ascending; from the seed alone."""
    rng = np.random.default_rng([spec.seed])
    if spec.warm_up >= len(labels):
        raise InvalidInput(f"warm_up is {spec.warm_up}, but {spec.dataset} has {len(labels)} train items; lower it.")
    if spec.balanced:
        each, odd = divmod(spec.warm_up, classes)
        if odd:
            raise InvalidInput(
                f"warm_up is {spec.warm_up}, which {classes} classes cannot share equally; "
                f"give a multiple of {classes}, or balanced = false."
            )
        warm_up = np.concatenate([_some_of(rng, labels, number, each) for number in range(classes)])
    else:
        warm_up = rng.choice(len(labels), spec.warm_up, replace=False)
    if spec.pool is None:
        return np.sort(warm_up), np.arange(len(labels))
    rest = np.setdiff1d(np.arange(len(labels)), warm_up)
    if spec.pool > len(rest):
        raise InvalidInput(
            f"pool is {spec.pool}, but {spec.dataset} has {len(rest)} train items besides the warm-up; lower it."
        )
    pool = rng.choice(rest, spec.pool, replace=False)
    return np.sort(warm_up), np.sort(np.concatenate([warm_up, pool]))


def _some_of(rng: np.random.Generator, labels: Indices, number: int, count: int) -> Indices:
    members = np.flatnonzero(labels == number)
    if len(members) < count:
        raise InvalidInput(f"class {number} has {len(members)} train items, but a balanced warm-up needs {count}.")
    return rng.choice(members, count, replace=False)


def build_strategy(spec: Spec) -> Strategy:
    """Return the strategy with its settings."""
    return strategies.find(spec.strategy)(**spec.settings)


def build_model(spec: Spec, item_shape: tuple[int, ...], classes: int) -> Any:
    """Return the untrained classifier."""
    training = {
        "epochs": spec.epochs,
        "batch_size": spec.train_batch_size,
        "learning_rate": spec.learning_rate,
        "weight_decay": spec.weight_decay,
        "warm_start": spec.warm_start,
        "precision": spec.precision,
    }
    return build_variant(spec.model or "plain", partial(build_module, spec.network, item_shape, classes), training)


def try_model(spec: Spec, data: datasets.Dataset) -> None:
    """Train what is innermost of a spec's model on two items for one epoch: an error here is one of every run."""
    model = build_model(spec, data.train.shape[1:], len(data.classes))
    while hasattr(model, "model"):
        model = model.model
    if hasattr(model, "set_params"):
        known, short = model.get_params(deep=False), {"epochs": 1, "random_state": 0}
        model.set_params(**{name: short[name] for name in short if name in known})
    model.fit(as_array(data.train[np.arange(2)]), np.arange(2))
