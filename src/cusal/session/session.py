"""Ask and tell: which items to label next, and their labels as they arrive.

    session.ask(10)  ->  query.indices  ->  somebody labels them  ->  session.tell(indices, labels)  ->  ask again

A person, a simulated oracle, the benchmark and the web app all use these two calls.
"""

import copy
import importlib
import os
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal import strategies
from cusal._arguments import is_hashable
from cusal._checks import as_batch_size, as_count, as_indices
from cusal._item_hash import fingerprint
from cusal._items import as_items, count_items, take
from cusal._types import Floats, Indices
from cusal.errors import CusalWarning, InvalidInput, PoolExhausted, UnknownName
from cusal.recalibration.methods import RECALIBRATIONS, REFIT_LIMIT, Recalibrate
from cusal.recalibration.pool_estimates import AccuracyEstimate, CalibrationEstimate
from cusal.session.checkpoint import Checkpoint
from cusal.session.classifiers import as_model, check_items, default_model, own_folds
from cusal.session.cold_start import typical_items
from cusal.session.fitted_round import FittedRound, ModelFits
from cusal.session.label_issues import DOUBTFUL, LabelIssues, chances_of_error
from cusal.session.labels import Labels, Pool, as_pairs, by_index
from cusal.session.past_picks import PastPicks, as_audit_share, draw_audit, with_audit
from cusal.session.recalibrator import AnyRecalibration, Recalibrator
from cusal.session.scores import Scores, labels_to_score, score_predictions
from cusal.session.stopping import Course, Stopping
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import ArrayAnswers, View

if TYPE_CHECKING:
    from cusal.deploy import ItemClassifier

Reference = Literal["fitted", "cross-fit", "held-out"]
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(frozen=True)
class OutOfSamplePredictions:
    """Labelled items, predicted by models that were not fitted to their labels.

    Attributes
    ----------
    indices : (n,) int64 array
        Positions of the items.
    probs : (n, classes) array
        Recalibrated probabilities, columns as `session.classes_`.
    labels : (n,) int64 array
        The columns of their labels.
    drawn : (n,) bool array
        Whether each item was drawn at random.
    """

    indices: Indices
    probs: NDArray[np.float64]
    labels: Indices
    drawn: NDArray[np.bool_]


