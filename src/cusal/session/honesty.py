"""How far a session's predictions can be trusted: its recalibration, and how good it is on the open items.

Evidence are predictions of labelled items by models that had not seen their labels. There are two kinds:

    cross-fit     out-of-fold predictions of all labelled items: five more fits
    prequential   what was predicted when an item was asked for: no fit, but by weaker models, and of picks alone

"auto" takes the first where five cold fits take less than two seconds, and the second otherwise, with a discount of
.9 for every round that passed since. Items drawn at random weigh five times as much as picks, which are not like the
pool; and out-of-fold predictions weigh the more, the more their items look like open ones (`likeness`). Picks are hard
items among those of equal confidence: as far as copies disagree on them more than on open items, the temperature is
lowered (`hardness`). That takes fifteen fits in all, and is left out where they take two seconds or more.

A network that continues from its last fit is over-confident from the first round on, and its mistakes may have
probabilities of 1e-20: there "auto" is a temperature without the guard and the clipping that serve light models, all
items weigh the same, and the discount is .95. Its past picks are hard items, and it knows more now than when it
predicted them. An `Ensemble` shows that: a third of its log temperature is the one at which it is as confident as its
members agree on open items (`agreement`). `benchmarks/network_evidence.py` measures both.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput, MissingMethod
from cusal.recalibration.agreement import agreement_temperature
from cusal.recalibration.evidence import Calibration, Evidence
from cusal.recalibration.guarded import GuardedRecalibration
from cusal.recalibration.hardness import NO_HARDNESS, Hardness, find_hardness
from cusal.recalibration.likeness import likeness
from cusal.recalibration.open_items import AccuracyEstimate, Judged, estimate_accuracy, estimate_error
from cusal.recalibration.out_of_sample import FOLDS
from cusal.recalibration.platt import PICKED_WEIGHT, RANDOM_WEIGHT
from cusal.recalibration.recalibration import Recalibration
from cusal.recalibration.scaling import even_weights
from cusal.session.answers import Pairs
from cusal.session.audit import draw
from cusal.session.books import Books
from cusal.session.learner import Learner
from cusal.session.origins import Origins
from cusal.strategies._query_result import Query

Recalibrate = Literal["auto", "vector", "prequential", "cross-fit", "held-out"]
PRIOR = {"prequential": 5.0, "cross-fit": 0.0, "held-out": 0.0}  # strength of the prior around a temperature of 1
DISCOUNT, WARM_DISCOUNT = 0.9, 0.95  # of prequential evidence, for every round that passed since
MOST_LABELS, MOST_OPEN = 5000, 2000  # that are looked at beside predictions; with more labels, weights matter no more
AnyRecalibration = Recalibration | GuardedRecalibration


class _Found(NamedTuple):
    """Items (n,), predictions (n, classes) and labels (n,), whether they were drawn at random, the discount for age.

    folds: those of out-of-fold predictions, (n,); None of others. learned: the share of the labels that the model did
    not know when it predicted, (n,).
    """

    indices: Indices
    probs: Floats
    labels: Indices
    drawn: NDArray[np.bool_]
    discount: Floats
    learned: Floats
    folds: Indices | None = None

    @property
    def weights(self) -> Floats:
        """What each label weighs by where it comes from, (n,)."""
        return np.where(self.drawn, RANDOM_WEIGHT, PICKED_WEIGHT)

    @property
    def judged(self) -> Judged:
        """The pairs with all that they weigh."""
        weights = self.weights * self.discount
        learned = float(np.average(self.learned, weights=weights)) if len(weights) else 0.0
        return Judged(self.probs, self.labels, weights, self.folds is not None, learned)


class Honesty:
    """The evidence of a session, and what follows from it.

    recalibrate: how `Session.predict_proba` is made honest, or None.
    """

    def __init__(self, learner: Learner, books: Books, recalibrate: Recalibrate | None) -> None:
        self.learner, self.books, self.recalibrate = learner, books, recalibrate
        self.evidence, self.origins = Evidence(), Origins()
        self.made: AnyRecalibration | None = None  # of the current round

    @classmethod
    def restore(cls, learner: Learner, books: Books, state: Mapping[str, Any]) -> Self:
        """Return the honesty of a session's checkpoint; those of earlier versions do not know where labels are from."""
        honesty = cls(learner, books, state["recalibrate"])
        honesty.evidence, honesty.origins = state["_evidence"], state.get("_origins", honesty.origins)
        return honesty

    def state(self) -> dict[str, Any]:
        """Return what a session's checkpoint holds of it."""
        return {"_evidence": self.evidence, "_origins": self.origins}

    def draw(self, count: int, share: float) -> Indices:
        """Return the audit items of a batch, the same whenever a round asks for them."""
        return draw(self.books.pool.open, count, share, self._rng(2))

    def remember(self, query: Query, probs: Floats) -> None:
        """Keep what is predicted of items that are about to be labelled, (k, classes), and whether they were drawn."""
        self.evidence.remember(query.indices, probs)
        self.remember_origins(query)

    def remember_origins(self, query: Query) -> None:
        """Keep which items of a query were drawn at random."""
        drawn = np.zeros(len(query), dtype=np.bool_) if query.audit is None else query.audit
        self.origins.remember(query.indices, drawn | (query.strategy == "random"), self.learner.round)

    def forget(self, indices: Indices) -> None:
        """Drop what is known about items whose label or turn was taken back."""
        self.evidence.forget(indices)
        self.origins.forget(indices)

    def recalibration(self, fit: Callable[[], None]) -> AnyRecalibration:
        """Return what turns this round's raw predictions into honest ones; `fit` is called where it takes a model."""
        if self.made is None:
            if self.recalibrate not in (None, "prequential"):
                fit()
            self.made = self._make()
        return self.made

    def calibration(self, recalibration: AnyRecalibration, open_probs: Floats) -> Calibration:
        """Return the temperature and, from raw predictions of the open items, the error to expect on them."""
        judged = self.found().judged
        before = estimate_error(judged, open_probs, self._rng(3))
        after = estimate_error(_applied(recalibration, judged), recalibration.apply(open_probs), self._rng(3))
        return Calibration(
            recalibration.temperature,
            recalibration.evidence,
            before.estimate,
            after.estimate,
            ece_before_interval=(before.low, before.high),
            ece_after_interval=(after.low, after.high),
        )

    def accuracy(self, recalibration: AnyRecalibration, open_probs: Floats) -> AccuracyEstimate:
        """Return the accuracy to expect of the recalibrated predictions, from raw ones of the open items."""
        found = self.found()
        applied = _applied(recalibration, found.judged)
        expected = estimate_accuracy(applied, recalibration.apply(open_probs), self._rng(4))
        return AccuracyEstimate(*expected, labels=len(found.labels), drawn=int(found.drawn.sum()))

    def _make(self) -> AnyRecalibration:
        if self.recalibrate is None:
            return Recalibration.none(len(self.books.classes))
        if self.recalibrate in PRIOR:
            return Recalibration(*self._pairs(self.recalibrate), PRIOR[self.recalibrate])
        found = self.found()
        if found.folds is None and self.learner.warm:
            agreed = self._agreed() if len(found.labels) else None
            return Recalibration(found.probs, found.labels, PRIOR["prequential"], found.discount, agreed)
        weights = even_weights(found.weights * self._likeness(found)) * found.discount
        harder = self._hardness(found, weights)
        return GuardedRecalibration(found.probs, found.labels, weights, self.recalibrate == "vector", harder)

    def _pairs(self, method: str) -> Pairs:
        if method == "prequential":
            return self.evidence.pairs(self._numbers(), len(self.books.classes))
        if method == "cross-fit":
            return self.learner.out_of_fold(self.books)
        return self.learner.out_of_sample(method, self.books, protocol.predict_proba)  # type: ignore[arg-type]

    def found(self) -> _Found:
        """Return predictions out of sample, with where their labels come from."""
        pairs = self._out_of_fold() if self._refits() else None
        if pairs is not None:
            indices = self.books.pool.labelled
            drawn, folds = self.origins.drawn(indices), self.learner.folds(indices)
            return _Found(indices, *pairs, drawn, np.ones(len(indices)), np.full(len(indices), 1 / FOLDS), folds)
        numbers = self._numbers()
        probs, labels = self.evidence.pairs(numbers, len(self.books.classes))
        indices = np.array([i for i in self.evidence.predictions if i in numbers], dtype=np.int64)
        age = self.origins.age(indices, self.learner.round)
        ages = np.sort(self.origins.age(self.books.pool.labelled, self.learner.round))
        later = np.searchsorted(ages, age, side="right") - np.searchsorted(ages, 0, side="right")  # 0: never asked for
        learned = later / max(1, len(ages))
        rate = WARM_DISCOUNT if self.learner.warm else DISCOUNT
        discount = rate ** np.maximum(age - 1, 0)  # the last round's picks are the newest
        return _Found(indices, probs, labels, self.origins.drawn(indices), discount, learned)

    def _likeness(self, found: _Found) -> Floats:
        """Return what evidence weighs by how much it looks like the open items, (n,); all the same without vectors.

        "vector" has equal weights, so that stored runs stay comparable.
        """
        if self.recalibrate != "auto" or found.folds is None or len(found.folds) > MOST_LABELS:
            return np.ones(len(found.labels))
        try:
            points = [self.learner.fitted.embeddings(indices) for indices in (found.indices, self._some_open())]
        except (MissingMethod, InvalidInput):
            return np.ones(len(found.labels))
        if not all(part.ndim == 2 and np.isfinite(part).all() for part in points):
            return np.ones(len(found.labels))
        return likeness(points[0], found.folds, points[1])

    def _hardness(self, found: _Found, weights: Floats) -> Hardness:
        """Return how much harder the items of out-of-fold evidence are than open ones.

        "vector" is left as it is, so that stored runs stay comparable.
        """
        if self.recalibrate != "auto" or found.folds is None or len(weights) > MOST_LABELS:
            return NO_HARDNESS
        said = self.learner.opinions(self.books)
        if said is None:
            return NO_HARDNESS
        return find_hardness(*said, found.labels, weights, np.flatnonzero(~found.drawn))

    def _agreed(self) -> float | None:
        """Return the temperature that the members of an ensemble agree on; None of other models."""
        open_items, members = self._some_open(), self.learner.members
        if members < 2 or len(open_items) == 0:
            return None
        return agreement_temperature(np.moveaxis(self.learner.fitted.sampled_probs(open_items, members), 1, 0))

    def _some_open(self) -> Indices:
        """Return the open items; where there are many, some of them, the same throughout a round."""
        open_items = self.books.pool.open
        if len(open_items) <= MOST_OPEN:
            return open_items
        return np.sort(self._rng(5).choice(open_items, MOST_OPEN, replace=False))

    def _out_of_fold(self) -> Pairs | None:
        """Return out-of-fold predictions; None if "auto" meets copies that cannot predict, fitted to too few labels."""
        try:
            if self.recalibrate == "auto":
                self.learner.opinions(self.books)  # those of its first split are the out-of-fold ones
            return self.learner.out_of_fold(self.books)
        except InvalidInput:
            if self.recalibrate != "auto":
                raise
            return None

    def _refits(self) -> bool:
        """Return whether out-of-fold predictions are evidence: by choice, or because they cost little."""
        if self.recalibrate in ("vector", "cross-fit"):
            return True
        # Copies of a warm model are fitted as often as the model was, which is dear; and scikit-learn's cannot continue
        # when the labels of their folds get a class that they had not met.
        return self.learner.refits_are_cheap and not self.learner.warm

    def _numbers(self) -> dict[int, int]:
        labels = self.books.labels
        return dict(zip(labels, self.books.classes.numbers(labels.values()).tolist(), strict=True))

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.learner.seed, self.learner.round, purpose])


def _applied(recalibration: AnyRecalibration, judged: Judged) -> Judged:
    return replace(judged, probs=recalibration.apply(judged.probs))
