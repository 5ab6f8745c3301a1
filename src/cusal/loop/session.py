"""Ask and tell: which items to label next, and the labels as they come.

    session.ask(10)  ->  query.indices  ->  somebody labels them  ->  session.tell(indices, labels)  ->  ask again

A person, a simulated oracle, the benchmark and the web app all use these two calls.
"""

import copy
import os
import time
import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal import strategies
from cusal._checks import as_batch_size, as_count, as_indices
from cusal._item_hash import fingerprint
from cusal._items import Subset, as_items, count_items, take
from cusal._types import Floats, Indices
from cusal.errors import CusalWarning, InvalidInput, NotReady, UnknownName
from cusal.loop import saved_session
from cusal.loop.answers import ModelAnswers, Pairs
from cusal.loop.arguments import as_model, as_pairs
from cusal.loop.classes import Classes, plain
from cusal.loop.cold_start import spread_out
from cusal.loop.pool import LABELLED, OPEN, SKIPPED, Pool
from cusal.loop.predictions import Predictions
from cusal.loop.scores import Scores, score_predictions
from cusal.recalibration.evidence import Calibration, Evidence
from cusal.recalibration.out_of_sample import LabelledPoints, Method, OutOfSample, Predict
from cusal.recalibration.recalibration import Recalibration
from cusal.strategies._array_answers import ArrayAnswers
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

Recalibrate = Literal["prequential", "cross-fit", "held-out"]
Reference = Literal["fitted", "cross-fit", "held-out"]
PRIOR = {"prequential": 5.0, "cross-fit": 0.0, "held-out": 0.0}  # strength of the prior around a temperature of 1


