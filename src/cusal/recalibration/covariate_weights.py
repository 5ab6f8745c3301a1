"""What out-of-fold evidence weighs under covariate shift, so that it looks like the open items.

    r(x) = log of the squared distance from x to the nearest item that its model was fitted to
    w(x) = P(open | r(x)) / P(labelled | r(x)), between 1 / 5 and 5

P is a logistic regression between both groups, each with the same total weight. Picks that are spread out lie far
from one another. The copy that has not seen one knows nothing near it, whereas most open items have a labelled item
near: at equal weights the copies look worse than the model is, and the temperature comes out too high.

| symbol | name |
|---|---|
| r of a labelled item | to those of other folds |
| r of an open item | to all labelled items |
| w | what `covariate_weights` returns |
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from cusal._spread import as_points, nearest_centre, row_squares
from cusal._types import Floats, Indices

MOST = 5.0
LEAST_DISTANCE = 1e-12  # squared, in units of the mean: equal items have distance 0
PENALTY = 1.0  # of the slope
Distances = NDArray[np.float64]


def covariate_weights(points: Floats, folds: Indices, open_points: Floats) -> NDArray[np.float64]:
    """Return what each labelled item weighs as evidence about the open ones, (n,), between 1/5 and 5.

    points: vectors of the labelled items, (n, features). folds: the fold of each, (n,). open_points: vectors of open
    items, (m, features).

    >>> points, open_points = np.array([[0.0], [0.1], [5.0], [5.1], [99.0]]), np.array([[0.2], [4.9], [5.2]])
    >>> weights = covariate_weights(points, np.array([0, 1, 0, 1, 0]), open_points)
    >>> bool(weights[4] < weights[0])
    True
    """
    if len(np.unique(folds)) < 2 or len(open_points) == 0:
        return np.ones(len(points))
    centre = open_points.mean(axis=0, dtype=np.float64)
    unit = max(float(np.abs(part - centre).max(initial=0.0)) for part in (points, open_points)) or 1.0
    points, open_points = (as_points((part - centre) / unit) for part in (points, open_points))
    own = np.empty(len(points))
    for fold in np.unique(folds):
        inside, outside = folds == fold, folds != fold
        own[inside] = _apart(points[inside], points[outside])
    both = np.concatenate([own, _apart(open_points, points)])
    if not both.any():
        return np.ones(len(points))
    logs = np.log(both / both.mean() + LEAST_DISTANCE)
    spread = float(logs.std())
    if spread == 0:
        return np.ones(len(points))
    odds = _odds((logs - logs.mean()) / spread, len(points))
    return np.clip(odds[: len(points)], 1 / MOST, MOST)


def _apart(points: Floats, others: Floats) -> Distances:
    """Return the squared distance of each point to the nearest of others, (points,)."""
    return np.maximum(nearest_centre(points, row_squares(points), others), 0)


def _odds(values: Distances, labelled: int) -> Distances:
    """Return the odds that each value (n,) is that of an open item; the first `labelled` are not."""
    is_open = np.arange(len(values)) >= labelled
    weights = len(values) / 2 / np.where(is_open, len(values) - labelled, labelled)

    def loss(line: Distances) -> tuple[float, Distances]:
        score = line[0] * values + line[1]
        wrong = weights * (expit(score) - is_open)
        value = weights @ (np.logaddexp(0, score) - score * is_open) + PENALTY / 2 * line[0] ** 2
        return float(value), np.array([wrong @ values + PENALTY * line[0], wrong.sum()])

    slope, shift = minimize(loss, np.zeros(2), jac=True, method="BFGS").x
    return np.asarray(np.exp(np.clip(slope * values + shift, -30, 30)))
