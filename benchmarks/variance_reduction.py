"""Variance reduction: of the unsure items, those whose labels say most about the other unsure ones.

Cohn, Ghahramani and Jordan (1996) ask for the item whose label lowers the variance of all predictions most. Here the
variance is that of kernel regression on embeddings, in closed form, and it counts where the model is unsure:

    m(x) = p_(1)(x) - p_(2)(x)
    S    = the min(factor * k, n) items of smallest m;  U = 400 items at random
    K(x, y) = (z(x)'z(y) + exp(-|z(x) - z(y)|^2 / 2)) / 2
    C(x, y) = K(x, y) - K(x, L) (K(L, L) + s I)^-1 K(L, y)
    pick = argmax over S of (1 - m(x)) sum over u in U of (1 - m(u)) C(x, u)^2 / (C(x, x) + s)
    C(x, y) <- C(x, y) - C(x, pick) C(pick, y) / (C(pick, pick) + s),   k times

C is known before any label of the batch is, so that every pick makes room for others: items near a pick, or near a
labelled item, promise little. Items that resemble many unsure ones promise most.

| symbol | name |
|---|---|
| k | batch_size |
| n | len(view.candidates) |
| S | shortlist |
| U | sampled, at most SAMPLED |
| L | the labelled items, MOST_LABELLED of them at most |
| s | NOISE |
| z | embeddings around their mean, of mean squared norm 1 |
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from cusal._checks import as_count
from cusal._types import Floats, Indices
from cusal.errors import MissingMethod
from cusal.strategies._strategy import Strategy
from cusal.strategies._uncertainty import margin
from cusal.strategies._view import View
from cusal.strategies.margin import Margin

SAMPLED = 400
MOST_LABELLED = 2000
NOISE = 0.1
FARTHEST = 1000.0  # norm of a point
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class VarianceReduction(Strategy):
    """Unsure items that resemble many other unsure items, and neither each other nor what is labelled.

    Use it with a light model on features, tables or text. Where neither the model nor the items have embeddings it
    picks exactly as `Margin` does.

    Parameters
    ----------
    factor : int, default 5
        The picks are among `factor` times as many items as are asked for, those of smallest margin. With 1 the picks
        are those of `Margin`.

    Raises
    ------
    InvalidInput
        If `factor` is no whole number of at least 1.

    Examples
    --------
    >>> probs = np.array([[0.5, 0.5], [0.51, 0.49], [0.6, 0.4], [0.9, 0.1]])
    >>> embeddings = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> view = View.of_arrays(np.arange(4), np.random.default_rng(0), probs=probs, embeddings=embeddings)
    >>> VarianceReduction().query(view, 2).indices
    array([0, 2])
    """

    for_whom: ClassVar[str] = "light models on tables and features with few classes"

    factor: int = 5

    def __post_init__(self) -> None:
        as_count(self.factor, "factor")

    def select(self, view: View, batch_size: int) -> Indices:
        shortlist = Margin().select(view, min(self.factor * batch_size, len(view.candidates)))
        if batch_size == len(shortlist):
            return shortlist
        sampled = view.candidates
        if len(sampled) > SAMPLED:
            sampled = np.sort(view.rng.choice(sampled, SAMPLED, replace=False))
        try:
            points = [view.embeddings_of(shortlist), view.embeddings_of(sampled), _labelled(view)]
        except MissingMethod:
            return shortlist[:batch_size]
        variance = _Variance(*_scaled(points), weights=margin(view.probs_of(sampled)))
        return shortlist[variance.picks(margin(view.probs_of(shortlist)), batch_size)]


def _labelled(view: View) -> Floats:
    """Return the embeddings of the labelled items, of a part of them if they are many; of none if none are known."""
    try:
        points = view.reference_embeddings
    except MissingMethod:
        return view.embeddings_of(view.candidates[:0])
    if len(points) <= MOST_LABELLED:
        return points
    return points[view.rng.choice(len(points), MOST_LABELLED, replace=False)]


def _scaled(parts: list[Floats]) -> list[Matrix]:
    """Return points around the mean of the second part, in units of its mean squared norm.

    The unit is larger where a point lies a thousand times as far out: the kernel matrix would lose its precision.
    """
    largest = max(float(np.abs(part).max(initial=0.0)) for part in parts) or 1.0
    small = [np.asarray(part, dtype=np.float64) / largest for part in parts]
    centred = [part - small[1].mean(axis=0) for part in small]
    squares = [np.square(part).sum(axis=1) for part in centred]
    farthest = max(float(square.max(initial=0.0)) for square in squares)
    unit = np.sqrt(max(float(squares[1].mean()), farthest / FARTHEST**2))
    return [part / unit if unit > 0 else part for part in centred]


class _Variance:
    """The posterior covariance of candidates (n, d) with sampled items (u, d), given labelled ones (m, d)."""

    def __init__(self, candidates: Matrix, sampled: Matrix, labelled: Matrix, *, weights: Matrix) -> None:
        self._candidates, self._weights = candidates, weights
        factor = cholesky(_kernel(labelled, labelled) + NOISE * np.eye(len(labelled)), lower=True)
        self._known = solve_triangular(factor, _kernel(labelled, candidates), lower=True)  # (m, n)
        known_sampled = solve_triangular(factor, _kernel(labelled, sampled), lower=True)
        self._covariance = _kernel(candidates, sampled) - self._known.T @ known_sampled  # (n, u)
        own = (np.square(candidates).sum(axis=1) + 1) / 2
        self._variance = own - np.square(self._known).sum(axis=0)  # (n,)

    def picks(self, doubt: Matrix, count: int) -> Indices:
        """Return the rows of `count` candidates, each the one that lowers the weighted variance most."""
        chosen = np.empty(count, dtype=np.int64)
        open_rows = np.ones(len(doubt), dtype=np.bool_)
        for number in range(count):
            noisy = np.maximum(self._variance, 0) + NOISE
            gain = doubt * (np.square(self._covariance) @ self._weights) / noisy
            chosen[number] = row = int(np.where(open_rows, gain, -np.inf).argmax())
            open_rows[row] = False
            self._learn(row, float(noisy[row]))
        return chosen

    def _learn(self, row: int, noisy: float) -> None:
        """Take a candidate for labelled."""
        column = _kernel(self._candidates, self._candidates[row : row + 1])[:, 0] - self._known.T @ self._known[:, row]
        column /= np.sqrt(noisy)
        sampled = self._covariance[row] / np.sqrt(noisy)
        self._covariance -= np.outer(column, sampled)
        self._variance -= np.square(column)
        self._known = np.vstack([self._known, column])


def _kernel(left: Matrix, right: Matrix) -> Matrix:
    """Return half the inner products and half a Gaussian kernel, (left, right)."""
    products = left @ right.T
    apart = np.square(left).sum(axis=1)[:, None] + np.square(right).sum(axis=1) - 2 * products
    return np.asarray((products + np.exp(-np.maximum(apart, 0) / 2)) / 2)
