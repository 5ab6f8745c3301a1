"""Ask and tell: which items to label next, and their labels as they arrive.

    session.ask(10)  ->  query.indices  ->  somebody labels them  ->  session.tell(indices, labels)  ->  ask again

A person, a simulated oracle, the benchmark and the web app all use these two calls.
"""

import time
import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal import strategies
from cusal._checks import as_batch_size, as_count
from cusal._items import as_items, count_items
from cusal._types import Floats, Indices
from cusal.errors import CusalWarning, InvalidInput, PoolExhausted
from cusal.recalibration.evidence import Calibration
from cusal.recalibration.open_items import AccuracyEstimate
from cusal.session import audit as audits
from cusal.session import honesty
from cusal.session.answers import ModelAnswers
from cusal.session.arguments import as_model, as_pairs, check_name, default_model
from cusal.session.books import Books
from cusal.session.cold_start import typical_items
from cusal.session.learner import Learner
from cusal.session.pool import Pool
from cusal.session.resumable import Resumable
from cusal.session.scores import Scores, labels_to_score, score_predictions
from cusal.session.stopping import Course, Stopping
from cusal.strategies._array_answers import ArrayAnswers
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

Recalibrate = honesty.Recalibrate
Reference = Literal["fitted", "cross-fit", "held-out"]


