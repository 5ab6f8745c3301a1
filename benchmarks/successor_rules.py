"""Rules that were tried in place of `diverse_margin`, each a function of one round that returns k rows of the pool.

    m = p_(1) - p_(2);  S = the 10 k open items of smallest m;  z their vectors;  n labels;  K classes

Every rule but the first two begins where `diverse_margin` does: S, k-means, one item of each cluster.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.cluster import KMeans

from cusal._k_means import k_means

FACTOR = 10
SAMPLED = 400  # items of the pool over which variance is summed


@dataclass
class Round:
    """What a rule sees: the open rows, their probabilities, vectors of all rows, and the labelled rows."""

    open: np.ndarray
    probs: np.ndarray  # (open, classes)
    vectors: np.ndarray  # (pool, features)
    neighbours: np.ndarray  # (pool, 20), nearest first
    typical: np.ndarray  # (pool,) from 0, the least typical item, to 1
    labelled: np.ndarray
    recalibrated: (
        Callable[[], np.ndarray] | None
    )  # probabilities by out-of-fold temperature and offsets, (open, classes)
    pooled: Callable[[], tuple[np.ndarray, np.ndarray]]  # probabilities of PoolClassifier, and its vectors of all rows
    rng: np.random.Generator
    batch_size: int = 10

    @cached_property
    def margin(self) -> np.ndarray:
        return margin_of(self.probs)

    @cached_property
    def whole_margin(self) -> np.ndarray:
        """The margin of every row of the pool; 1 where the label is known."""
        whole = np.ones(len(self.vectors))
        whole[self.open] = self.margin
        return whole

    def shortlist(self, keys: np.ndarray, factor: int = FACTOR) -> np.ndarray:
        """Return the positions among the open items of the smallest keys, smallest first."""
        return np.argsort(keys, kind="stable")[: factor * self.batch_size]

    def points(self, positions: np.ndarray) -> np.ndarray:
        return self.vectors[self.open[positions]]


Rule = Callable[[Round], np.ndarray]  # positions among the open items, (batch_size,)


def margin_of(probs: np.ndarray) -> np.ndarray:
    two = np.partition(probs, -2, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]


def first_of_each(clusters: np.ndarray, count: int) -> np.ndarray:
    """Return the first row of each cluster, filled up with the first of the others."""
    _, first = np.unique(clusters, return_index=True)
    rest = np.setdiff1d(np.arange(len(clusters)), first)
    return np.sort(np.concatenate([first, rest[: count - len(first)]]))[:count]


def clustered(seen: Round, keys: np.ndarray, factor: int = FACTOR) -> np.ndarray:
    """Return the item of smallest key in each cluster of the shortlist."""
    chosen = seen.shortlist(keys, factor)
    return chosen[first_of_each(k_means(seen.points(chosen), seen.batch_size, rng=seen.rng), seen.batch_size)]


def margin(seen: Round) -> np.ndarray:
    return seen.shortlist(seen.margin, 1)


def diverse_margin(seen: Round) -> np.ndarray:
    return clustered(seen, seen.margin)


def honest_margin(seen: Round) -> np.ndarray:
    """Margins of recalibrated probabilities: temperature and class offsets from out-of-fold predictions."""
    return clustered(seen, margin_of(seen.recalibrated()))


def pooled_margin(seen: Round) -> np.ndarray:
    """Margins of PoolClassifier in place of the head's own, fitted to the same labels."""
    return clustered(seen, margin_of(seen.pooled()[0]))


def pooled_vectors(seen: Round) -> np.ndarray:
    """The head's own margins, k-means on PoolClassifier's vectors."""
    chosen = seen.shortlist(seen.margin)
    clusters = k_means(seen.pooled()[1][seen.open[chosen]], seen.batch_size, rng=seen.rng)
    return chosen[first_of_each(clusters, seen.batch_size)]


def pooled_both(seen: Round) -> np.ndarray:
    """Margins and vectors of PoolClassifier: what it would ask for itself."""
    probs, vectors = seen.pooled()
    chosen = seen.shortlist(margin_of(probs))
    clusters = k_means(vectors[seen.open[chosen]], seen.batch_size, rng=seen.rng)
    return chosen[first_of_each(clusters, seen.batch_size)]


