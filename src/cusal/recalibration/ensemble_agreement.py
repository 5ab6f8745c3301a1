"""The temperature at which an ensemble is as confident as its members agree.

    mean over x of max_c softmax(log p(x) / T)_c  =  mean over x and pairs of members of [argmax p_a(x) = argmax p_b(x)]

Networks that differ by their seeds alone agree on about as many new items as each of them gets right (Jiang, Nagarajan,
Baek and Kolter 2022, Assessing Generalization of SGD via Disagreement, ICLR). So the open items themselves show how
confident the ensemble may be, without a label.

| symbol | name |
|---|---|
| p_a | a row of `members` |
| p | the ensemble's prediction, the mean of all p_a |
| T | what `agreement_temperature` returns |
"""

import math
from itertools import combinations

import numpy as np
from scipy.optimize import brentq

from cusal._types import Floats
from cusal.recalibration.temperature import LOG_BOUNDS, apply_temperature


def agreement_temperature(members: Floats) -> float:
    """Return the temperature between exp(-1.5) and exp(3) at which the mean confidence is nearest to the agreement.

    members: the probabilities of each member, (members, n, classes), of items that they were not fitted to.

    >>> members = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.7, 0.3]]])  # they agree on one item of two
    >>> agreement_temperature(members) > 5
    True
    """
    answers, mean = members.argmax(axis=2), members.mean(axis=0)
    agreement = float(np.mean([(answers[a] == answers[b]).mean() for a, b in combinations(range(len(answers)), 2)]))

    def excess(log_temperature: float) -> float:
        return float(apply_temperature(mean, math.exp(log_temperature)).max(axis=1).mean()) - agreement

    lowest, highest = LOG_BOUNDS
    if excess(lowest) <= 0:  # confidence falls as the temperature rises
        return math.exp(lowest)
    if excess(highest) >= 0:
        return math.exp(highest)
    return math.exp(brentq(excess, lowest, highest, xtol=1e-6))