def _alone(
    method: Callable[Concatenate["Session", Arguments], Result],
) -> Callable[Concatenate["Session", Arguments], Result]:
    """Return a method of a session that waits until other threads have left it."""

    @wraps(method)
    def waiting(session: "Session", /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with session._lock:
            return method(session, *arguments, **named)

    return waiting


class Session:
    """Active learning of one model on one data set: ask for items, tell their labels, ask again.

    Use it when labels come in batches, from a person or an oracle. It fits the model, chooses what to ask next, keeps
    every label, and returns honest probabilities. If you have a loop of your own, `cusal.query` chooses items from
    probabilities alone. Threads may share a session: each call waits for the one before.

    Parameters
    ----------
    items : array, tensor, list, data frame, sparse matrix or data set
        The whole data set, (n, ...). Indices are always positions in it. A torch or Hugging Face data set that takes
        one integer at a time is fine.
    model : object with fit(X, y) and predict_proba(X), optional
        By default `cusal.models.FewLabelClassifier`, made for few labels, of texts and data frames on their features.
        A scikit-learn classifier as it is, or a torch module in `cusal.models.TorchClassifier`. The session works on a
        copy, `session.model`, which is fitted to class numbers.
    strategy : str or Strategy, default "diverse_margin"
        A name of `cusal.strategies.names()`, or an object: `cusal.strategies.Cusal(bandwidth=0.01)`.
    labelled : dict, pandas Series or (indices, labels), optional
        Labels that are known from the start, by position.
    classes : sequence, optional
        All classes, if some may not have been met yet. Also sets the order of columns, which is sorted otherwise.
    seed : int, default 0
        Seed of every random choice.
    recalibrate : {"auto", "vector", "prequential", "cross-fit", "held-out"} or None, default "auto"
        How `predict_proba` is recalibrated. It never changes what is asked for or fitted. "auto" goes by the model's
        class and by the numbers of labels, columns and classes, see `cusal.recalibration.choose_method`: out-of-fold
        predictions of five copies of a light model, past picks of a network. "cross-fit" and "vector" always fit five
        copies in a round, "held-out" one, "prequential" none. "vector" may change which class is the most probable.
        "auto" and "vector" leave the model as it is where the evidence shows no gain.
    reference : {"fitted", "cross-fit", "held-out"}
        The labelled items' predictions that serve as evidence; "fitted" is the paper's.
    audit : float, default 0
        The share of each batch, at least one item, that is drawn at random, so that `estimate_accuracy` is sharper.

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
        How often the model was fitted, minus one.
    refit_limit : float
        The work above which "auto" fits no copies of the model, `cusal.recalibration.REFIT_LIMIT` at first. Set it
        higher where nobody waits for a round, or to 0.

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
    Session(100 items: 4 labelled, 96 open; 2 classes; strategy diverse_margin; round 0)
    >>> session.predict(items[:1]), session.predict_proba(items[:1]).shape
    (array(['low'], dtype='<U4'), (1, 2))
    """

    def __init__(
        self,
        items: Any,
        model: protocol.Model | None = None,
        strategy: str | Strategy = "diverse_margin",
        *,
        labelled: Mapping[int, Hashable] | tuple[Any, Any] | Any | None = None,
        classes: Iterable[Hashable] | None = None,
        seed: int = 0,
        recalibrate: Recalibrate | None = "auto",
        reference: Reference = "fitted",
        audit: float = 0.0,
    ) -> None:
        _check_name("recalibration", recalibrate, (None, *RECALIBRATIONS))
        _check_name("reference", reference, get_args(Reference))
        self.items = as_items(items)
        model = default_model() if model is None else as_model(model)
        check_items(self.items, model)
        self.strategy = strategies.make(strategy)
        self.recalibrate, self.reference, self.audit = recalibrate, reference, as_audit_share(audit)
        known = classes if classes is not None else getattr(model, "classes_", None)
        self._refit_limit = REFIT_LIMIT
        self._fits = ModelFits(self.items, model, as_count(seed, "seed", least=0))
        self._labels = Labels(count_items(self.items), known)
        self._labels.folds = own_folds(model)
        self._picks, self._course = PastPicks(), Course()
        self._round: FittedRound | None = None  # None if the model is not fitted to the latest labels
        self._refits = False  # whether a saved model is still to be fitted again, to the same labels
        self._lock = threading.RLock()
        if labelled is not None:
            self.tell(*as_pairs(labelled, self.items))

    def __repr__(self) -> str:
        state = f"{self.pool.describe()}; {len(self._labels.classes)} classes"
        return f"Session({state}; strategy {self.strategy.name}; round {self.round})"

    # What is known.

    @property
    def model(self) -> Any:
        """The copy of the model that is fitted; its classes are numbers, in the order in which they were met."""
        if self._refits:
            self.fit()
        return self._fits.model

    @property
    def pool(self) -> Pool:
        """Which items are open, labelled and skipped."""
        return self._labels.pool

    @property
    def labels(self) -> dict[int, Hashable]:
        """Every label as it was told, by the position of its item, as plain Python values."""
        return dict(self._labels.by_item)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in the order of the columns of `predict_proba`: sorted, or as `classes` gave them."""
        return self._labels.classes.array

    @property
    def class_columns(self) -> Indices:
        """(classes,) the class number of each of `classes_`: its column in the predictions of `model` and `view`."""
        return self._labels.classes.columns

    @property
    def seed(self) -> int:
        """Seed of every random choice."""
        return self._fits.seed

    @property
    def round(self) -> int:
        """Number of the last fit: 0 for the first, -1 before it."""
        return self._fits.round

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds that fitting, predicting and selecting took in this round."""
        return self._fits.seconds

    @property
    def refit_limit(self) -> float:
        """The work above which "auto" fits no copies of the model: labels times columns times classes."""
        return self._refit_limit

    @refit_limit.setter
    def refit_limit(self, limit: float) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
            raise InvalidInput(f"refit_limit is {limit!r}; expected a number of 0 or more.")
        self._refit_limit = float(limit)
        self._forget_recalibration()

    # Ask and tell.

    @_alone
    def ask(self, batch_size: int = 10, *, strategy: str | Strategy | None = None) -> Query:
        """Return the items to label next.

        With no labels, or labels of one class only, it returns typical items that differ from each other, which needs
        no model. Asking again before anything was told returns the same items.

        Parameters
        ----------
        batch_size : int, default 10
            Number of items to ask for.
        strategy : str or Strategy, optional
            Used in place of the session's for this call.

        Returns
        -------
        Query
            `indices` (positions in the items, best first), `probs`, `confidence`, `error`, `decided_by`, `audit`.

        Raises
        ------
        PoolExhausted
            If fewer items are open.
        """
        chosen = self.strategy if strategy is None else strategies.make(strategy)
        count = as_batch_size(batch_size, len(self.pool.open))
        if not self._labels.ready:
            return self._ask_without_model(chosen, count)
        fitted, view = self._fitted(), self.view
        started, predicting = time.perf_counter(), fitted.predictions.seconds
        view.rng = self._fits.rng()
        query = chosen.query(view, count)
        if self.audit:
            rng = np.random.default_rng([self.seed, self.round, 2])
            query = with_audit(query, draw_audit(self.pool.open, count, self.audit, rng), view.probs_of)
        self._picks.remember_query(query, self.round, fitted.probs_of(query.indices, self.reference))
        if "probs" in vars(view):  # never predict the pool for the sake of it
            self._course.record(len(self._labels.by_item), len(self.pool), view.candidates, view.probs)
        predicted = fitted.predictions.seconds
        self.seconds["select"] = time.perf_counter() - started - (predicted - predicting)
        self.seconds["predict"] = predicted
        return query if query.probs is None else replace(query, probs=self._as_seen(query.probs))

    @_alone
    def tell(self, indices: Any, labels: Any) -> None:
        """Store the labels of items, asked for or not; a new label replaces an earlier one.

        Parameters
        ----------
        indices : int, (k,) integers or Query
            Positions of the items.
        labels : label or (k,) labels
            Their labels, of any hashable type. The index of a pandas Series is compared with that of a data frame.
        """
        self._labels.tell(indices, labels, self.items)
        self._round, self._refits = None, False

    @_alone
    def skip(self, indices: Any) -> None:
        """Set items aside: they are not asked for until they are reopened."""
        self._picks.forget(self._labels.skip(indices))

    @_alone
    def reopen(self, indices: Any) -> None:
        """Undo labels and skips: the items can be asked for again."""
        self._picks.forget(self._labels.reopen(indices))
        self._round, self._refits = None, False

    @_alone
    def mark_random(self, indices: Any) -> None:
        """Note that items were drawn uniformly at random by the caller, before or after their labels come.

        Estimates for the open items rest on such labels: they count five times as much as picks.

        Parameters
        ----------
        indices : int or (k,) integers
            Positions of the items.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.linspace(-1, 1, 40)[:, None]
        >>> session = Session(X, LogisticRegression())
        >>> drawn = np.random.default_rng(0).permutation(40)[:10]
        >>> session.tell(drawn, X[drawn, 0] > 0)
        >>> session.mark_random(drawn)
        >>> session.estimate_accuracy().drawn
        10
        """
        places = as_indices(indices, len(self.pool))
        self._picks.remember(places, np.ones(len(places), dtype=np.bool_), self.round)
        self._forget_recalibration()

    # Predictions.

    @_alone
    def fit(self) -> None:
        """Fit the model to all labels; do nothing if there are no new ones.

        Raises
        ------
        NotReady
            If there are no labels of two classes yet.
        """
        self._fitted()

    @_alone
    def predict_proba(self, items: Any = None, *, raw: bool = False) -> NDArray[np.float64]:
        """Return recalibrated probabilities (rows, classes), columns as `classes_`.

        Parameters
        ----------
        items : as the session's items, optional
            By default all items of the session.
        raw : bool, default False
            Return the model's own probabilities instead. `session.model.predict_proba` has their columns by class
            number, without classes that the model has not met.
        """
        probs = self._raw(items)
        return self._as_seen(probs if raw else self.recalibration.apply(probs))

    @_alone
    def predict(self, items: Any = None) -> NDArray[Any]:
        """Return the most probable label of each item, (rows,), of the kind that was told.

        Parameters
        ----------
        items : as the session's items, optional
            By default all items of the session.
        """
        return np.asarray(self.classes_[self.predict_proba(items).argmax(axis=1)])

    @_alone
    def embeddings(self, indices: Any) -> Floats:
        """Return the vectors of items that strategies see: the model's, or what stands for them, (k, features).

        Parameters
        ----------
        indices : int or (k,) integers
            Positions of the items.

        Raises
        ------
        MissingMethod
            If the model has no method `embed` and the items are no numbers.
        """
        return self._fitted().predictions.embeddings(as_indices(indices, len(self.pool)))

    @_alone
    def evaluate(self, items: Any, labels: Any) -> Scores:
        """Return metrics of predictions on labelled items, raw and recalibrated.

        They are accuracy, ECE, NLL, Brier score, macro F1 and balanced accuracy.

        Parameters
        ----------
        items : as the session's items
        labels : (rows,) labels, of the kind that was told; they may be of classes without a label so far

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.linspace(-1, 1, 40)[:, None]
        >>> session = Session(X, LogisticRegression(), labelled={0: "low", 39: "high"})
        >>> session.evaluate(X, np.where(X[:, 0] < 0, "low", "high")).raw["accuracy"]
        1.0
        """
        raw = self._raw(items)
        names = labels_to_score(by_index(labels, items), len(raw), self._labels.classes.names)
        recalibrated = self._as_seen(self.recalibration.apply(raw))
        return score_predictions(self._as_seen(raw), recalibrated, names, self._labels.classes.names)

    @_alone
    def out_of_sample(self) -> OutOfSamplePredictions:
        """Return what models that had not seen the labels predict of the labelled items.

        These are out-of-fold predictions of all labelled items, or, where further fits are dear, what was predicted of
        past picks before their labels were known.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.linspace(-1, 1, 40)[:, None]
        >>> session = Session(X, LogisticRegression(), labelled=(np.arange(40), X[:, 0] > 0))
        >>> found = session.out_of_sample()
        >>> bool((found.probs.argmax(axis=1) == found.labels).mean() > 0.9)
        True
        """
        found, recalibration = self._recalibrator.evidence(), self.recalibration
        place = np.empty(len(self.class_columns), dtype=np.int64)
        place[self.class_columns] = np.arange(len(place))  # the column of each class number
        probs = self._as_seen(recalibration.apply(found.probs)) if len(found.labels) else found.probs
        return OutOfSamplePredictions(found.indices, np.asarray(probs), place[found.labels], found.drawn)

    @_alone
    def label_issues(self) -> LabelIssues:
        """Return the labels that look wrong to models that had not seen them, the most doubtful first.

        It lists labels that are more likely wrong than right, with the share of true errors to expect among them.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.linspace(-1, 1, 60)[:, None]
        >>> labels = X[:, 0] > 0
        >>> labels[5] = True
        >>> session = Session(X, LogisticRegression(C=100), labelled=(np.arange(60), labels))
        >>> session.label_issues().indices
        array([5])
        """
        found, names = self.out_of_sample(), self._labels.classes.names
        chances, rate = chances_of_error(found.probs, found.labels)
        guesses = found.probs.argmax(axis=1) if len(found.labels) else found.labels
        rows = np.flatnonzero((chances > DOUBTFUL) & (guesses != found.labels))
        rows = rows[np.argsort(-chances[rows], kind="stable")]
        told, suggested = ([names[column] for column in each[rows].tolist()] for each in (found.labels, guesses))
        return LabelIssues(found.indices[rows], told, suggested, chances[rows], rate)

    # How good they are.

    @property
    def recalibration(self) -> AnyRecalibration:
        """What turns this round's raw predictions, columns by class number, into recalibrated ones."""
        with self._lock:
            return self._recalibrator.recalibration

    @_alone
    def recalibration_by(self, method: Recalibrate) -> AnyRecalibration:
        """Return what `recalibration` would be with another setting of `recalibrate`.

        The session stays as it is, but for copies of its model: "cross-fit", "vector" and "held-out" fit them where the
        session has not done so itself.
        """
        _check_name("recalibration", method, RECALIBRATIONS)
        return Recalibrator(self._fitted(), self._picks, method, limit=self.refit_limit).recalibration

    @property
    def calibration(self) -> CalibrationEstimate:
        """The temperature, how much evidence it rests on, and the calibration error to expect on the open items."""
        with self._lock:
            if not self._labels.ready:
                return CalibrationEstimate(1.0, 0)
            if self.recalibration.evidence == 0 or len(self.pool.open) == 0:
                return CalibrationEstimate(self.recalibration.temperature, self.recalibration.evidence)
            return self._recalibrator.calibration(self.open_probs)

    @_alone
    def estimate_accuracy(self) -> AccuracyEstimate:
        """Return the accuracy to expect of `predict` on the open items, with a 90 % interval.

        It rests on the labels that are there. Set `audit`, or ask by "random", so that some of them are of items drawn
        at random: from picks alone it cannot see a group of items that the strategy never asks for.

        Raises
        ------
        NotReady
            If there are no labels of two classes yet.
        PoolExhausted
            If no item is open.
        """
        if len(self.pool.open) == 0:
            raise PoolExhausted("no item is open, nothing is left to estimate; `evaluate` scores labelled items.")
        return self._recalibrator.accuracy(self.open_probs)

    @_alone
    def stopping(self) -> Stopping:
        """Return whether more labels would still change the model, and what the next 50 are likely to gain.

        It compares the predictions of the open items with those of about 50 labels ago.
        """
        self.fit()
        probs = self.view.probs if len(self.pool.open) else np.empty((0, 1))
        now = len(self._labels.by_item), self.pool.open, probs
        self._course.record(now[0], len(self.pool), *now[1:])
        return self._course.judge(*now)

    @property
    def view(self) -> View:
        """What a strategy sees in this round; columns are class numbers, in the order in which classes were met."""
        with self._lock:
            return self._fitted().view(self.reference)

    @property
    def open_probs(self) -> Floats:
        """(open items, classes): the model's raw predictions of the open items, columns by class number."""
        with self._lock:
            return self._fitted().open_probs(self.reference)

    # Stop and continue.

    def classifier(self) -> "ItemClassifier":
        """Return the fitted model as a classifier of new items: recalibrated, with `classes_`, and without the pool.

        It is a classifier of scikit-learn's kind. Its `card` says what it was fitted to and how good it is.
        """
        deploy = importlib.import_module("cusal.deploy")
        found: ItemClassifier = deploy.classifier_of(self)
        return found

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `cusal.load_model` and `cusal predict` read, with its card.

        Parameters
        ----------
        path : path
            The file, "model.cusal" for instance.

        Raises
        ------
        NotReady
            If there are no labels of two classes yet.
        InvalidInput
            If the model cannot be written without a pickle, or needs the pool to predict.
        """
        importlib.import_module("cusal.deploy").export(self, path)

    @_alone
    def checkpoint(self) -> Checkpoint:
        """Return everything except the items and what can be computed from them."""
        names = ("strategy", "recalibrate", "reference", "audit", "seed", "refit_limit")
        labels, fits, picks, course = self._labels, self._fits, self._picks, self._course
        return Checkpoint(
            settings={name: getattr(self, name) for name in names},
            states=labels.pool.state.copy(),
            labels=dict(labels.by_item),
            classes=list(labels.classes.numbered),
            all_classes=labels.classes.fixed,
            model=fits.model,
            given=fits.given,
            seeded=list(fits.seeded),
            round=fits.round,
            seconds=dict(fits.seconds),
            fitted=self._round is not None or self._refits,
            refit=self._refits,
            predictions=dict(picks.predictions),
            rounds=dict(picks.rounds),
            at_random=dict(picks.at_random),
            folds=dict(fits.copies.fold),
            copies=dict(fits.copies.copies),
            course=(list(course.counts), list(course.classes), list(course.agreements)),
        )

    @classmethod
    def resume(cls, checkpoint: Checkpoint, items: Any) -> Self:
        """Return the session of a `checkpoint`, over the same items."""
        session = cls.__new__(cls)
        session.__setstate__({"checkpoint": checkpoint, "items": as_items(items)})
        return session

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the items to a file, all of it or nothing."""
        self.checkpoint().save(path, self.items)

    @classmethod
    def load(cls, path: str | os.PathLike[str], items: Any, *, trusted: bool = False) -> Self:
        """Return a saved session over the same items, to continue as if it had not stopped.

        Parameters
        ----------
        path : path of a file that `save` wrote
        items : the items that the session was saved over; others are refused
        trusted : bool, default False
            Whether code of the file may run. It is needed where the model or the strategy, or a setting of it, is not
            in the list of what a file may hold (`cusal.persistence.allowed`). Set it only for files that you trust.
        """
        checkpoint, known = Checkpoint.load(path, trusted=trusted)
        session = cls.resume(checkpoint, items)
        if known != fingerprint(session.items):
            raise InvalidInput(
                f"{path} was saved over other items: their number is the same, but not what they hold; give the same, "
                "in the same order."
            )
        return session

    def to_bytes(self) -> bytes:
        """Return everything but the items and the model as bytes, for a database; `from_bytes` reads them.

        A model of any class comes back this way; only one that starts warm begins from scratch.
        """
        return self.checkpoint().to_bytes(self.items)

    @classmethod
    def from_bytes(cls, content: bytes, items: Any, model: protocol.Model) -> Self:
        """Return the session of `to_bytes`, to continue as if it had not stopped.

        Parameters
        ----------
        content : bytes
            What `to_bytes` returned.
        items : as a session takes them
            The same items; over other vectors of them, or with more at the end, it continues as `continued` says.
        model : object with fit(X, y) and predict_proba(X)
            The model as it was given to the session. It is fitted to the same labels with the same seed.

        Raises
        ------
        DataError
            If the bytes are damaged or are no session.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.linspace(-1, 1, 40)[:, None]
        >>> session = Session(X, LogisticRegression(), labelled={0: "low", 39: "high"})
        >>> Session.from_bytes(session.to_bytes(), X, LogisticRegression()).labels
        {0: 'low', 39: 'high'}
        """
        packed, known = Checkpoint.from_bytes(content)
        items, model = as_items(items), copy.deepcopy(as_model(model))
        if len(packed.states) != count_items(items) or known != fingerprint(items):
            return cls.resume(replace(packed.with_model(model), refit=False).extended(count_items(items)), items)
        return cls.resume(replace(packed, model=model, given=model, seeded=protocol.unseeded(model)), items)

    @_alone
    def continued(self, items: Any, model: protocol.Model | None = None) -> Self:
        """Return a session that continues this one with more items, other vectors of them, or another model.

        Better vectors often come late: texts are TF-IDF rows at once and sentence vectors a minute later. What people
        said stays true on any vectors; what a model of the old ones predicted does not. Labels, skips, classes, the
        seed, the number of the round, and which items were drawn at random are kept. What was predicted before labels
        were known is kept only if the old items stay what they are and no model is given.

        Parameters
        ----------
        items : as a session takes them
            As many as before, in the same order; further ones at the end are new and open.
        model : object with fit(X, y) and predict_proba(X), optional
            By default a copy of the session's, as it was before its first fit.

        Returns
        -------
        Session
            Another session; this one stays as it is.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.linspace(-1, 1, 40)[:, None]
        >>> session = Session(X, LogisticRegression(), labelled={0: "low", 39: "high"})
        >>> session.continued(np.hstack([X, X**2]))
        Session(40 items: 2 labelled, 38 open; 2 classes; strategy diverse_margin; round -1)
        """
        items, before = as_items(items), len(self.pool)
        grown = self.checkpoint().extended(count_items(items))
        if model is None and self._begins_with_the_same(items, before):
            course = Course(*copy.deepcopy(grown.course)).extended(count_items(items))
            course_parts = (course.counts, course.classes, course.agreements)
            return self.resume(copy.deepcopy(replace(grown, course=course_parts, fitted=False)), items)
        given = self._fits.given if model is None else as_model(model)
        return self.resume(grown.with_model(copy.deepcopy(given)), items)

    def __getstate__(self) -> dict[str, Any]:
        return {"checkpoint": self.checkpoint(), "items": self.items}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        saved: Checkpoint = state["checkpoint"]
        self.items = state["items"]
        if count_items(self.items) != len(saved.states):
            raise InvalidInput(
                f"the session was saved over {len(saved.states)} items, but {count_items(self.items)} are given; "
                "give the same."
            )
        self.strategy, self.audit = saved.settings["strategy"], saved.settings["audit"]
        self.recalibrate, self.reference = saved.settings["recalibrate"], saved.settings["reference"]
        self._refit_limit = saved.settings["refit_limit"]
        self._labels = Labels.restore(saved.states, saved.labels, saved.classes, fixed=saved.all_classes)
        self._labels.folds = own_folds(saved.given)
        self._picks = PastPicks(dict(saved.predictions), dict(saved.rounds), dict(saved.at_random))
        self._course = Course(*copy.copy(saved.course))
        self._fits = ModelFits.restore(self.items, saved)
        self._lock, self._round = threading.RLock(), None
        self._refits = saved.refit  # at the first use, never while a file is read
        if saved.fitted and not saved.refit:
            self._round = FittedRound(self._fits, self._labels)

    def __copy__(self) -> Self:
        """Return a session of its own over the same items."""
        return self.resume(copy.deepcopy(self.checkpoint()), self.items)

    # Within.

    def _fitted(self) -> FittedRound:
        """Return the current round, after fitting the model if there are new labels."""
        if self._round is None and self._refits:  # a saved model, to the same labels with the same seed
            self._refits, self._round = False, self._fits.refit(self._labels, self._fits.round)
        elif self._round is None:
            self._round = self._fits.fit(self._labels, (self.recalibrate, self.reference))
        return self._round

    @property
    def _recalibrator(self) -> Recalibrator:
        fitted = self._fitted()
        if fitted.recalibrator is None:
            fitted.recalibrator = Recalibrator(fitted, self._picks, self.recalibrate, limit=self.refit_limit)
        return fitted.recalibrator

    def _forget_recalibration(self) -> None:
        if self._round is not None:
            self._round.recalibrator = None

    def _ask_without_model(self, chosen: Strategy, count: int) -> Query:
        candidates, rng, labelled = self.pool.open, self._fits.rng(), len(self._labels.by_item)
        if not chosen.needs_model:
            nothing = ArrayAnswers(candidates, probs=np.empty((len(candidates), 0)))
            query = Query(chosen.select(View(candidates, rng, nothing), count), strategy=chosen.name)
            self._picks.remember_query(query, self.round)
            return query
        if labelled:
            message = (
                f"session.ask: {self._labels.missing} Until then the cold start chooses, without the model: half at "
                "random, half from outlying parts of the data. If you know an item of another class, tell that one."
            )
            warnings.warn(message, CusalWarning, stacklevel=4)
            rng = np.random.default_rng([self.seed, 0, labelled])
        indices = typical_items(self.items, candidates, count, labelled=self.pool.labelled, rng=rng)
        return Query(indices, strategy="cold_start")

    def _raw(self, items: Any) -> Floats:
        return self._fitted().predict(self.items if items is None else items)

    def _as_seen(self, probs: Floats) -> NDArray[np.float64]:
        """Return predictions with the columns in the order of `classes_`."""
        return np.asarray(probs[:, self.class_columns])

    def _begins_with_the_same(self, items: Any, count: int) -> bool:
        return items is self.items or fingerprint(take(items, slice(0, count))) == fingerprint(self.items)


def _check_name(kind: str, name: str | None, known: tuple[str | None, ...]) -> None:
    """Raise `UnknownName` unless the name of this kind is known."""
    if not is_hashable(name) or name not in known:
        raise UnknownName(kind, name, ["None (no quotes)" if one is None else one for one in known])
