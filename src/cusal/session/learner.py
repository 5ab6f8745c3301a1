"""The model of a session: its fits, round after round, and its predictions of the items."""

import copy
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, get_args

import numpy as np

from cusal import _protocol as protocol
from cusal._items import Subset, are_texts, as_items, count_items, take
from cusal._types import Floats, Indices
from cusal.errors import CusalError, InvalidInput, NotReady
from cusal.models.ensemble import Ensemble
from cusal.recalibration.out_of_sample import FOLDS, LabelledPoints, Method, OutOfSample, Predict
from cusal.session.answers import Pairs
from cusal.session.books import Books
from cusal.session.dense_vectors import item_vectors
from cusal.session.predictions import Predictions

CHEAP = 2.0  # seconds for one fit of each fold: less than a person takes for a label
SPLITS = 3  # into folds, by which disagreement is seen
ASKED = 300  # open items that copies of all splits predict
RECENT = 3  # fits whose times are kept; the fastest counts, since other work on the machine can only add to it


class Opinions(NamedTuple):
    """What copies say of labelled items, (splits, n, classes), and of some open ones, (splits, folds, m, classes)."""

    labelled: Floats
    open: Floats


class Learner:
    """A model over the items of a session.

    model: as last fitted, or as it was given. unfitted: as it was given; copies of it are fitted without some of the
    labels. round: how often the model was fitted, minus one. The columns of all predictions are class numbers.
    """

    def __init__(self, items: Any, model: protocol.Model, seed: int) -> None:
        self.items, self.seed = items, seed
        self.model, self.unfitted = copy.deepcopy(model), copy.deepcopy(model)
        self.unseen = OutOfSample()
        self.seeded = protocol.unseeded(model)
        self.round = -1
        self.seconds = {"fit": 0.0, "predict": 0.0, "select": 0.0}  # of the current round
        self.fit_seconds: list[float] = []  # of the last fits, without those of copies
        self.patience = CHEAP
        self._out_of_fold: tuple[int, Pairs] | None = None  # with the round that it is of
        self._opinions: tuple[int, Opinions] | None = None  # likewise
        self.predictions: Predictions | None = None  # None if the model was not fitted to the latest labels

    @classmethod
    def restore(cls, items: Any, state: Mapping[str, Any], books: Books) -> "Learner":
        """Return the learner of a session's checkpoint."""
        learner = cls(items, state["_unfitted"], state["seed"])
        learner.model, learner.unseen, learner.seeded = state["model"], state["_unseen"], state["_seeded"]
        learner.round, learner.seconds = state["round"], state["seconds"]
        learner.fit_seconds = state.get("_fit_seconds", [learner.seconds["fit"]] if learner.round >= 0 else [])
        if state.get("refit", False):  # a saved model is fitted again, to the same labels with the same seed
            learner.refit(books, learner.round)
        elif state["fitted"]:
            learner.look(len(books.classes))
        return learner

    def state(self) -> dict[str, Any]:
        """Return what a session's checkpoint holds of it."""
        return {
            "model": self.model,
            "_unfitted": self.unfitted,
            "_unseen": self.unseen,
            "_seeded": self.seeded,
            "seed": self.seed,
            "round": self.round,
            "seconds": self.seconds,
            "_fit_seconds": self.fit_seconds,
            "fitted": self.predictions is not None,
        }

    @property
    def fitted(self) -> Predictions:
        """The predictions of the model, once it is fitted to the latest labels."""
        if self.predictions is None:
            raise NotReady("the model is not fitted to the latest labels; call fit() first.")
        return self.predictions

    @property
    def warm(self) -> bool:
        """Whether the model continues from its last fit."""
        return bool(getattr(self.unfitted, "warm_start", False))

    @property
    def refits_are_cheap(self) -> bool:
        """Whether a copy for each fold can be fitted while nobody waits, by the times of the last fits."""
        return self.has_out_of_fold or (bool(self.fit_seconds) and FOLDS * min(self.fit_seconds) < self.patience)

    @property
    def members(self) -> int:
        """How many classifiers the model is the mean of that differ by their seeds alone; 1 if it is no `Ensemble`."""
        return len(self.model.estimators_) if isinstance(self.model, Ensemble) else 1

    @property
    def splits_are_cheap(self) -> bool:
        """Whether copies for the folds of several splits can be fitted while nobody waits."""
        cold = not self.has_out_of_fold and not self.warm
        return cold and bool(self.fit_seconds) and SPLITS * FOLDS * min(self.fit_seconds) < self.patience

    @property
    def has_out_of_fold(self) -> bool:
        """Whether the model, when it was fitted, made out-of-fold predictions of its own."""
        return hasattr(self.model, "out_of_fold_proba_")

    def fit(self, books: Books, methods: tuple[str | None, ...]) -> None:
        """Fit the model to all labels, unless it is up to date; `methods` are those for which copies will be needed."""
        if self.predictions is not None:
            return
        if not books.ready:
            raise NotReady(books.missing)
        started = time.perf_counter()
        self.refit(books, self.round + 1)
        self.fit_seconds = [*self.fit_seconds, time.perf_counter() - started][-RECENT:]
        if self.warm:
            for method in get_args(Method):  # the copies continue with the model, used or not
                if method in methods or ("vector" in methods and method == "cross-fit"):
                    self.out_of_sample(method, books, protocol.predict_proba)
        self.seconds = {"fit": time.perf_counter() - started, "predict": 0.0, "select": 0.0}

    def refit(self, books: Books, number: int) -> None:
        """Fit the model to all labels as in round `number`."""
        try:
            self.model = protocol.fitted_copy(
                protocol.weighing_numbers(self.model, self.unfitted, books.classes.numbered),
                (take(self.items, books.pool.labelled), books.numbers),
                unlabelled=Subset(self.items, books.pool.open),
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
        self.look(len(books.classes))

    def look(self, classes: int) -> None:
        """Accept the model as fitted to the latest labels."""
        self.predictions = Predictions(self.model, self.items, classes, vectors=lambda: self.vectors)

    @cached_property
    def vectors(self) -> Floats | None:
        """(items, features): vectors of sparse items, texts and frames, computed once; None of others."""
        return item_vectors(self.items)

    def rng(self) -> np.random.Generator:
        """Return the round's generator, after the model's seed was drawn from it."""
        rng = np.random.default_rng([self.seed, max(self.round, 0)])
        _model_seed(rng)
        return rng

    def predict(self, items: Any) -> Floats:
        """Return raw predictions of any items, (rows, classes)."""
        items = as_items(items)
        return Predictions(self.model, items, self.fitted.classes).probs(np.arange(count_items(items)))

    def evidence(self, method: str, books: Books) -> Pairs:
        """Return predictions, by the model or by copies not fitted to them, and class numbers of the labelled items."""
        if method == "fitted":
            return self.fitted.scoring_probs(books.pool.labelled), books.numbers
        return self.out_of_sample(method, books, protocol.scoring_proba)  # type: ignore[arg-type]

    def out_of_fold(self, books: Books) -> Pairs:
        """Return out-of-fold predictions and class numbers of all labelled items, computed once in a round."""
        if self._out_of_fold is None or self._out_of_fold[0] != self.round:
            if self.has_out_of_fold:
                pairs: Pairs = protocol.out_of_fold_proba(self.model, len(books.classes)), books.numbers
            else:
                pairs = self.out_of_sample("cross-fit", books, protocol.predict_proba)
            self._out_of_fold = self.round, pairs
        return self._out_of_fold[1]

    def folds(self, labelled: Indices) -> Indices:
        """Return the fold of each labelled item in `out_of_fold`, (n,); one each if the model made them by itself."""
        return np.arange(len(labelled)) if self.has_out_of_fold else self.unseen.folds(labelled)

    def out_of_sample(self, method: Method, books: Books, predict: Predict) -> Pairs:
        """Return predictions, by copies of the model not fitted to them, and class numbers of labelled items."""
        return self.unseen.predict(
            method,
            *self._to_copy(books),
            fits=self.round + 1,
            classes=len(books.classes),
            rng=np.random.default_rng([self.seed, self.round, 1]),
            predict=predict,
        )

    def opinions(self, books: Books) -> Opinions | None:
        """Return what copies of several splits say, computed once in a round; None where that would take too long.

        The first split is that of `out_of_fold`.
        """
        if not self.splits_are_cheap or len(books.numbers) < FOLDS or len(books.pool.open) == 0:
            return None
        if self._opinions is None or self._opinions[0] != self.round:
            asked = np.sort(np.random.default_rng([self.seed, self.round, 6]).permutation(books.pool.open)[:ASKED])
            splits = [(self.unseen, [1]), *((OutOfSample(), [6, number]) for number in range(1, SPLITS))]
            said = [
                split.opinions(
                    *self._to_copy(books),
                    take(self.items, asked),
                    classes=len(books.classes),
                    rng=np.random.default_rng([self.seed, self.round, *purpose]),
                )
                for split, purpose in splits
            ]
            self._opinions = self.round, Opinions(*(np.stack(part) for part in zip(*said, strict=True)))
            self._out_of_fold = self.round, (said[0][0], books.numbers)
        return self._opinions[1]

    def _to_copy(self, books: Books) -> tuple[protocol.Model, LabelledPoints]:
        """Return the model as it was before its first fit, and the points that copies of it are fitted to."""
        labelled: Indices = books.pool.labelled
        open_items = Subset(self.items, books.pool.open)
        model = protocol.weighing_numbers(self.unfitted, self.unfitted, books.classes.numbered)
        return model, LabelledPoints(take(self.items, labelled), books.numbers, labelled, unlabelled=open_items)


def _model_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
