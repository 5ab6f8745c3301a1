"""The settings of the kernel estimate of the calibration error, as one record."""

from dataclasses import dataclass

from cusal._checks import as_positive

# Below this, the rounding of the kernel's constants, about 1e-16 / bandwidth, approaches the tolerance of ties.
SMALLEST_BANDWIDTH = 1e-7


@dataclass(frozen=True)
class Estimator:
    """The settings by which the calibration error of a prediction is estimated from labelled points.

    Parameters
    ----------
    bandwidth : float, default 1e-3
        Bandwidth of the Dirichlet kernel, at least 1e-7. The smaller it is, the closer a labelled prediction must be
        to count as evidence.
    p : float, default 1
        The power in the error, sum_k |ratio_k - q_k|^p; 1 or more.
    density_floor : float or None, default 1e-10
        A point whose kernel density is lower is unsupported: there is no labelled evidence near it. None estimates
        without a floor.

    Raises
    ------
    InvalidInput
        If a setting is out of its range.

    Examples
    --------
    >>> Estimator(bandwidth=0.01)
    Estimator(bandwidth=0.01, p=1, density_floor=1e-10)
    """

    bandwidth: float = 1e-3
    p: float = 1
    density_floor: float | None = 1e-10

    def __post_init__(self) -> None:
        as_positive(self.bandwidth, "bandwidth", least=SMALLEST_BANDWIDTH)
        as_positive(self.p, "p", least=1)
        if self.density_floor is not None:
            as_positive(self.density_floor, "density_floor")
