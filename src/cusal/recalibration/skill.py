"""Whether labels show that a model is better than guessing by class frequency, and what that leaves of an estimate.

    q_k = (count_k + 1) / (n + K)
    R   = 1 - sum_i log max(p_i(y_i), .001) / sum_i log q(y_i)          skill over class frequencies
    u   = clip((.3 - R) / .2, 0, 1) (1 - share of the labels drawn at random)
    h   = mean over open items of q(predicted class)                    right if labels have nothing to do with items
    b   = max(h, out-of-fold accuracy - .15),   l0 = b - 1.645 sqrt(b (1 - b) / n)
    low <- min(low, u l0 + (1 - u) low),   high <- high - u / 4 max(0, high - estimate)
    estimate <- estimate - u / 4 max(0, estimate - h)

Where labels have nothing to do with items, out-of-fold predictions of picks still look good: a pick whose label
contradicts a region that the model is sure of gets that region asked about, one that agrees ends the asking, and what
is left looks separable. Copies of the model agree on it as well. So the estimate is doubted wherever the skill is
small, unless labels were drawn at random. Chosen on half of 7,400 states of sessions, confirmed on the other half.

| symbol | name |
|---|---|
| p, y | probs and labels of `Judged`, out of fold |
| u | doubt |
| h | guessing |
"""

from dataclasses import dataclass

import numpy as np

from cusal._types import Floats, Indices

NO_SKILL, RANGE = 0.3, 0.2
LEAST = 1e-3  # of a probability
SLACK = 0.15  # by which the accuracy of picks out of fold may be too high
SHARE = 0.25  # of the way to guessing by which the estimate and the upper end go down
NORMAL_90 = 1.645
DOUBTFUL, ENOUGH_DRAWN = 0.5, 20


@dataclass(frozen=True)
class Skill:
    """How far labels leave open whether the model is better than guessing by class frequency.

    doubt: from 0, it is, to 1. guessing: the share of the open items that is right if it is not. lowest: the low end
    of an interval that allows for it.
    """

    doubt: float
    guessing: float
    lowest: float

    def shows_nothing(self, drawn: int) -> bool:
        """Return whether users should be told to draw labels at random, of which `drawn` there are."""
        return self.doubt >= DOUBTFUL and drawn < ENOUGH_DRAWN

    def allowed_for(self, estimate: float, low: float, high: float) -> tuple[float, float, float]:
        """Return an estimate of the accuracy and its ends with the doubt in them."""
        lower = min(low, self.doubt * self.lowest + (1 - self.doubt) * low)
        upper = high - SHARE * self.doubt * max(0.0, high - estimate)
        return estimate - SHARE * self.doubt * max(0.0, estimate - self.guessing), max(0.0, lower), upper


def find_skill(probs: Floats, labels: Indices, open_probs: Floats, drawn: int) -> Skill:
    """Return the skill that labels (n,) show of out-of-fold predictions (n, classes), about open items (m, classes).

    drawn: how many of the labels were drawn at random.

    >>> find_skill(np.full((8, 2), 0.5), np.array([0, 1] * 4), np.full((3, 2), 0.5), drawn=0).doubt
    1.0
    """
    n, classes = probs.shape
    frequency = (np.bincount(labels, minlength=classes) + 1) / (n + classes)
    right = probs[np.arange(n), labels]
    skill = 1 - float(np.log(np.maximum(right, LEAST)).sum() / np.log(frequency[labels]).sum())
    doubt = float(np.clip((NO_SKILL - skill) / RANGE, 0, 1)) * (1 - drawn / n)
    guessing = float(frequency[open_probs.argmax(axis=1)].mean())
    base = max(guessing, float(np.mean(probs.argmax(axis=1) == labels)) - SLACK)
    return Skill(doubt, guessing, base - NORMAL_90 * float(np.sqrt(base * (1 - base) / n)))
