"""How the predictions of a round are recalibrated, and how good they are on the open items.

The evidence are predictions of labelled items by models that had not seen their labels. There are two kinds:

    out-of-fold   of all labelled items: the model's own, or by five more fits
    past picks    what was predicted when an item was asked for: no fit, but by weaker models, and of picks alone

`cusal.recalibration.choose_method` decides between them. Past picks count less with every round that has passed since.
Items drawn at random weigh five times as much as picks, which are not like the pool; and out-of-fold predictions weigh
the more, the more their items look like open ones (`covariate_weights`).

A network that continues from its last fit is over-confident from the first round on, and its mistakes may have
probabilities of 1e-20: there "auto" is a temperature without the check and the clipping that serve light models, and
all items weigh the same. Its past picks are hard items, and it knows more now than when it predicted them. An
`Ensemble` shows that: a third of its log temperature is the one at which it is as confident as its members agree on
open items (`ensemble_agreement`). `benchmarks/network_evidence.py` measures both.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput, MissingMethod
from cusal.models.ensemble import Ensemble
from cusal.recalibration.covariate_weights import covariate_weights
from cusal.recalibration.cross_validated import CrossValidatedRecalibration
from cusal.recalibration.ensemble_agreement import agreement_temperature
from cusal.recalibration.methods import REFIT_LIMIT, Counts, Method, Recalibrate, choose_method
from cusal.recalibration.out_of_sample import FOLDS
from cusal.recalibration.platt import PICKED_WEIGHT, RANDOM_WEIGHT
from cusal.recalibration.pool_estimates import (
    AccuracyEstimate,
    CalibrationEstimate,
    Judged,
    estimate_accuracy,
    estimate_error,
)
from cusal.recalibration.recalibration import Recalibration
from cusal.recalibration.scaling import even_weights
from cusal.recalibration.skill import find_skill
from cusal.session.fitted_round import FittedRound
from cusal.session.past_picks import PastPicks
from cusal.session.predictions import Pairs

MOST_LABELS, MOST_OPEN = 5000, 2000  # that are looked at beside predictions; with more labels, weights matter no more
AnyRecalibration = Recalibration | CrossValidatedRecalibration


@dataclass(frozen=True)
class Evidence:
    """Items (n,), predictions (n, classes) and labels (n,), whether they were drawn at random, the discount for age.

    learned: the share of the labels that the model did not know when it predicted, (n,). folds: those of out-of-fold
    predictions, (n,); None of past picks.
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


