"""How much harder labelled items are than open ones of equal confidence, by how often copies of a model disagree.

    T(S)  minimises  sum over i in S and pairs of copies (a, b) of  w_i (-log softmax(z_ai / T)[c_bi])
    h     = 2 k max(0, log T(labelled) - log T(open))

| symbol | name |
|---|---|
| z_ai | log probabilities of item i by copy a, which was not fitted to it |
| c_bi | the class that copy b holds the most likely; b is of another split into folds |
| w_i | `weights`; all the same for open items |
| k | share of the weight of picks whose class has a label in each fold |
| h | what `hardness` returns: what to take from the log temperature that labelled items ask for |

An item was picked because a model was unsure of it. So among items that the model is now equally confident of, a pick
is a hard one, and a temperature fitted to picks comes out too high for the rest. Labels of open items would show by
how much. Without them, disagreement does: where two copies contradict each other more often than at the same
confidence on open items, the items are harder. Disagreement shows the part of it that other labels would mend, not
what no label mends: hence the factor, which was chosen on eleven tasks (docs/few-labels.md). A copy that has met no
label of a class disagrees for that reason alone: hence k.
"""

import numpy as np

from cusal._types import Floats, Indices
from cusal.recalibration.out_of_sample import FOLDS
from cusal.recalibration.scaling import fit_scaling

FACTOR = 2.0


def hardness(labelled: Floats, open_probs: Floats, labels: Indices, weights: Floats, picked: Indices) -> float:
    """Return what to take from the log temperature of labelled items, 0 or more.

    labelled: what copies of several splits say of labelled items, (splits, n, classes), each fitted without the item.
    open_probs: what they say of open items, (splits, folds, m, classes). labels, weights: of the labelled items, (n,).
    picked: the positions of those that a strategy chose.

    >>> rng = np.random.default_rng(0)
    >>> easy, split = np.array([0.9, 0.1]), rng.integers(2, size=(3, 100))
    >>> hard = np.where(split[:, :, None] == 0, easy, easy[::-1])  # as sure of one class as of the other
    >>> labels, ones = np.arange(100) % 2, np.ones(100)
    >>> bool(hardness(hard, np.tile(easy, (3, 5, 50, 1)), labels, ones, np.arange(100)) > 1)
    True
    """
    splits, _, count, classes = open_probs.shape
    if count == 0 or len(picked) == 0:
        return 0.0
    known = np.bincount(labels, minlength=classes)[labels] >= FOLDS
    share = weights[picked][known[picked]].sum() / weights.sum()
    if share == 0:
        return 0.0
    others = np.roll(np.arange(splits), -1)  # the split that each is set against
    own = _log_temperature(labelled, labelled[others], weights)
    other = _log_temperature(
        open_probs.reshape(splits, -1, classes),
        open_probs[others].reshape(splits, -1, classes),
        np.full(open_probs.shape[1] * count, weights.sum() / (open_probs.shape[1] * count)),
    )
    return float(FACTOR * share * max(0.0, own - other))


def _log_temperature(probs: Floats, others: Floats, weights: Floats) -> float:
    """Return the log temperature by which probs (splits, n, classes) fit the classes of others; weights: (n,)."""
    splits, _, classes = probs.shape
    fitted = fit_scaling(
        probs.reshape(-1, classes),
        others.argmax(axis=2).ravel(),
        weights=np.tile(weights / splits, splits),
        with_offsets=False,
    )
    return float(np.log(fitted.temperature))
