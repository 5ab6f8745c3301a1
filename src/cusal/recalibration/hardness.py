"""How much harder labelled items are than open ones of equal confidence, by how often copies of a model disagree.

    T(S)  minimises  sum over i in S and pairs of copies (a, b) of  w_i (-log softmax(z_ai / T)[c_bi])
    h     = 2 k max(0, log T(labelled) - log T(open))
    e     = clip((D / E - .55) / .2, 0, 1)

| symbol | name |
|---|---|
| z_ai | log probabilities of item i by copy a, which was not fitted to it |
| c_bi | the class that copy b holds the most likely; b is of another split into folds |
| w_i | `weights`; all the same for open items |
| k | share of the weight of picks whose class has a label in each fold |
| D, E | shares of the labelled items' weight on which two copies disagree, and on which a copy errs |
| h | `log_temperature`: what to take from the log temperature that labelled items ask for |
| e | `explained`: how much of it is taken from one above 0 |

An item was picked because a model was unsure of it. So among items that the model is now equally confident of, a pick
is a hard one, and a temperature fitted to picks comes out too high for the rest. Labels of open items would show by
how much. Without them, disagreement does: where two copies contradict each other more often than at the same
confidence on open items, the items are harder. Disagreement shows the part of it that other labels would mend, not
what no label mends: hence the factor 2. A copy that has met no label of a class disagrees for that reason alone: hence
k.

Where classes overlap, a model errs on picks and on all other items alike, and its copies agree on what they get wrong:
then a high temperature is right. So one above 1 is lowered only as far as copies disagree about as often as they err.
One below 1 was not raised by overlap. The factor and the two limits were chosen on the tasks that results/few-labels.md
names.
"""

import math
from typing import NamedTuple

import numpy as np

from cusal._types import Floats, Indices
from cusal.recalibration.out_of_sample import FOLDS
from cusal.recalibration.scaling import LOG_BOUNDS, fit_scaling

FACTOR = 2.0
NOTHING, ALL = 0.55, 0.75  # disagreements for each error that explain nothing of a temperature above 1, or all


class Hardness(NamedTuple):
    """What hard items add to a log temperature, and how much of that explains one above 0, from 0 to 1."""

    log_temperature: float = 0.0
    explained: float = 1.0

    def taken_from(self, temperature: float) -> float:
        """Return the temperature for items that are not as hard."""
        share = self.explained if temperature > 1 else 1.0
        return max(temperature * math.exp(-share * self.log_temperature), math.exp(LOG_BOUNDS[0]))


NO_HARDNESS = Hardness()


def find_hardness(labelled: Floats, open_probs: Floats, labels: Indices, weights: Floats, picked: Indices) -> Hardness:
    """Return how hard labelled items are beside open ones.

    labelled: what copies of several splits say of labelled items, (splits, n, classes), each fitted without the item.
    open_probs: what they say of open items, (splits, folds, m, classes). labels, weights: of the labelled items, (n,).
    picked: the positions of those that a strategy chose.

    >>> rng = np.random.default_rng(0)
    >>> easy, split = np.array([0.9, 0.1]), rng.integers(2, size=(3, 100))
    >>> hard = np.where(split[:, :, None] == 0, easy, easy[::-1])  # as sure of one class as of the other
    >>> labels, ones = np.arange(100) % 2, np.ones(100)
    >>> find_hardness(hard, np.tile(easy, (3, 5, 50, 1)), labels, ones, np.arange(100)).log_temperature > 1
    True
    """
    splits, _, count, classes = open_probs.shape
    if count == 0 or len(picked) == 0:
        return NO_HARDNESS
    known = np.bincount(labels, minlength=classes)[labels] >= FOLDS
    share = weights[picked][known[picked]].sum() / weights.sum()
    if share == 0:
        return NO_HARDNESS
    others = np.roll(np.arange(splits), -1)  # the split that each is set against
    own = _log_temperature(labelled, labelled[others], weights)
    other = _log_temperature(
        open_probs.reshape(splits, -1, classes),
        open_probs[others].reshape(splits, -1, classes),
        np.full(open_probs.shape[1] * count, weights.sum() / (open_probs.shape[1] * count)),
    )
    answers = labelled.argmax(axis=2)  # (splits, n)
    disagreements = float(((answers != answers[others]) @ weights).sum())
    errors = float(((answers != labels) @ weights).sum())
    explained = 1.0 if errors == 0 else float(np.clip((disagreements / errors - NOTHING) / (ALL - NOTHING), 0, 1))
    return Hardness(float(FACTOR * share * max(0.0, own - other)), explained)


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
