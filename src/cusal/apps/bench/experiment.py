"""A spec made real: the data, the warm-up labels, the session, and the rounds that it yields."""

import pickle
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from cusal import Strategy, strategies
from cusal._checks import as_array
from cusal._items import Subset, count_items, take
from cusal.apps.bench import datasets
from cusal.apps.bench.loaded_data import as_rows, draw_items, draw_test, features_key, load_data
from cusal.apps.bench.measured_errors import measure_errors
from cusal.apps.bench.measured_recalibrations import measure_recalibrations
from cusal.apps.bench.networks import build_module
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.variants import build_variant, takes_rows
from cusal.errors import CusalError, InvalidInput
from cusal.session import Round, Session, simulate


class Experiment:
    """One run of a spec over its data: `rows` are the positions in the train split that take part, ascending."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.data = suited_data(spec)
        labels = self.data.train_labels
        self.warm_up, self.rows = draw_items(spec, labels, len(self.data.classes))
        self.labels = labels[self.rows]
        self.items: Any = self.data.train
        if len(self.rows) < len(labels):
            lazy = getattr(self.items, "lazy", False)
            self.items = Subset(self.items, self.rows) if lazy else self.items[self.rows]
        rows = draw_test(spec, self.data.test)
        whole = len(rows) == count_items(self.data.test)
        self.test = self.data.test if whole else take(self.data.test, rows), self.data.test_labels[rows]

    def start(self, state: bytes | None = None) -> Session:
        """Return the session at its beginning, or as it was when `state` was pickled."""
        if state is not None:
            return Session.resume(pickle.loads(state), self.items)
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
            test=self.test,
            measure=self._measure(),
            stop=self.spec.stop,
        )

    def _measure(self) -> Callable[[Session], dict[str, float]] | None:
        spec, test = self.spec, self.test
        if not spec.estimator_every and not spec.recalibrations:
            return None

        def measure(session: Session) -> dict[str, float]:
            measured = measure_recalibrations(session, spec.recalibrations, test)
            if not spec.estimator_every or session.round % spec.estimator_every:
                return measured
            return measured | measure_errors(session, self.labels, test, bandwidth=spec.bandwidth, p=spec.p)

        return measure


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


def suited_data(spec: Spec) -> datasets.Dataset:
    """Return the data set of a spec in the form that its model takes: scikit-learn's get images as rows of pixels."""
    data = load_data(spec.dataset, features_key(spec), spec.test)
    return as_rows(data) if takes_rows(spec.model or "plain") else data


def try_model(spec: Spec, data: datasets.Dataset) -> None:
    """Fit what is innermost of a spec's model to a few items: an error here is one of every run.

    A network is trained on two items for one epoch, anything else is fitted to the labels of round 0.
    """
    model = build_model(spec, data.train.shape[1:], len(data.classes))
    while hasattr(model, "model"):
        model = model.model
    if not hasattr(model, "module"):
        _try_classifier(model, spec, data)
        return
    if hasattr(model, "set_params"):
        known, short = model.get_params(deep=False), {"epochs": 1, "random_state": 0}
        model.set_params(**{name: short[name] for name in short if name in known})
    model.fit(as_array(data.train[np.arange(2)]), np.arange(2))


def _try_classifier(model: Any, spec: Spec, data: datasets.Dataset) -> None:
    rows, _ = draw_items(spec, data.train_labels, len(data.classes))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the runs will say the same
            model.fit(take(data.train, rows), data.train_labels[rows])
            model.predict_proba(take(data.train, rows))
    except CusalError:
        raise
    except Exception as error:  # whatever a model of the user's own raises
        raise InvalidInput(
            f"{type(model).__name__} cannot be fitted to the first {len(rows)} labels of {spec.dataset} and predict: "
            f"{type(error).__name__}: {error}; change its settings, or take another model."
        ) from error
