"""The fits of a session's model, round after round, and what belongs to one of them."""

import copy
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from cusal import _protocol as protocol
from cusal._items import Subset, are_texts, as_items, count_columns, count_items, take, with_columns_of
from cusal._types import Floats, Indices
from cusal.errors import CusalError, InvalidInput, NotReady
from cusal.features.dense_vectors import item_vectors
from cusal.recalibration.out_of_sample import LabelledPoints, Method, OutOfSample, Predict
from cusal.session.checkpoint import Checkpoint
from cusal.session.labels import Labels
from cusal.session.predictions import ModelAnswers, Pairs, Predictions
from cusal.strategies._view import View

if TYPE_CHECKING:
    from cusal.session.recalibrator import Recalibrator


class ModelFits:
    """A model that is fitted in each round, from the items of a session and their labels.

    given: the model before its first fit; copies of it are fitted without some of the labels. model: as last fitted.
    round: how often it was fitted, minus one. copies: the folds of the labels, and copies of a warm model.
    """

    def __init__(self, items: Any, model: protocol.Model, seed: int) -> None:
        self.items, self.seed = items, seed
        self.model, self.given = copy.deepcopy(model), copy.deepcopy(model)
        self.seeded = protocol.unseeded(model)
        self.copies = OutOfSample()
        self.round = -1
        self.seconds = {"fit": 0.0, "predict": 0.0, "select": 0.0}  # of the current round

    @classmethod
    def restore(cls, items: Any, saved: Checkpoint) -> Self:
        """Return the fits of a checkpoint."""
        fits = cls(items, saved.given, saved.settings["seed"])
        fits.model, fits.seeded, fits.round = saved.model, list(saved.seeded), saved.round
        fits.seconds = dict(saved.seconds)
        fits.copies = OutOfSample(dict(saved.folds), dict(saved.copies))
        return fits

    @property
    def warm(self) -> bool:
        """Whether the model continues from its last fit."""
        return bool(getattr(self.given, "warm_start", False))

    @cached_property
    def columns(self) -> int:
        """How many numbers an item holds."""
        return count_columns(self.items)

    @cached_property
    def vectors(self) -> Floats | None:
        """(items, features): vectors of sparse items, texts and frames, computed once; None of others."""
        return item_vectors(self.items)

    def fit(self, labels: Labels, methods: tuple[str | None, ...]) -> "FittedRound":
        """Fit the model to all labels; `methods` are the recalibration and the reference, which may need copies."""
        if not labels.ready:
            raise NotReady(labels.missing)
        started = time.perf_counter()
        fitted = self.refit(labels, self.round + 1)
        if self.warm:
            for method in get_args(Method):  # the copies continue with the model, used or not
                if method in methods or ("vector" in methods and method == "cross-fit"):
                    fitted.out_of_sample(method, protocol.predict_proba)
        self.seconds = {"fit": time.perf_counter() - started, "predict": 0.0, "select": 0.0}
        return fitted

    def refit(self, labels: Labels, number: int) -> "FittedRound":
        """Fit the model to all labels as in round `number`."""
        try:
            self.model = protocol.fitted_copy(
                protocol.weighing_numbers(self.model, self.given, labels.classes.numbered),
                (take(self.items, labels.pool.labelled), labels.numbers),
                unlabelled=Subset(self.items, labels.pool.open),
                seed=_model_seed(np.random.default_rng([self.seed, number])),
                seeded=self.seeded,
            )
        except ValueError as error:
            if isinstance(error, CusalError) or not are_texts(self.items):
                raise
            raise InvalidInput(
                f"{type(self.model).__name__} cannot be fitted to texts ({error}); leave the model out, or give "
                "sklearn.pipeline.make_pipeline(cusal.features.TextFeatures(), model). The labels are kept."
            ) from error
        self.round = number
        return FittedRound(self, labels)

    def rng(self) -> np.random.Generator:
        """Return the round's generator, after the model's seed was drawn from it."""
        rng = np.random.default_rng([self.seed, max(self.round, 0)])
        _model_seed(rng)
        return rng