class Recalibrator:
    """What recalibrates the predictions of one round, and estimates how good they are.

    fitted: the round. picks: the items that were asked for so far. recalibrate, limit: see `choose_method`.
    """

    def __init__(
        self,
        fitted: FittedRound,
        picks: PastPicks,
        recalibrate: Recalibrate | None = "auto",
        *,
        limit: float = REFIT_LIMIT,
    ) -> None:
        self.fitted, self.picks, self.recalibrate, self.limit = fitted, picks, recalibrate, limit

    @property
    def method(self) -> Method:
        """How this round is recalibrated."""
        labels, items = self.fitted.labels, self.fitted.fits
        counts = Counts(len(labels.by_item), items.columns, len(labels.classes))
        return choose_method(self.recalibrate, self.fitted.model, counts, limit=self.limit)

    @cached_property
    def recalibration(self) -> AnyRecalibration:
        """What turns the raw predictions of this round, columns by class number, into recalibrated ones."""
        method = self.method
        if method.evidence is None:
            return Recalibration.none(len(self.fitted.labels.classes))
        if method.by_name and not method.checked:
            return Recalibration(*self._pairs(method.evidence), method.prior)
        found = self.evidence()
        if not method.checked:
            agreed = self._agreed() if len(found.labels) else None
            return Recalibration(found.probs, found.labels, method.prior, found.discount, agreed)
        weights = even_weights(found.weights * self._covariate_weights(found)) * found.discount
        return CrossValidatedRecalibration(found.probs, found.labels, weights, method.offsets)

    def evidence(self) -> Evidence:
        """Return predictions out of sample, with where their labels come from."""
        return self._out_of_fold() or self._past_picks()

    def calibration(self, open_probs: Floats) -> CalibrationEstimate:
        """Return the temperature and, from raw predictions of the open items, the error to expect on them."""
        recalibration, judged = self.recalibration, self.evidence().judged
        before = estimate_error(judged, open_probs, self._rng(3))
        after = estimate_error(self._applied(judged), recalibration.apply(open_probs), self._rng(3))
        return CalibrationEstimate(
            recalibration.temperature,
            recalibration.evidence,
            before.estimate,
            after.estimate,
            ece_before_interval=(before.low, before.high),
            ece_after_interval=(after.low, after.high),
        )

    def accuracy(self, open_probs: Floats) -> AccuracyEstimate:
        """Return the accuracy to expect of the recalibrated predictions, from raw ones of the open items."""
        found, recalibration = self.evidence(), self.recalibration
        judged, probs = self._applied(found.judged), recalibration.apply(open_probs)
        expected, drawn = estimate_accuracy(judged, probs, self._rng(4)), int(found.drawn.sum())
        guessing = None
        if found.folds is not None and len(found.labels) and len(probs):  # past picks alone say nothing about skill
            skill = find_skill(judged.probs, judged.labels, probs, drawn)
            expected = skill.allowed_for(*expected)
            guessing = skill.guessing if skill.shows_nothing(drawn) else None
        return AccuracyEstimate(*expected, labels=len(found.labels), drawn=drawn, guessing=guessing)

    def _pairs(self, evidence: str) -> Pairs:
        if evidence == "past picks":
            return self.picks.pairs(self.fitted.labels.numbers_by_item, len(self.fitted.labels.classes))[1:]
        if evidence == "held-out":
            return self.fitted.out_of_sample("held-out", protocol.predict_proba)
        return self.fitted.out_of_fold

    def _applied(self, judged: Judged) -> Judged:
        return replace(judged, probs=self.recalibration.apply(judged.probs))

    def _out_of_fold(self) -> Evidence | None:
        """Return out-of-fold predictions; None if they are too dear, or if copies fitted to so few labels fail."""
        method, fitted = self.method, self.fitted
        if method.judge != "out-of-fold":
            return None
        try:
            pairs = fitted.out_of_fold
        except InvalidInput:
            if method.by_name and method.evidence == "out-of-fold":
                raise
            return None
        indices = fitted.labelled
        drawn, learned = self.picks.drawn(indices), np.full(len(indices), 1 / FOLDS)
        return Evidence(indices, *pairs, drawn, np.ones(len(indices)), learned, fitted.folds)

    def _past_picks(self) -> Evidence:
        fitted, picks = self.fitted, self.picks
        indices, probs, labels = picks.pairs(fitted.labels.numbers_by_item, len(fitted.labels.classes))
        age = picks.age(indices, fitted.number)
        ages = np.sort(picks.age(fitted.labelled, fitted.number))
        later = np.searchsorted(ages, age, side="right") - np.searchsorted(ages, 0, side="right")  # 0: never asked for
        discount = self.method.discount ** np.maximum(age - 1, 0)  # the last round's picks are the newest
        return Evidence(indices, probs, labels, picks.drawn(indices), discount, later / max(1, len(ages)))

    def _covariate_weights(self, found: Evidence) -> Floats:
        """Return what evidence weighs by how much it looks like the open items, (n,); all the same without vectors.

        A method by name has equal weights, so that stored runs stay comparable.
        """
        equal = np.ones(len(found.labels))
        if self.method.by_name or found.folds is None or len(found.folds) > MOST_LABELS:
            return equal
        try:
            points = [self.fitted.predictions.embeddings(indices) for indices in (found.indices, self._some_open())]
        except (MissingMethod, InvalidInput):
            return equal
        if not all(part.ndim == 2 and np.isfinite(part).all() for part in points):
            return equal
        return covariate_weights(points[0], found.folds, points[1])

    def _agreed(self) -> float | None:
        """Return the temperature that the members of an ensemble agree on; None of other models."""
        model, open_items = self.fitted.model, self._some_open()
        members = len(model.estimators_) if isinstance(model, Ensemble) else 1
        if members < 2 or len(open_items) == 0:
            return None
        sampled = self.fitted.predictions.sampled_probs(open_items, members)
        return agreement_temperature(np.moveaxis(sampled, 1, 0))

    def _some_open(self) -> Indices:
        """Return the open items; where there are many, some of them, the same throughout a round."""
        open_items = self.fitted.labels.pool.open
        if len(open_items) <= MOST_OPEN:
            return open_items
        return np.sort(self._rng(5).choice(open_items, MOST_OPEN, replace=False))

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.fitted.fits.seed, self.fitted.number, purpose])
