"""The settings of the kernel estimate of the calibration error, as one record."""

from dataclasses import dataclass

from cusal._checks import as_positive

# Below it, the rounding of the kernel's constants, about 1e-16 / bandwidth, nears the tolerance of ties.
SMALLEST_BANDWIDTH = 1e-7


@dataclass(frozen=True)
class Estimator:
    """How the calibration error of a prediction is estimated from labelled points.

    Parameters
    ----------
    bandwidth : float, default 1e-3
        Of the Dirichlet kernel, at least 1e-7. A smaller one looks at nearer predictions only.
    p : float, default 1
        The power of the error, 1 or more.
    density_floor : float or None, default 1e-10
        A point of lower density is unsupported. None estimates without a floor.

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