class FittedRound:
    """One fit: the model, its predictions, those of copies, and what strategies see; dropped whole with the next label.

    fits: where it comes from. labels: the labels that the model is fitted to, which do not change while this exists.
    recalibrator: what the session made of them, once it is needed. Columns of all predictions are class numbers.
    """

    def __init__(self, fits: ModelFits, labels: Labels) -> None:
        self.fits, self.labels = fits, labels
        self.model: Any = fits.model
        self.number = fits.round
        self.labelled, self.numbers = labels.pool.labelled, labels.numbers
        self.predictions = Predictions(self.model, fits.items, len(labels.classes), vectors=lambda: fits.vectors)
        self.recalibrator: Recalibrator | None = None
        self._view: View | None = None

    def predict(self, items: Any) -> Floats:
        """Return raw predictions of any items, (rows, classes); of the session's own they are kept."""
        if items is self.fits.items:
            return self.predictions.probs(np.arange(count_items(items)))
        items = as_items(with_columns_of(items, self.fits.items))
        return Predictions(self.model, items, self.predictions.classes).probs(np.arange(count_items(items)))

    def view(self, reference: str) -> View:
        """Return what a strategy sees, with the labelled items as evidence by `reference`; the same until items change.

        reference: "fitted" by the model, or "cross-fit" or "held-out" by copies that were not fitted to them.
        """
        open_items = self.labels.pool.open
        if self._view is None or not np.array_equal(self._view.candidates, open_items):
            answers = ModelAnswers(self.predictions, self.labelled, lambda: self._evidence(reference))
            self._view = View(open_items, self.fits.rng(), answers)
        return self._view

    def open_probs(self, reference: str) -> Floats:
        """Return the raw predictions of the open items, (open items, classes)."""
        view = self.view(reference)
        return self.predictions.probs(view.candidates) if self.has_scoring else view.probs

    def probs_of(self, indices: Indices, reference: str) -> Floats:
        """Return raw predictions of some open items; the others need not be predicted."""
        if self.has_scoring:
            return self.predictions.probs(indices, whole=False)
        return self.view(reference).probs_of(indices)

    @property
    def has_scoring(self) -> bool:
        """Whether strategies see other predictions than users."""
        return hasattr(self.model, "scoring_proba")

    @cached_property
    def out_of_fold(self) -> Pairs:
        """Out-of-fold predictions and class numbers of all labelled items: the model's own, or those of copies."""
        if protocol.out_of_fold(self.model) is not None:
            return protocol.out_of_fold_proba(self.model, len(self.labels.classes)), self.numbers
        return self.out_of_sample("cross-fit", protocol.predict_proba)

    @property
    def folds(self) -> Indices:
        """The fold of each labelled item in `out_of_fold`, (n,); one each if the model made them by itself."""
        own = protocol.out_of_fold(self.model) is not None
        return np.arange(len(self.labelled)) if own else self.fits.copies.folds(self.labelled)

    def out_of_sample(self, method: Method, predict: Predict) -> Pairs:
        """Return predictions, by copies of the model not fitted to them, and class numbers of labelled items."""
        fits = self.fits
        model = protocol.weighing_numbers(fits.given, fits.given, self.labels.classes.numbered)
        open_items = Subset(fits.items, self.labels.pool.open)
        points = LabelledPoints(take(fits.items, self.labelled), self.numbers, self.labelled, unlabelled=open_items)
        return fits.copies.predict(
            method,
            model,
            points,
            fits=self.number + 1,
            classes=len(self.labels.classes),
            rng=np.random.default_rng([fits.seed, self.number, 1]),
            predict=predict,
        )

    def _evidence(self, reference: str) -> Pairs:
        if reference == "fitted":
            return self.predictions.scoring_probs(self.labelled), self.numbers
        return self.out_of_sample(reference, protocol.scoring_proba)  # type: ignore[arg-type]


def _model_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
