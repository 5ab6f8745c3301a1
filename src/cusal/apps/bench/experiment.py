"""A spec made real: the data, the warm-up labels, the session, and the rounds that it yields."""

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from cusal import Strategy, calibration, metrics, strategies
from cusal._checks import as_array
from cusal._items import Subset, count_items, take
from cusal._types import Indices
from cusal.apps.bench import datasets
from cusal.apps.bench.loaded_data import as_rows, draw_items, draw_test, features_key, load_data
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.variants import build_module, build_variant, takes_rows
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


# How good the estimate of the pool's calibration error is, and whether the bounds of the paper's Theorem 2 hold.
#
# The paper compares the estimate with the error that knows the labels (its figure of the two estimators on MNIST). Its
# Theorem 2 says: if the mean error of the queried points is at most epsilon, so is that of the pool, and that of unseen
# data is at most epsilon + sqrt(L^2 log(2 / delta) / (2 (labelled + pool))).


SAMPLE = 2000
DENSE = 10_000  # labelled items


def measure_errors(
    session: Session, labels: Indices, test: tuple[Any, Indices], *, bandwidth: float, p: float
) -> dict[str, float]:
    """Return mean calibration errors by the kernel estimator; of pool and test set, of at most 2000 items each.

    labels: of all items of the session, also of those that it does not know yet; test: unseen items and their labels.

    estimated_pool_error: of the open items, with the labelled items as evidence, as the strategy sees it.
    known_pool_error: of the same ones, leave-one-out with their labels known (Popordanoska et al. 2022).
    labelled_error: of the labelled items, leave-one-out: the theorem's epsilon, which bounds the pool's error.
    known_test_error: of the test items, leave-one-out with their labels known.
    bound: the theorem's bound on the error of unseen data.
    """
    view = session.view
    rows = view.positions(_sample(session))
    settings: dict[str, Any] = {"bandwidth": bandwidth, "p": p}
    probs, evidence = view.probs[rows], (view.reference_probs, view.reference_labels)
    tolerance = 0 if len(evidence[0]) <= DENSE else 1e-9  # what is small needs no compiled code
    estimate = calibration.pointwise_error(probs, *evidence, bandwidth=bandwidth, p=p, tolerance=tolerance)
    measured = {"estimated_pool_error": float(estimate.error.mean())}
    if len(rows) > 1:
        measured["known_pool_error"] = calibration.canonical_error(probs, labels[view.candidates[rows]], **settings)
    epsilon = calibration.canonical_error(*evidence, **settings)
    unseen, truth = test
    some = np.random.default_rng([session.seed, 0, 5]).permutation(len(truth))[:SAMPLE]
    some.sort()
    predicted = session.predict_proba(take(unseen, some), raw=True)
    sizes = {"labelled": len(session.labels), "pool": len(view.candidates)}
    return measured | {
        "labelled_error": epsilon,
        "known_test_error": calibration.canonical_error(predicted, truth[some], **settings),
        "bound": calibration.error_bound(epsilon, **sizes),
    }


def _sample(session: Session) -> Indices:
    """The open items that come first in an order drawn once for each seed: the sample hardly changes over rounds."""
    order = np.random.default_rng([session.seed, 0, 4]).permutation(len(session.pool))
    opened = np.zeros(len(session.pool), dtype=bool)
    opened[session.view.candidates] = True
    return np.sort(order[opened[order]][:SAMPLE])


# What other recalibrations than the session's own would give, measured in the same run.
#
# A recalibration changes neither what is asked for nor what is fitted, so that one run serves for all of them.


def measure_recalibrations(session: Session, methods: Sequence[str], test: tuple[Any, Indices]) -> dict[str, float]:
    """Return `ece METHOD`, `accuracy METHOD` and `nll METHOD` of test items (n, ...) with class numbers (n,).

    methods: as `Session` takes them for `recalibrate`. Call it in every round: copies of a warm model continue with it.
    """
    if not methods:
        return {}
    items, labels = test
    raw = session.predict_proba(items, raw=True)
    measured = {}
    for method in methods:
        probs = session.recalibration_by(method).apply(raw)  # type: ignore[arg-type]
        measured[f"ece {method}"] = metrics.ece(probs, labels)
        measured[f"accuracy {method}"] = metrics.accuracy(probs, labels)
        measured[f"nll {method}"] = metrics.nll(probs, labels)
    return measured
