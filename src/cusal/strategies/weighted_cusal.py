"""Weighted CUSAL: a weighted mean of calibration error and uncertainty in place of the lexicographic order.

The three combinations that Bui, Maifeld-Carucci and Liu (2026) compare with their order:

    uniform    (c + u) / 2
    adaptive   alpha c + (1 - alpha) u
    scaled     (k alpha c + u) / (k alpha + 1)        alpha = mean of c over the pool

    c      error / 2, since the error lies in [0, 2] for every p >= 1 and the paper needs alpha in [0, 1]; the paper
           does not say that it halves: `halved=False` takes the error as it is, with alpha at most 1
    u      1 - max_k p_k
    k      `scale`; the paper tries 2 and 3
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from cusal._checks import as_positive
from cusal._types import Keys
from cusal.errors import UnknownName
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._calibration_strategy import _CalibrationStrategy
from cusal.strategies._view import View

Combination = Literal["uniform", "adaptive", "scaled"]


@dataclass(frozen=True)
class WeightedCusal(_CalibrationStrategy):
    """Take the items with the highest weighted mean of estimated calibration error and uncertainty.

    Parameters
    ----------
    bandwidth : float, default 1e-3
        Bandwidth of the Dirichlet kernel, at least 1e-7. The smaller it is, the closer a labelled prediction must be to
        count as evidence.
    p : float, default 1
        The power in the error, sum_k |ratio_k - q_k|^p; 1 or more.
    density_floor : float or None, default 1e-10
        Items whose kernel density is lower are unsupported. For p = 1 their errors tie. None estimates without a floor.
    combination : {"uniform", "adaptive", "scaled"}, default "scaled"
        How the weights are set: equal, by the pool's mean error, or by `scale` times that mean.
    scale : float, default 3
        For "scaled": how much the error counts. The paper tries 2 and 3.
    halved : bool, default True
        Whether the error, from 0 to 2, is halved before it is weighed against the uncertainty, from 0 to 1.

    Examples
    --------
    >>> import cusal
    >>> pool, labelled = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]
    >>> cusal.query(pool, labelled, [0, 1], batch_size=2, strategy="weighted_cusal", combination="uniform").indices
    array([2, 1])
    """

    for_whom: ClassVar[str] = "weighing calibration against uncertainty; with a light model worse than random items"

    combination: Combination = "scaled"
    scale: float = 3
    halved: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.combination, str) or self.combination not in get_args(Combination):
            raise UnknownName("combination", self.combination, get_args(Combination))
        as_positive(self.scale, "scale")

    def keys(self, view: View) -> Keys:
        """Return the weighted mean of error and uncertainty of each candidate, (n,)."""
        calibration = self.estimate(view).error / (2 if self.halved else 1)
        alpha = min(float(calibration.mean()), 1.0) if len(calibration) else 0.0
        match self.combination:
            case "uniform":
                weight = 0.5
            case "adaptive":
                weight = alpha
            case "scaled":
                weight = self.scale * alpha / (self.scale * alpha + 1)
        return weight * calibration + (1 - weight) * uncertainty.least_confidence(view.probs)
