"""Every strategy of cusal as a heuristic of baal (2.1.0).

baal hands a heuristic the predictions of the pool, (items, classes, samples), and nothing else. Strategies that compare
with labelled items, or that need embeddings, are handed these by `update` before each step.
"""

import sys
import types
from typing import Any

import numpy as np
from baal.active.heuristics import AbstractHeuristic
from baal.utils.array_utils import to_prob
from numpy.typing import NDArray

from cusal import strategies
from cusal._checks import as_array, as_count, as_labels
from cusal._types import Floats, Indices
from cusal.adapters._utilities import ranked
from cusal.errors import InvalidInput
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import ArrayAnswers, View


class BaalHeuristic(AbstractHeuristic):  # type: ignore[misc]
    """A strategy of cusal as the `heuristic` of baal's `ActiveLearningLoop`.

    The mean over the samples is the prediction, and the samples serve strategies such as "bald". Where no embeddings
    are handed over, the square roots of the predictions stand for them, as in `cusal.query`.

    Parameters
    ----------
    strategy : str or Strategy, default "cusal"
        A name, or an object such as `cusal.strategies.Cusal(bandwidth=0.01)`.
    query_size : int, default 100
        How many items are labelled in a step, the same as the loop's: those of a strategy that builds its batch jointly
        come first, and all others follow in the order of the pool.
    seed : int, default 0
        Seed of every random choice, together with the number of labelled items.

    Examples
    --------
    >>> heuristic = BaalHeuristic("cusal", query_size=2)
    >>> heuristic.update(np.array([[0.9, 0.1], [0.1, 0.9]]), [0, 1])
    >>> ranks, uncertainty = heuristic.get_ranks(np.array([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]))
    >>> ranks
    array([2, 1, 0])
    """

    def __init__(self, strategy: str | Strategy = "cusal", *, query_size: int = 100, seed: int = 0) -> None:
        super().__init__(reverse=True)
        self.strategy, self.seed = strategies.make(strategy), seed
        self.query_size = as_count(query_size, "query_size")
        self._labelled: tuple[Floats, Any] | None = None
        self._embeddings: tuple[Floats, Floats] | None = None

    def update(self, predictions: Any, labels: Any, *, embeddings: Any = None, labelled_embeddings: Any = None) -> None:
        """Take what is known about the labelled items; call it after each training, before `loop.step()`.

        Parameters
        ----------
        predictions : (n, classes) or (n, classes, samples) array
            The model's predictions of the labelled items, as `predict_on_dataset` returns them.
        labels : (n,) integers
            Their class numbers.
        embeddings : (pool, features) array, optional
            Vectors of the items in the pool, for strategies such as "badge".
        labelled_embeddings : (n, features) array, optional
            Vectors of the labelled items.

        Raises
        ------
        InvalidInput
            If one kind of embeddings is given without the other, or labels do not fit.
        """
        probs, _ = _as_probs(predictions)
        if (embeddings is None) != (labelled_embeddings is None):
            raise InvalidInput("embeddings and labelled_embeddings go together; give both, or neither.")
        self._labelled = probs, as_labels(labels, count=len(probs), classes=probs.shape[1])
        self._embeddings = None if embeddings is None else (as_array(embeddings), as_array(labelled_embeddings))

    def get_ranks(self, predictions: Any, target_predictions: Any = None) -> tuple[Indices, NDArray[np.float64]]:
        """Return the positions of the whole pool, best first, and the utilities (pool,).

        Parameters
        ----------
        predictions : (pool, classes) or (pool, classes, samples) array, or a generator of such parts
            Probabilities or logits.
        target_predictions : None
            Not used; baal has it for EPIG.

        Returns
        -------
        ranks : (pool,) array
            Positions in the pool.
        utilities : (pool,) array
            The highest is labelled first.
        """
        view = self._view(predictions)
        picks, utilities = ranked(self.strategy, view, min(self.query_size, len(view.candidates)))
        rest = np.setdiff1d(view.candidates, picks)
        return np.concatenate([picks, rest[np.argsort(-utilities[rest], kind="stable")]]), utilities

    def compute_score(self, predictions: Any, target_predictions: Any = None) -> NDArray[np.float64]:
        """Return the utilities (pool,) of predictions; the highest is labelled first."""
        return self.get_ranks(predictions)[1]

    def _view(self, predictions: Any) -> View:
        if isinstance(predictions, types.GeneratorType):
            predictions = np.concatenate([as_array(part) for part in predictions])
        probs, samples = _as_probs(predictions)
        known, labels = self._labelled or (np.empty((0, probs.shape[1])), np.empty(0, dtype=np.int64))
        if known.shape[1] != probs.shape[1]:
            raise InvalidInput(
                f"the pool has predictions of {probs.shape[1]} classes, the labelled items of {known.shape[1]}; update "
                "with predictions of the same model."
            )
        embeddings, known_embeddings = self._embeddings or (np.sqrt(probs), np.sqrt(known))
        if len(embeddings) != len(probs):
            raise InvalidInput(
                f"{len(embeddings)} embeddings were given for {len(probs)} items in the pool; update after each step."
            )
        pool = np.arange(len(probs))
        answers = _AllSamples(
            pool,
            probs=probs,
            reference=(known, labels),
            embeddings=embeddings,
            reference_embeddings=known_embeddings,
            sampled_probs=samples,
        )
        return View(pool, np.random.default_rng([self.seed, len(labels)]), answers)


class _AllSamples(ArrayAnswers):
    """Arrays of which a strategy gets all samples: how many there are is said to baal, not to the strategy."""

    def sampled_probs(self, indices: Indices, samples: int) -> Floats:
        return super().sampled_probs(indices, sys.maxsize)


def _as_probs(predictions: Any) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the mean prediction (n, classes) and the samples (n, samples, classes) of logits or probabilities."""
    if isinstance(predictions, list | tuple) and len(predictions) == 1:
        predictions = predictions[0]
    given = as_array(predictions).astype(np.float64)
    if given.ndim not in (2, 3):
        raise InvalidInput(f"predictions have shape {given.shape}; expected (items, classes) or with samples last.")
    probs = to_prob(given)
    probs = probs / probs.sum(axis=1, keepdims=True)
    return (probs, None) if probs.ndim == 2 else (probs.mean(axis=2), probs.transpose(0, 2, 1))
