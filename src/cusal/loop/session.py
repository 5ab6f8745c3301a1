"""Ask and tell: which items to label next, and the labels as they come.

    session.ask(10)  ->  query.indices  ->  somebody labels them  ->  session.tell(indices, labels)  ->  ask again

A person, a simulated oracle, the benchmark and the web app all use these two calls.
"""

import copy
import time
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cusal import _files as storage
from cusal import _protocol as protocol
from cusal import strategies
from cusal._checks import as_batch_size, as_count, as_indices
from cusal._items import Subset, take
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput, MissingMethod, NotReady, UnknownName
from cusal.loop.classes import Classes
from cusal.loop.cold_start import spread_out
from cusal.loop.pool import LABELLED, OPEN, SKIPPED, Pool
from cusal.loop.predictions import Predictions
from cusal.recalibration.evidence import Calibration, Evidence, estimate_ece, temperature_of
from cusal.recalibration.out_of_sample import Method, OutOfSample, Points, Predict
from cusal.recalibration.temperature import apply_temperature
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

Recalibrate = Literal["prequential", "cross-fit", "held-out"]
Reference = Literal["fitted", "cross-fit", "held-out"]


class Session:
    """Active learning of one model on one data set.

    Parameters
    ----------
    items: the whole data set, anything that an integer array can index: an array, a tensor, a list, a data frame.
    model: anything with `fit(X, y)` and `predict_proba(X)`; the session works on a copy of it, `session.model`.
    strategy: the name of a strategy, or one made with settings: `cusal.strategies.find("cusal")(bandwidth=0.01)`.
    labelled: labels known from the start, {index: label}.
    classes: all classes, if some may not have been met yet; the columns of `predict_proba` are in the order of
        `session.classes`.
    seed: from which every random choice follows.
    recalibrate: how `predict_proba` is made honest: "prequential" (the default), "cross-fit", "held-out" or None. It
        never changes what is acquired or fitted. "cross-fit" fits five more copies of the model in every round,
        "held-out" one.
    reference: the labelled points' predictions that serve as evidence: "fitted" (the paper's), "cross-fit", "held-out".

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> items = np.linspace(-1, 1, 100)[:, None]
    >>> session = Session(items, LogisticRegression(), labelled={0: "low", 99: "high"})
    >>> query = session.ask(2)
    >>> session.tell(query.indices, ["low", "high"])
    >>> session.predict_proba(items[:1]).shape
    (1, 2)
    """

    def __init__(
        self,
        items: Any,
        model: protocol.Model,
        strategy: str | Strategy = "cusal",
        *,
        labelled: Mapping[int, Hashable] | None = None,
        classes: Iterable[Hashable] | None = None,
        seed: int = 0,
        recalibrate: Recalibrate | None = "prequential",
        reference: Reference = "fitted",
    ) -> None:
        for needed in ("fit", "predict_proba"):
            if not hasattr(model, needed):
                raise MissingMethod(
                    f"{type(model).__name__} has no method {needed}; a model needs fit(X, y) and predict_proba(X)."
                )
        if recalibrate is not None and recalibrate not in get_args(Recalibrate):
            raise UnknownName("recalibration", recalibrate, get_args(Recalibrate))
        if reference not in get_args(Reference):
            raise UnknownName("reference", reference, get_args(Reference))
        self.items = items
        self.model = copy.deepcopy(model)
        self._unfitted = copy.deepcopy(model)  # of which `_unseen` has copies fitted without some of the labels
        self._unseen = OutOfSample()
        self.strategy = _strategy(strategy)
        self.seed = as_count(seed, "seed", least=0)
        self.recalibrate = recalibrate
        self.reference = reference
        self.round = -1  # of the last fit; the first is round 0
        self.pool = Pool(len(items))
        self.seconds = {"fit": 0.0, "predict": 0.0, "select": 0.0}  # of the current round
        known = classes if classes is not None else getattr(model, "classes_", None)
        self._classes = Classes(known)
        self._labels: dict[int, Hashable] = {}
        self._evidence = Evidence()
        self._seeded = protocol.unseeded(model)
        self._view: View | None = None
        self._predictions: Predictions | None = None
        self._evidence_pairs: tuple[Floats, Indices] | None = None
        self._temperature: float | None = None
        if labelled:
            self.tell(list(labelled), list(labelled.values()))

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """The classes, in the order of the columns of `predict_proba`."""
        return self._classes.names

    @property
    def labels(self) -> dict[int, Hashable]:
        """Every label as it was given, by the position of its item."""
        return dict(self._labels)

    def ask(self, batch_size: int = 10, *, strategy: str | Strategy | None = None) -> Query:
        """Give the items to label next.

        With no labels at all it gives a spread-out first batch. Asking again before anything was told gives the same
        items. `strategy` replaces the session's for this one call.
        """
        candidates = self.pool.open
        count = as_batch_size(batch_size, len(candidates))
        chosen = self.strategy if strategy is None else _strategy(strategy)
        if not self._labels:
            return Query(spread_out(self.items, candidates, count, self._rng()))
        if not chosen.needs_model and not self._ready():
            blind = View(candidates, self._rng(), probs=_no_model, reference=_no_model)
            return Query(chosen.select(blind, count))
        self.fit()
        started, predicting = time.perf_counter(), self._answers.seconds
        self.view.rng = self._rng()
        query = chosen.explain(self.view, chosen.select(self.view, count))
        self._evidence.remember(query.indices, self._predicted(query.indices))
        self.seconds["select"] = time.perf_counter() - started - (self._answers.seconds - predicting)
        self.seconds["predict"] = self._answers.seconds
        return query

    def tell(self, indices: Any, labels: Any) -> None:
        """Give labels of items, asked for or not; a label told again replaces the earlier one."""
        places = as_indices(indices, len(self.pool))
        if isinstance(labels, str) or not hasattr(labels, "__len__"):
            labels = [labels]
        names = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        if len(names) != len(places):
            raise InvalidInput(f"told {len(names)} labels for {len(places)} items; give one label for each index.")
        self._classes.add(names)
        self._labels.update(zip(places.tolist(), names, strict=True))
        self.pool.mark(places, LABELLED)
        self._forget_round()

    def skip(self, indices: Any) -> None:
        """Set items aside: they are not asked for again, unless reopened or told."""
        places = as_indices(indices, len(self.pool))
        labelled = [i for i in places.tolist() if i in self._labels]
        if labelled:
            raise InvalidInput(f"item {labelled[0]} has a label already; skip only items without, or reopen it first.")
        self.pool.mark(places, SKIPPED)
        self._evidence.forget(places)
        self._view = None

    def reopen(self, indices: Any) -> None:
        """Take back a label or a skip: the items can be asked for again."""
        places = as_indices(indices, len(self.pool))
        for i in places.tolist():
            self._labels.pop(i, None)
        self._evidence.forget(places)
        self.pool.mark(places, OPEN)
        self._forget_round()

    def fit(self) -> None:
        """Fit the model to all labels, unless nothing was told since the last time."""
        if self._predictions is not None:
            return
        if not self._ready():
            raise NotReady(self._missing())
        started = time.perf_counter()
        seed = _model_seed(np.random.default_rng([self.seed, self.round + 1]))
        self.model = protocol.fitted_copy(
            self.model,
            self._labelled(),
            unlabelled=Subset(self.items, self.pool.open),
            seed=seed,
            seeded=self._seeded,
        )
        self.round += 1
        self._predictions = Predictions(self.model, self.items, len(self.classes))
        if getattr(self._unfitted, "warm_start", False):
            for method in get_args(Method):
                if method in (self.recalibrate, self.reference):  # asked or not, the copies go on with the model
                    self._out_of_sample(method, protocol.predict_proba)
        self.seconds = {"fit": time.perf_counter() - started, "predict": 0.0, "select": 0.0}

    def predict_proba(self, items: Any) -> NDArray[np.float64]:
        """Give (rows, classes) recalibrated probabilities; `session.model.predict_proba` gives the raw ones."""
        self.fit()
        return self.recalibrated(protocol.predict_proba(self.model, items, len(self.classes)))

    def recalibrated(self, probs: Floats) -> NDArray[np.float64]:
        """Give raw predictions of this round's model as `predict_proba` would."""
        return apply_temperature(probs, self.temperature)

    @property
    def temperature(self) -> float:
        """What the model's log probabilities are divided by; above 1 it was over-confident."""
        if self._temperature is None:
            self._temperature = temperature_of(
                self._pairs(), strength=5.0 if self.recalibrate == "prequential" else 0.0
            )
        return self._temperature

    @property
    def calibration(self) -> Calibration:
        """The temperature, how much evidence it rests on, and the calibration error that this lets expect."""
        if self.evidence == 0 or not self._ready() or len(self.pool.open) == 0:
            return Calibration(self.temperature, self.evidence)
        expected = estimate_ece(self._pairs(), self.open_probs, self.temperature)
        return Calibration(self.temperature, self.evidence, *expected)

    @property
    def evidence(self) -> int:
        """How many pairs of prediction and label the temperature rests on."""
        return len(self._pairs()[1])

    @property
    def view(self) -> View:
        """What a strategy sees in this round."""
        self.fit()
        if self._view is None:
            candidates, labelled, answers = self.pool.open, self.pool.labelled, self._answers
            self._view = View(
                candidates,
                self._rng(),
                probs=lambda: answers.scoring_probs(candidates),
                reference=self._reference,
                embeddings=lambda: answers.embeddings(candidates),
                reference_embeddings=lambda: answers.embeddings(labelled),
                sampled_probs=lambda samples: answers.sampled_probs(candidates, samples),
                probs_of=lambda indices: answers.scoring_probs(indices, whole=False),
                sampled_probs_of=answers.sampled_probs,
            )
        return self._view

    @property
    def open_probs(self) -> Floats:
        """(open items, classes): the model's raw predictions of the open items, in the order of `pool.open`."""
        view = self.view
        return self._answers.probs(view.candidates) if hasattr(self.model, "scoring_proba") else view.probs

    def save(self, path: Any) -> None:
        """Write everything but the items to a file, all of it or nothing."""
        storage.write_pickle(path, {"kind": "cusal.Session", "state": self.__getstate__()})

    @classmethod
    def load(cls, path: Any, items: Any) -> "Session":
        """Give back a saved session over the same items, to go on as if it had not stopped.

        The file holds the model as a pickle: load only files that you trust.
        """
        return cls.resume(storage.read_pickle(path, kind="cusal.Session")["state"], items)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the items and what can be computed again from them."""
        state = {name: value for name, value in vars(self).items() if name not in ("items", *_COMPUTED)}
        return state | {"fitted": self._predictions is not None}

    @classmethod
    def resume(cls, state: dict[str, Any], items: Any) -> "Session":
        """Give the session of a state that `__getstate__` gave, over the same items."""
        session = cls.__new__(cls)
        fitted = state["fitted"]
        vars(session).update({name: value for name, value in state.items() if name != "fitted"})
        vars(session).update(dict.fromkeys(_COMPUTED), items=items)
        if len(items) != len(session.pool):
            raise InvalidInput(
                f"the session was saved over {len(session.pool)} items, but {len(items)} are given; give the same."
            )
        if fitted:
            session._predictions = Predictions(session.model, items, len(session.classes))
        return session

    @property
    def _answers(self) -> Predictions:
        if self._predictions is None:
            raise NotReady("the model is not fitted to the latest labels; call fit() first.")
        return self._predictions

    def _predicted(self, indices: Indices) -> Floats:
        """The model's raw predictions of some open items, without predicting all where that was not needed."""
        scoring = hasattr(self.model, "scoring_proba")
        return self._answers.probs(indices, whole=False) if scoring else self.view.probs_of(indices)

    def _rng(self) -> np.random.Generator:
        """The round's generator, after the model's seed was drawn from it."""
        rng = np.random.default_rng([self.seed, max(self.round, 0)])
        _model_seed(rng)
        return rng

    def _labelled(self) -> tuple[Any, Indices]:
        labelled = self.pool.labelled
        return take(self.items, labelled), self._classes.numbers(self._labels[i] for i in labelled.tolist())

    def _ready(self) -> bool:
        return len(set(self._labels.values())) >= 2

    def _missing(self) -> str:
        if not self._labels:
            return "no item has a label; ask() for a first batch and tell() its labels."
        (only,) = set(self._labels.values())
        return (
            f"all {len(self._labels)} labels are {only!r}, and a classifier needs two classes; tell a label of another "
            'class. ask(10, strategy="random") gives more items without the model.'
        )

    def _reference(self) -> tuple[Floats, Indices]:
        labelled = self.pool.labelled
        if self.reference == "fitted":
            return self._answers.scoring_probs(labelled), self._labelled()[1]
        return self._out_of_sample(self.reference, protocol.scoring_proba)

    def _out_of_sample(self, method: Method, predict: Predict) -> tuple[Floats, Indices]:
        X, y = self._labelled()
        points = Points(X, y, self.pool.labelled, unlabelled=Subset(self.items, self.pool.open))
        return self._unseen.predict(
            method,
            self._unfitted,
            points,
            fits=self.round + 1,
            classes=len(self.classes),
            rng=np.random.default_rng([self.seed, self.round, 1]),
            predict=predict,
        )

    def _pairs(self) -> tuple[Floats, Indices]:
        """Predictions and labels that the temperature rests on."""
        if self._evidence_pairs is None:
            if self.recalibrate is None:
                self._evidence_pairs = np.empty((0, len(self.classes))), np.empty(0, dtype=np.int64)
            elif self.recalibrate == "prequential":
                numbers = dict(zip(self._labels, self._classes.numbers(self._labels.values()).tolist(), strict=True))
                self._evidence_pairs = self._evidence.pairs(numbers, len(self.classes))
            else:
                self.fit()
                self._evidence_pairs = self._out_of_sample(self.recalibrate, protocol.predict_proba)
        return self._evidence_pairs

    def _forget_round(self) -> None:
        self._view = self._predictions = self._evidence_pairs = self._temperature = None


_COMPUTED = ("_view", "_predictions", "_evidence_pairs", "_temperature")  # from the rest, when needed


def _strategy(strategy: str | Strategy) -> Strategy:
    return strategy if isinstance(strategy, Strategy) else strategies.find(strategy)()


def _model_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))


def _no_model() -> Any:
    raise NotReady("this strategy looked at the model before two classes were labelled.")
