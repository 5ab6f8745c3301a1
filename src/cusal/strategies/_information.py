"""How much labels reveal about the model: the mutual information between labels and the model's parameters.

    I(y; w) = H(E_w p(y | w)) - E_w H(p(y | w))

for one item (Houlsby et al. 2011; Gal et al. 2017) and for several together (Kirsch et al. 2019), with the
expectation over models drawn from the posterior.

    p(y | w)  sampled_probs (items, samples, classes)
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from cusal._types import Floats, Indices

TILE_NUMBERS = 2 << 20  # in one block: 16 MB of float64


def mutual_information(sampled_probs: Floats) -> NDArray[np.float64]:
    """Return the mutual information of each item's label with the model, (items,)."""
    information = np.empty(len(sampled_probs))
    for rows in _tiles(len(sampled_probs), sampled_probs[0].size if len(sampled_probs) else 1):
        tile = sampled_probs[rows].astype(np.float64)
        information[rows] = entr(tile.mean(axis=1)).sum(axis=1) - entr(tile).sum(axis=2).mean(axis=1)
    return information


class JointInformation:
    """The mutual information of the chosen labels and one more, as items are chosen one by one.

    Configurations of the chosen labels are enumerated while there are at most `configurations` of them. After
    that, as many are drawn from the model, in equal shares from each of its samples, and each is extended item
    by item.
    """

    def __init__(self, sampled_probs: Floats, configurations: int, rng: np.random.Generator) -> None:
        self.probs = sampled_probs.astype(np.float64)
        self.limit = max(configurations, self.probs.shape[1])
        self.rng = rng
        self.conditional = entr(self.probs).sum(axis=2).mean(axis=1)  # (items,) E_w H(p(y | w))
        self.chosen: list[int] = []
        self.exact = True
        self.joint = np.ones((1, self.probs.shape[1]))  # (configurations, samples): p(labels | w), rows scaled by:
        self.log_scale = np.zeros(1)
        self.origin = np.zeros(0, dtype=np.int64)  # (configurations,) the model sample each was drawn from

    def of_each(self) -> NDArray[np.float64]:
        """Return the information of the chosen items together with each item, (items,)."""
        joint_entropy = np.empty(len(self.probs))
        samples, classes = self.probs.shape[1:]
        density = self.joint.mean(axis=1)  # (configurations,) p(labels) up to the scale
        weight = np.exp(self.log_scale) if self.exact else 1 / (len(density) * density)
        for rows in _tiles(len(self.probs), len(self.joint) * classes):
            tile = self.probs[rows].transpose(1, 0, 2).reshape(samples, -1)  # (samples, tile * classes)
            extended = self.joint @ tile / samples  # (configurations, tile * classes): p(labels, y), scaled
            surprise = entr(extended) - extended * self.log_scale[:, None]
            joint_entropy[rows] = (weight @ surprise).reshape(-1, classes).sum(axis=1)
        information: NDArray[np.float64] = joint_entropy - self.conditional - self.conditional[self.chosen].sum()
        return information

    def add(self, row: int) -> None:
        """Add an item to the chosen ones."""
        self.chosen.append(row)
        classes = self.probs.shape[2]
        if self.exact and len(self.joint) * classes <= self.limit:
            extended = self.joint[:, None, :] * self.probs[row].T[None]  # (configurations, classes, samples)
            self.joint = extended.reshape(-1, self.probs.shape[1])
            self.log_scale = np.zeros(len(self.joint))
            return
        if self.exact:
            self._start_drawing()
            for earlier in self.chosen[:-1]:
                self._draw(earlier)
        self._draw(row)

    def _start_drawing(self) -> None:
        self.exact = False
        samples = self.probs.shape[1]
        self.origin = np.arange(self.limit) % samples
        self.joint = np.ones((self.limit, samples))
        self.log_scale = np.zeros(self.limit)

    def _draw(self, row: int) -> None:
        """Draw a label for each configuration from the model sample it came from."""
        cumulated = np.cumsum(self.probs[row], axis=1)  # (samples, classes)
        threshold = self.rng.random(self.limit) * cumulated[self.origin, -1]
        labels = (cumulated[self.origin] <= threshold[:, None]).sum(axis=1)
        self.joint *= self.probs[row][:, labels].T
        largest = self.joint.max(axis=1)  # above zero: its own model sample gave the label a positive probability
        self.joint /= largest[:, None]
        self.log_scale += np.log(largest)


def _tiles(rows: int, numbers_per_row: int) -> list[slice]:
    step = max(1, TILE_NUMBERS // max(1, numbers_per_row))
    return [slice(start, start + step) for start in range(0, rows, step)]


def greedy_joint(sampled_probs: Floats, count: int, *, configurations: int, rng: np.random.Generator) -> Indices:
    """Return `count` rows, each adding most to the information of those before it; equal ones go by row."""
    information = JointInformation(sampled_probs, configurations, rng)
    chosen = np.empty(count, dtype=np.int64)
    for i in range(count):
        scores = information.of_each()
        scores[chosen[:i]] = -np.inf
        chosen[i] = int(np.argmax(scores))
        information.add(int(chosen[i]))
    return chosen