def mixed_margin(seen: Round) -> np.ndarray:
    """The margin of the mean of both models' probabilities."""
    return clustered(seen, margin_of(seen.probs + seen.pooled()[0]))


def smoothed_margin(seen: Round) -> np.ndarray:
    """Half an item's margin, half the mean of its ten nearest items: unsure regions in place of unsure items."""
    around = seen.whole_margin[seen.neighbours[seen.open, :10]].mean(axis=1)
    return clustered(seen, (seen.margin + around) / 2)


def typical_first(seen: Round) -> np.ndarray:
    """Unsure and typical, (1 - m) t^a, with a from 1 at 20 labels to 0 at 120."""
    share = max(0.0, 1 - (len(seen.labelled) - 20) / 100)
    return clustered(seen, -(1 - seen.margin) * np.maximum(seen.typical[seen.open], 0.01) ** share)


def typical_share(seen: Round) -> np.ndarray:
    """Three of the ten items are the most typical ones of the clusters that hold least labels, for five rounds."""
    picks = diverse_margin(seen)
    if len(seen.labelled) >= 70:
        return picks
    clusters = k_means(seen.vectors, len(seen.labelled) + 10, rng=seen.rng)
    held = np.bincount(clusters[seen.labelled], minlength=clusters.max() + 1)[clusters[seen.open]]
    order = np.lexsort((-seen.typical[seen.open], held))
    _, first = np.unique(clusters[seen.open][order], return_index=True)
    typical = np.setdiff1d(order[np.sort(first)][:10], picks, assume_unique=True)[:3]
    return np.concatenate([picks[: seen.batch_size - len(typical)], typical])


def with_confusions(seen: Round) -> np.ndarray:
    """Clusters of vectors beside probabilities, both of mean squared norm one: by place and by which classes."""
    chosen = seen.shortlist(seen.margin)
    parts = [part - part.mean(axis=0) for part in (seen.points(chosen), seen.probs[chosen])]
    both = np.hstack([part / np.sqrt((part**2).sum(axis=1).mean() or 1.0) for part in parts])
    return chosen[first_of_each(k_means(both, seen.batch_size, rng=seen.rng), seen.batch_size)]


def scaled_by_doubt(seen: Round) -> np.ndarray:
    """Clusters of the vectors of three times as many items, scaled by 1 - m: sure items draw together at the centre."""
    chosen = seen.shortlist(seen.margin, 3 * FACTOR)
    points = seen.points(chosen) - seen.vectors.mean(axis=0)
    scaled = points * (1 - seen.margin[chosen])[:, None]
    return chosen[first_of_each(k_means(scaled, seen.batch_size, rng=seen.rng), seen.batch_size)]


def annealed(seen: Round) -> np.ndarray:
    """The shortlist shrinks with the labels, clip(20 K / n, 2, 10), and the lowest margin of each cluster is picked."""
    factor = int(np.clip(round(20 * seen.probs.shape[1] / len(seen.labelled)), 2, 10))
    return clustered(seen, seen.margin, factor)


def annealed_central(seen: Round) -> np.ndarray:
    """The same shortlist, k-means weighted by 1 - m, and the item nearest to each centre."""
    factor = int(np.clip(round(20 * seen.probs.shape[1] / len(seen.labelled)), 2, 10))
    chosen = seen.shortlist(seen.margin, factor)
    return chosen[central(seen, seen.points(chosen), 1 - seen.margin[chosen])]