class Session(Resumable):
    """Active learning of one model on one data set: ask for items, tell their labels, ask again.

    Use it when labels come in batches, from a person or an oracle. It fits the model, chooses what to ask next, keeps
    every label, and returns honest probabilities. If you have a loop of your own, `cusal.query` chooses items from
    probabilities alone.

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
        How `predict_proba` is recalibrated. It never changes what is asked for or fitted. "cross-fit" and "vector" fit
        five more copies of the model in every round, "held-out" one; "auto" five or fifteen, if that takes under two
        seconds. "vector" may change which class is the most probable. "auto" and "vector" leave the model as it is
        where the evidence shows no gain.
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
        check_name("recalibration", recalibrate, (None, *get_args(Recalibrate)))
        check_name("reference", reference, get_args(Reference))
        self.items = as_items(items)
        model = default_model(self.items) if model is None else as_model(model)
        self.strategy = strategies.make(strategy)
        self.recalibrate, self.reference, self.audit = recalibrate, reference, audits.as_share(audit)
        known = classes if classes is not None else getattr(model, "classes_", None)
        self._learner = Learner(self.items, model, as_count(seed, "seed", least=0))
        self._books = Books(count_items(self.items), known)
        self._honesty = honesty.Honesty(self._learner, self._books, recalibrate)
        self._course = Course()
        self._view: View | None = None  # of the current round
        if labelled is not None:
            self.tell(*as_pairs(labelled, self.items))

    def __repr__(self) -> str:
        state = f"{self.pool.describe()}; {len(self._books.classes)} classes"
        return f"Session({state}; strategy {self.strategy.name}; round {self.round})"

    @property
    def model(self) -> Any:
        """The copy of the model that is fitted; its classes are numbers, in the order in which they were met."""
        return self._learner.model

    @property
    def pool(self) -> Pool:
        """Which items are open, labelled and skipped."""
        return self._books.pool

    @property
    def labels(self) -> dict[int, Hashable]:
        """Every label as it was told, by the position of its item, as plain Python values."""
        return dict(self._books.labels)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes in the order of the columns of `predict_proba`: sorted, or as `classes` gave them."""
        return self._books.classes.array

    @property
    def class_columns(self) -> Indices:
        """(classes,) the class number of each of `classes_`: its column in the predictions of `model` and `view`."""
        return self._books.classes.columns

    @property
    def seed(self) -> int:
        """Seed of every random choice."""
        return self._learner.seed

    @property
    def round(self) -> int:
        """Number of the last fit: 0 for the first, -1 before it."""
        return self._learner.round

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds that fitting, predicting and selecting took in this round."""
        return self._learner.seconds

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
        if not self._books.ready:
            return self._ask_without_model(chosen, count)
        self.fit()
        fitted = self._learner.fitted
        started, predicting = time.perf_counter(), fitted.seconds
        self.view.rng = self._learner.rng()
        query = chosen.query(self.view, count)
        if self.audit:
            query = audits.with_audit(query, self._honesty.draw(count, self.audit), self.view.probs_of)
        self._honesty.remember(query, self._predicted(query.indices))
        if "probs" in vars(self.view):  # never predict the pool for the sake of it
            self._course.record(len(self.labels), len(self.pool), self.view.candidates, self.view.probs)
        self.seconds["select"] = time.perf_counter() - started - (fitted.seconds - predicting)
        self.seconds["predict"] = fitted.seconds
        return query if query.probs is None else replace(query, probs=self._as_seen(query.probs))

    def tell(self, indices: Any, labels: Any) -> None:
        """Store the labels of items, asked for or not; a new label replaces an earlier one.

        Parameters
        ----------
        indices : int or (k,) integers
            Positions of the items.
        labels : label or (k,) labels
            Their labels, of any hashable type.
        """
        self._books.tell(indices, labels)
        self._forget_round()

    def skip(self, indices: Any) -> None:
        """Set items aside: they are not asked for until they are reopened."""
        self._honesty.forget(self._books.skip(indices))
        self._view = None

    def reopen(self, indices: Any) -> None:
        """Undo labels and skips: the items can be asked for again."""
        self._honesty.forget(self._books.reopen(indices))
        self._forget_round()

    def fit(self) -> None:
        """Fit the model to all labels; do nothing if there are no new ones.

        Raises
        ------
        NotReady
            If there are no labels of two classes yet.
        """
        self._learner.fit(self._books, (self.recalibrate, self.reference))

    def predict_proba(self, items: Any) -> NDArray[np.float64]:
        """Return recalibrated probabilities (rows, classes), columns as `classes_`.

        `session.model.predict_proba` returns the raw ones, columns by class number.
        """
        return self._as_seen(self.recalibration.apply(self._raw(items)))

    def predict(self, items: Any) -> NDArray[Any]:
        """Return the most probable label of each item, (rows,), of the kind that was told."""
        return np.asarray(self.classes_[self.predict_proba(items).argmax(axis=1)])

    def evaluate(self, items: Any, labels: Any) -> Scores:
        """Return accuracy, ECE, NLL and Brier score on labelled items, raw and recalibrated.

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
        names = labels_to_score(labels, len(raw), self._books.classes.names)
        recalibrated = self._as_seen(self.recalibration.apply(raw))
        return score_predictions(self._as_seen(raw), recalibrated, names, self._books.classes.names)

    @property
    def recalibration(self) -> honesty.AnyRecalibration:
        """What turns this round's raw predictions, columns by class number, into recalibrated ones."""
        return self._honesty.recalibration(self.fit)

    @property
    def calibration(self) -> Calibration:
        """The temperature, how much evidence it rests on, and the calibration error to expect on the open items."""
        if not self._books.ready:
            return Calibration(1.0, 0)
        if self.recalibration.evidence == 0 or len(self.pool.open) == 0:
            return Calibration(self.recalibration.temperature, self.recalibration.evidence)
        return self._honesty.calibration(self.recalibration, self.open_probs)

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
        self.fit()
        return self._honesty.accuracy(self.recalibration, self.open_probs)

    def stopping(self) -> Stopping:
        """Return whether more labels would still change the model, and what the next 50 are likely to gain.

        It compares the predictions of the open items with those of about 50 labels ago.
        """
        self.fit()
        probs = self.view.probs if len(self.pool.open) else np.empty((0, 1))
        now = len(self.labels), self.pool.open, probs
        self._course.record(now[0], len(self.pool), *now[1:])
        return self._course.judge(*now)

    @property
    def view(self) -> View:
        """What a strategy sees in this round; columns are class numbers, in the order in which classes were met."""
        self.fit()
        if self._view is None:
            answers = ModelAnswers(
                self._learner.fitted,
                self.pool.labelled,
                lambda: self._learner.evidence(self.reference, self._books),
            )
            self._view = View(self.pool.open, self._learner.rng(), answers)
        return self._view

    @property
    def open_probs(self) -> Floats:
        """(open items, classes): the model's raw predictions of the open items, columns by class number."""
        view = self.view
        return self._learner.fitted.probs(view.candidates) if hasattr(self.model, "scoring_proba") else view.probs

    def checkpoint(self) -> dict[str, Any]:
        """Return everything except the items and what can be computed from them, by name."""
        own = {name: getattr(self, name) for name in ("strategy", "recalibrate", "reference", "audit", "_course")}
        return own | self._books.state() | self._learner.state() | self._honesty.state()

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.items, self._books = state["items"], Books.restore(state)
        if count_items(self.items) != len(self.pool):
            raise InvalidInput(
                f"the session was saved over {len(self.pool)} items, but {count_items(self.items)} are given; "
                "give the same."
            )
        for name in ("strategy", "recalibrate", "reference"):
            setattr(self, name, state[name])
        self.audit, self._course, self._view = state.get("audit", 0.0), state.get("_course", Course()), None
        self._learner = Learner.restore(self.items, state, self._books)
        self._honesty = honesty.Honesty.restore(self._learner, self._books, state)

    def _ask_without_model(self, chosen: Strategy, count: int) -> Query:
        candidates, rng, labelled = self.pool.open, self._learner.rng(), len(self._books.labels)
        if labelled and not chosen.needs_model:
            nothing = ArrayAnswers(candidates, probs=np.empty((len(candidates), 0)))
            query = Query(chosen.select(View(candidates, rng, nothing), count), strategy=chosen.name)
            self._honesty.remember_origins(query)
            return query
        if labelled:
            message = f"session.ask: {self._books.missing} Until then the cold start chooses, without the model."
            warnings.warn(message, CusalWarning, stacklevel=3)
            rng = np.random.default_rng([self.seed, 0, labelled])
        indices = typical_items(self.items, candidates, count, labelled=self.pool.labelled, rng=rng)
        return Query(indices, strategy="cold_start")

    def _raw(self, items: Any) -> Floats:
        self.fit()
        return self._learner.predict(items)

    def _as_seen(self, probs: Floats) -> NDArray[np.float64]:
        """Return predictions with the columns in the order of `classes_`."""
        return np.asarray(probs[:, self.class_columns])

    def _predicted(self, indices: Indices) -> Floats:
        """Return the model's raw predictions of some open items; the others need not be predicted."""
        scoring = hasattr(self.model, "scoring_proba")
        return self._learner.fitted.probs(indices, whole=False) if scoring else self.view.probs_of(indices)

    def _forget_round(self) -> None:
        self._view = self._honesty.made = self._learner.predictions = None