class Session:
    """Active learning of one model on one data set: ask for items, tell their labels, ask again.

    Use it when labels come in batches, from a person or an oracle. It fits the model, chooses what to ask next, keeps
    every label, and returns honest probabilities. If you have a loop of your own, `cusal.query` chooses items from
    probabilities alone.

    Parameters
    ----------
    items : array, tensor, list, data frame, sparse matrix or data set
        The whole data set, (n, ...). Indices are always positions in it. A torch or Hugging Face data set that takes
        one integer at a time is fine.
    model : object with fit(X, y) and predict_proba(X)
        A scikit-learn classifier as it is, or a torch module in `cusal.models.TorchClassifier`. The session works on a
        copy, `session.model`, which is fitted to class numbers.
    strategy : str or Strategy, default "cusal"
        A name of `cusal.strategies.names()`, or an object: `cusal.strategies.Cusal(bandwidth=0.01)`.
    labelled : dict, pandas Series or (indices, labels), optional
        Labels that are known from the start, by position.
    classes : sequence, optional
        All classes, if some may not have been met yet. Also sets the order of columns, which is sorted otherwise.
    seed : int, default 0
        From which every random choice follows.
    recalibrate : {"prequential", "cross-fit", "held-out"} or None
        How `predict_proba` is made honest. It never changes what is acquired or fitted. "cross-fit" fits five more
        copies of the model in every round, "held-out" one.
    reference : {"fitted", "cross-fit", "held-out"}
        The labelled items' predictions that serve as evidence; "fitted" is the paper's.

    Attributes
    ----------
    classes_ : (classes,) array
        The classes in the order of the columns of `predict_proba`.
    labels : dict
        Every label as it was told, by position.
    pool : Pool
        Which items are open, labelled and skipped.
    model : object
        The fitted copy of the model; its classes are numbers.
    round : int
        How often the model was fitted, less one.

    Raises
    ------
    CusalError
        For input that does not fit; the message says what was met, what was expected and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> items = np.linspace(-1, 1, 100)[:, None]
    >>> session = Session(items, LogisticRegression(), labelled={0: "low", 99: "high"})
    >>> query = session.ask(2)
    >>> session.tell(query.indices, ["low", "high"])
    >>> session
    Session(100 items: 4 labelled, 96 open; 2 classes; strategy cusal; round 0)
    >>> session.predict(items[:1]), session.predict_proba(items[:1]).shape
    (array(['low'], dtype='<U4'), (1, 2))
    """

    _view: View | None  # these three are computed from the rest, when needed, and forgotten with the round
    _predictions: Predictions | None
    _recalibration: Recalibration | None

    def __init__(
        self,
        items: Any,
        model: protocol.Model,
        strategy: str | Strategy = "cusal",
        *,
        labelled: Mapping[int, Hashable] | tuple[Any, Any] | Any | None = None,
        classes: Iterable[Hashable] | None = None,
        seed: int = 0,
        recalibrate: Recalibrate | None = "prequential",
        reference: Reference = "fitted",
    ) -> None:
        if recalibrate is not None and recalibrate not in get_args(Recalibrate):
            raise UnknownName("recalibration", recalibrate, get_args(Recalibrate))
        if reference not in get_args(Reference):
            raise UnknownName("reference", reference, get_args(Reference))
        self.items = as_items(items)
        self.model = copy.deepcopy(as_model(model))
        self._unfitted = copy.deepcopy(model)  # of which `_unseen` has copies fitted without some of the labels
        self._unseen = OutOfSample()
        self.strategy = strategies.make(strategy)
        self.seed = as_count(seed, "seed", least=0)
        self.recalibrate = recalibrate
        self.reference = reference
        self.round = -1  # of the last fit; the first is round 0
        self.pool = Pool(count_items(self.items))
        self.seconds = {"fit": 0.0, "predict": 0.0, "select": 0.0}  # of the current round
        self._classes = Classes(classes if classes is not None else getattr(model, "classes_", None))
        self._labels: dict[int, Hashable] = {}
        self._evidence = Evidence()
        self._seeded = protocol.unseeded(model)
        self._forget_round()
        if labelled is not None:
            self.tell(*as_pairs(labelled))

    def __repr__(self) -> str:
        strategy = self.strategy.name
        return f"Session({self.pool.describe()}; {len(self._classes)} classes; strategy {strategy}; round {self.round})"

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in the order of the columns of `predict_proba`: sorted, or as `classes` gave them."""
        return self._classes.array

    @property
    def class_columns(self) -> Indices:
        """(classes,) the class number of each of `classes_`: its column in the predictions of `model` and `view`."""
        return self._classes.columns

    @property
    def labels(self) -> dict[int, Hashable]:
        """Every label as it was told, by the position of its item, as plain Python values."""
        return dict(self._labels)

    def ask(self, batch_size: int = 10, *, strategy: str | Strategy | None = None) -> Query:
        """Return the items to label next.

        With no labels, or labels of one class only, it returns a spread-out batch that needs no model. Asking again
        before anything was told returns the same items.

        Parameters
        ----------
        batch_size : int, default 10
        strategy : str or Strategy, optional
            Replaces the session's for this one call.

        Returns
        -------
        Query
            `indices` (positions in the items, best first), `probs`, `confidence`, `error` and `decided_by`.

        Raises
        ------
        PoolExhausted
            If fewer items are open.
        """
        chosen = self.strategy if strategy is None else strategies.make(strategy)
        count = as_batch_size(batch_size, len(self.pool.open))
        if not self._ready():
            return self._ask_without_model(chosen, count)
        self.fit()
        started, predicting = time.perf_counter(), self._fitted.seconds
        self.view.rng = self._rng()
        query = chosen.query(self.view, count)
        self._evidence.remember(query.indices, self._predicted(query.indices))
        self.seconds["select"] = time.perf_counter() - started - (self._fitted.seconds - predicting)
        self.seconds["predict"] = self._fitted.seconds
        return query if query.probs is None else replace(query, probs=self._as_seen(query.probs))

    def tell(self, indices: Any, labels: Any) -> None:
        """Store the labels of items, asked for or not; a label told again replaces the earlier one.

        Parameters
        ----------
        indices : int or (k,) integers
        labels : a label, or (k,) labels of any hashable kind
        """
        places = as_indices(indices, len(self.pool))
        if isinstance(labels, str) or not hasattr(labels, "__len__"):
            labels = [labels]
        names = plain(labels)
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
        """Fit the model to all labels; do nothing if nothing was told since the last time.

        Raises
        ------
        NotReady
            If there are no labels of two classes yet.
        """
        if self._predictions is not None:
            return
        if not self._ready():
            raise NotReady(self._missing())
        started = time.perf_counter()
        self._refit(self.round + 1)
        if getattr(self._unfitted, "warm_start", False):
            for method in get_args(Method):
                if method in (self.recalibrate, self.reference):  # asked or not, the copies continue with the model
                    self._out_of_sample(method, protocol.predict_proba)
        self.seconds = {"fit": time.perf_counter() - started, "predict": 0.0, "select": 0.0}

    def predict_proba(self, items: Any) -> NDArray[np.float64]:
        """Return recalibrated probabilities (rows, classes), columns as `classes_`.

        `session.model.predict_proba` returns the raw ones, columns by class number.
        """
        return self._as_seen(self.recalibration.apply(self._predict_raw(items)))

    def predict(self, items: Any) -> NDArray[Any]:
        """Return the most probable label of each item, (rows,), of the kind that was told."""
        return np.asarray(self.classes_[self.predict_proba(items).argmax(axis=1)])

    def evaluate(self, items: Any, labels: Any) -> Scores:
        """Return accuracy, ECE, NLL and Brier score on labelled items, raw and recalibrated.

        Parameters
        ----------
        items : as the session's items
        labels : (rows,) labels of the kind that was told; classes that nobody labelled yet count too

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.linspace(-1, 1, 40)[:, None]
        >>> session = Session(X, LogisticRegression(), labelled={0: "low", 39: "high"})
        >>> session.evaluate(X, np.where(X[:, 0] < 0, "low", "high")).raw["accuracy"]
        1.0
        """
        raw = self._predict_raw(items)
        names = plain(labels)
        if len(names) != len(raw):
            raise InvalidInput(f"{len(names)} labels were given for {len(raw)} items; give one label for each.")
        return score_predictions(
            self._as_seen(raw), self._as_seen(self.recalibration.apply(raw)), names, self._classes.names
        )

    @property
    def recalibration(self) -> Recalibration:
        """What turns this round's raw predictions, columns by class number, into honest ones."""
        if self._recalibration is None:
            if self.recalibrate is None:
                self._recalibration = Recalibration.none(len(self._classes))
            else:
                self._recalibration = Recalibration(*self._pairs(self.recalibrate), PRIOR[self.recalibrate])
        return self._recalibration

    @property
    def calibration(self) -> Calibration:
        """The temperature, how much evidence it rests on, and the calibration error to expect on the open items."""
        known = self._ready() and len(self.pool.open) > 0 and self.recalibration.evidence > 0
        return self.recalibration.describe(self.open_probs if known else None)

    @property
    def view(self) -> View:
        """What a strategy sees in this round; columns are class numbers, in the order in which classes were met."""
        self.fit()
        if self._view is None:
            answers = ModelAnswers(self._fitted, self.pool.labelled, self._reference)
            self._view = View(self.pool.open, self._rng(), answers)
        return self._view

    @property
    def open_probs(self) -> Floats:
        """(open items, classes): the model's raw predictions of the open items, columns by class number."""
        view = self.view
        return self._fitted.probs(view.candidates) if hasattr(self.model, "scoring_proba") else view.probs

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the items to a file, all of it or nothing. See `cusal.loop.saved_session`."""
        saved_session.write(path, self.checkpoint(), fingerprint(self.items))

    @classmethod
    def load(cls, path: str | os.PathLike[str], items: Any, *, trusted: bool = False) -> Self:
        """Return a saved session over the same items, to continue as if it had not stopped.

        Parameters
        ----------
        path : path of a file that `save` wrote
        items : the items that the session was saved over; others are refused
        trusted : bool, default False
            Whether code of the file may run. It is needed where the model or the strategy is of a class that is
            neither cusal's nor scikit-learn's nor torch's, and for files that cusal 0.1 wrote as pickles. Set it only
            for files that you trust.
        """
        state, print_of_items = saved_session.read(path, trusted=trusted)
        session = cls.resume(state, items)
        if print_of_items is not None and print_of_items != fingerprint(session.items):
            raise InvalidInput(
                f"{path} was saved over other items: their number is the same, but not what they hold; give the same, "
                "in the same order."
            )
        return session

    def checkpoint(self) -> dict[str, Any]:
        """Return everything but the items and what can be computed again from them."""
        state = {name: value for name, value in vars(self).items() if name not in ("items", *_COMPUTED)}
        return state | {"fitted": self._predictions is not None}

    @classmethod
    def resume(cls, checkpoint: Mapping[str, Any], items: Any) -> Self:
        """Return the session of a `checkpoint`, over the same items."""
        session = cls.__new__(cls)
        session.__setstate__({**checkpoint, "items": as_items(items)})
        if count_items(session.items) != len(session.pool):
            raise InvalidInput(
                f"the session was saved over {len(session.pool)} items, but {count_items(session.items)} are given; "
                "give the same."
            )
        return session

    def __getstate__(self) -> dict[str, Any]:
        return self.checkpoint() | {"items": self.items}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update({name: value for name, value in state.items() if name not in ("fitted", "refit")})
        self._forget_round()
        if state.get("refit", False):  # a saved model is made again from the same labels and the same seed
            self._refit(self.round)
        elif state["fitted"]:
            self._predictions = Predictions(self.model, self.items, len(self._classes))

    def __copy__(self) -> Self:
        """Return a session of its own over the same items."""
        return self.resume(copy.deepcopy(self.checkpoint()), self.items)

    @property
    def _fitted(self) -> Predictions:
        if self._predictions is None:
            raise NotReady("the model is not fitted to the latest labels; call fit() first.")
        return self._predictions

    def _ask_without_model(self, chosen: Strategy, count: int) -> Query:
        candidates = self.pool.open
        if self._labels and not chosen.needs_model:
            nothing = ArrayAnswers(candidates, probs=np.empty((len(candidates), 0)))
            return Query(chosen.select(View(candidates, self._rng(), nothing), count), strategy=chosen.name)
        rng = self._rng()
        if self._labels:
            warnings.warn(
                f"session.ask: {self._missing()} Until then items are chosen by the cold start, without the model.",
                CusalWarning,
                stacklevel=3,
            )
            rng = np.random.default_rng([self.seed, 0, len(self._labels)])
        return Query(spread_out(self.items, candidates, count, rng), strategy="cold_start")

    def _as_seen(self, probs: Floats) -> NDArray[np.float64]:
        """Return predictions with columns in the order that users see."""
        return np.asarray(probs[:, self.class_columns])

    def _predict_raw(self, items: Any) -> Floats:
        self.fit()
        items = as_items(items)
        return Predictions(self.model, items, len(self._classes)).probs(np.arange(count_items(items)))

    def _predicted(self, indices: Indices) -> Floats:
        """Return the model's raw predictions of some open items, without predicting all where that was not needed."""
        whole = hasattr(self.model, "scoring_proba")
        return self._fitted.probs(indices, whole=False) if whole else self.view.probs_of(indices)

    def _refit(self, number: int) -> None:
        """Fit the model to all labels as round `number` does."""
        self.model = protocol.fitted_copy(
            self.model,
            self._labelled(),
            unlabelled=Subset(self.items, self.pool.open),
            seed=_model_seed(np.random.default_rng([self.seed, number])),
            seeded=self._seeded,
        )
        self.round = number
        self._predictions = Predictions(self.model, self.items, len(self._classes))

    def _rng(self) -> np.random.Generator:
        """Return the round's generator, after the model's seed was drawn from it."""
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
        return f"all {len(self._labels)} labels are {only!r}, and a classifier needs two classes; tell one of another."

    def _reference(self) -> Pairs:
        if self.reference == "fitted":
            return self._fitted.scoring_probs(self.pool.labelled), self._labelled()[1]
        return self._out_of_sample(self.reference, protocol.scoring_proba)

    def _out_of_sample(self, method: Method, predict: Predict) -> Pairs:
        X, y = self._labelled()
        points = LabelledPoints(X, y, self.pool.labelled, unlabelled=Subset(self.items, self.pool.open))
        return self._unseen.predict(
            method,
            self._unfitted,
            points,
            fits=self.round + 1,
            classes=len(self._classes),
            rng=np.random.default_rng([self.seed, self.round, 1]),
            predict=predict,
        )

    def _pairs(self, method: Recalibrate) -> Pairs:
        """Return the predictions and labels that the temperature rests on."""
        if method == "prequential":
            numbers = dict(zip(self._labels, self._classes.numbers(self._labels.values()).tolist(), strict=True))
            return self._evidence.pairs(numbers, len(self._classes))
        self.fit()
        return self._out_of_sample(method, protocol.predict_proba)

    def _forget_round(self) -> None:
        self._view = self._predictions = self._recalibration = None


_COMPUTED = ("_view", "_predictions", "_recalibration")


def _model_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