def central(seen: Round, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the row nearest to each centre of weighted k-means."""
    if len(points) <= seen.batch_size:
        return np.arange(len(points))
    model = KMeans(seen.batch_size, n_init=1, max_iter=20, random_state=int(seen.rng.integers(2**31)))
    apart = model.fit_transform(points, sample_weight=np.maximum(weights, 1e-3))
    order = np.argsort(apart.min(axis=1), kind="stable")
    return order[first_of_each(model.labels_[order], seen.batch_size)]


def longer(seen: Round) -> np.ndarray:
    """A shortlist of twice the length."""
    return clustered(seen, seen.margin, 2 * FACTOR)


def shorter(seen: Round) -> np.ndarray:
    """A shortlist of half the length."""
    return clustered(seen, seen.margin, FACTOR // 2)


def away_from_labels(seen: Round) -> np.ndarray:
    """k-means in which the labelled items near the shortlist are centres that stay; picks are of the others."""
    chosen = seen.shortlist(seen.margin)
    points, fixed = seen.points(chosen), seen.vectors[seen.labelled]
    nearest = np.unique(squared(points, fixed).argmin(axis=1))
    fixed = fixed[nearest][: 2 * seen.batch_size]
    free = points[first_of_each(k_means(points, seen.batch_size, rng=seen.rng), seen.batch_size)]
    for _ in range(10):
        nearest = squared(points, np.vstack([free, fixed])).argmin(axis=1)
        means = [points[nearest == j].mean(axis=0) if (nearest == j).any() else free[j] for j in range(len(free))]
        free = np.stack(means)
    clusters = np.where(nearest < len(free), nearest, -1)
    rows = np.flatnonzero(clusters >= 0)
    first = rows[np.unique(clusters[rows], return_index=True)[1]] if len(rows) else rows
    rest = np.setdiff1d(np.arange(len(chosen)), first)
    return chosen[np.concatenate([first, rest])[: seen.batch_size]]


@dataclass(frozen=True)
class LessVariance:
    """Kernel ridge in closed form: each pick of S lowers most the variance of the pool, weighted by doubt, 1 - m.

    factor: of S. noise: of a label. weight, own: powers of the doubt of the pool's items and of the pick. linear: the
    share of the linear kernel, the rest being Gaussian. clustered: one pick from each cluster of `diverse_margin`.
    in_turn: each pick is known before the next is chosen. per_class: labels a class below which it is `diverse_margin`.
    `variance_reduction.py` has a factor of 5, `cluster_variance.py` is the rule of that name.
    """

    factor: int = FACTOR
    noise: float = 0.1
    weight: float = 1.0
    own: float = 1.0
    linear: float = 0.5
    clustered: bool = False
    in_turn: bool = True
    per_class: float = 0.0

    def __call__(self, seen: Round) -> np.ndarray:
        if len(seen.labelled) < self.per_class * seen.probs.shape[1]:
            return diverse_margin(seen)
        chosen = seen.shortlist(seen.margin, self.factor)
        clusters = k_means(seen.points(chosen), seen.batch_size, rng=seen.rng) if self.clustered else None
        rows = seen.open[seen.rng.permutation(len(seen.open))[:SAMPLED]]
        doubt = (1 - seen.whole_margin[rows]) ** self.weight
        points = seen.vectors - seen.vectors.mean(axis=0)
        points = points / np.sqrt((points**2).sum(axis=1).mean())
        every, known = points[np.concatenate([seen.open[chosen], rows])], points[seen.labelled]
        cross, own = self._kernel(every, known), self._kernel(every[: len(chosen)], every)
        solved = np.linalg.solve(self._kernel(known, known) + self.noise * np.eye(len(known)), cross.T)
        covariance = own - cross[: len(chosen)] @ solved  # (chosen, every)
        picks: list[int] = []
        free = np.ones(len(chosen), dtype=bool)
        for _ in range(seen.batch_size):
            variance = np.maximum(np.diag(covariance), 0) + self.noise
            gain = covariance[:, len(chosen) :] ** 2 @ doubt / variance * (1 - seen.margin[chosen]) ** self.own
            if not free.any():  # fewer clusters than picks
                free[:] = True
                free[picks] = False
            gain[~free] = -np.inf
            best = int(gain.argmax())
            picks.append(best)
            free[best if clusters is None else clusters == clusters[best]] = False
            if self.in_turn:
                covariance = covariance - np.outer(covariance[:, best], covariance[best]) / variance[best]
        return chosen[picks]

    def _kernel(self, points: np.ndarray, others: np.ndarray) -> np.ndarray:
        gaussian = np.exp(-squared(points, others) / 2)
        return self.linear * points @ others.T + (1 - self.linear) * gaussian


def squared(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return squared distances, (points, others)."""
    apart = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * points @ others.T
    return np.maximum(apart, 0)


def by_neighbours(seen: Round) -> np.ndarray:
    """The lowest mean rank of margin and distance to the centre within each cluster: unsure and central."""
    chosen = seen.shortlist(seen.margin)
    points = seen.points(chosen)
    clusters = k_means(points, seen.batch_size, rng=seen.rng)
    centres = np.stack([points[clusters == c].mean(axis=0) for c in np.unique(clusters)])
    apart = squared(points, centres).min(axis=1)
    order = np.argsort(np.argsort(apart) + np.arange(len(chosen)), kind="stable")
    return chosen[order[first_of_each(clusters[order], seen.batch_size)]]


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        margin,
        diverse_margin,
        smoothed_margin,
        with_confusions,
        typical_first,
        annealed,
        annealed_central,
        by_neighbours,
        scaled_by_doubt,
        away_from_labels,
        longer,
        shorter,
        typical_share,
        honest_margin,
        pooled_margin,
        pooled_vectors,
        pooled_both,
        mixed_margin,
    )
}
RULES |= {
    "less_variance": LessVariance(),
    "less_variance 5": LessVariance(5),
    "less_variance 20": LessVariance(20),
    "less_variance 30": LessVariance(30),
    "less_variance, noise 1": LessVariance(noise=1.0),
    "less_variance, noise .01": LessVariance(noise=0.01),
    "less_variance 5, noise 1": LessVariance(5, noise=1.0),
    "less_variance, weight 0": LessVariance(weight=0.0),
    "less_variance, weight 2": LessVariance(weight=2.0),
    "less_variance, own 0": LessVariance(own=0.0),
    "less_variance, own 3": LessVariance(own=3.0),
    "less_variance 20, own 3": LessVariance(20, own=3.0),
    "less_variance 30, own 3": LessVariance(30, own=3.0),
    "less_variance, linear": LessVariance(linear=1.0),
    "less_variance, Gaussian": LessVariance(linear=0.0),
    "less_variance 5, weight 2": LessVariance(5, weight=2.0),
    "less_variance 5, noise .03, weight 2": LessVariance(5, noise=0.03, weight=2.0),
    "less_variance, noise .01, weight 2": LessVariance(noise=0.01, weight=2.0),
    "less_variance 5, from two labels a class": LessVariance(5, per_class=2),
    "less_variance 5, from four labels a class": LessVariance(5, per_class=4),
    "clustered": LessVariance(clustered=True),
    "clustered 5": LessVariance(5, clustered=True),
    "clustered 20": LessVariance(20, clustered=True),
    "clustered, noise .01": LessVariance(noise=0.01, clustered=True),
    "clustered, noise 1": LessVariance(noise=1.0, clustered=True),
    "clustered, noise 3": LessVariance(noise=3.0, clustered=True),
    "clustered, weight 0": LessVariance(weight=0.0, clustered=True),
    "clustered, weight 2": LessVariance(weight=2.0, clustered=True),
    "clustered, own 3": LessVariance(own=3.0, clustered=True),
    "clustered, Gaussian": LessVariance(linear=0.0, clustered=True),
    "clustered, noise 1, Gaussian": LessVariance(noise=1.0, linear=0.0, clustered=True),
    "clustered 15, noise 1": LessVariance(15, noise=1.0, clustered=True),
    "clustered 20, noise 1": LessVariance(20, noise=1.0, clustered=True),
    "clustered at once, noise 1": LessVariance(noise=1.0, clustered=True, in_turn=False),
    "clustered at once, noise .3": LessVariance(noise=0.3, clustered=True, in_turn=False),
    "clustered at once, noise 3": LessVariance(noise=3.0, clustered=True, in_turn=False),
    "clustered at once 20, noise 1": LessVariance(20, noise=1.0, clustered=True, in_turn=False),
    "clustered at once, noise 1, weight 0": LessVariance(noise=1.0, weight=0.0, clustered=True, in_turn=False),
    "cluster_variance": LessVariance(noise=1.0, linear=0.0, clustered=True, in_turn=False),
}
