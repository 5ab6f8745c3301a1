"""What the strategies share that estimate the calibration error of every candidate from the labelled items."""

from dataclasses import dataclass

import numpy as np

from cusal._types import Indices, Keys
from cusal.calibration.estimator import Estimator
from cusal.calibration.pointwise import PointwiseError, estimate_errors, is_small
from cusal.errors import NotReady
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class _CalibrationStrategy(Strategy):
    """The base of strategies by estimated calibration error: the settings of the estimate, and the estimate itself."""

    bandwidth: float = 1e-3
    p: float = 1
    density_floor: float | None = 1e-10

    def __post_init__(self) -> None:
        _ = self.estimator  # its checks

    @property
    def estimator(self) -> Estimator:
        """The settings of the estimate as one record."""
        return Estimator(self.bandwidth, self.p, self.density_floor)

    def estimate(self, view: View) -> PointwiseError:
        """Return the estimate for every candidate; in a round it is computed once for each setting."""
        if self.density_floor is None and len(view.reference_labels) == 0:
            raise NotReady("without a density floor the calibration error needs labelled items; label some first.")
        return view.remember(  # type: ignore[no-any-return]
            ("estimate", self.estimator),
            lambda: estimate_errors(view.probs, view.reference_probs, view.reference_labels, self.estimator),
        )

    def top_error(self, view: View, count: int, *, tie_tolerance: float) -> tuple[Keys, float]:
        """Return (errors, cut): errors of `cut` and above, and their ties, are those of `estimate`.

        At least the `count` highest are among them. Errors that are provably lower are not computed: an upper bound
        below the cut stands in their place.
        """
        if len(view.reference_labels) == 0:
            return self.estimate(view).error, -np.inf
        if is_small(view.probs, view.reference_probs):
            return self._dense_error(view), -np.inf
        tops: dict[int, Keys] = view.remember(("top_error", self.estimator, tie_tolerance), dict)
        known = max(tops, default=0)
        if known < count:
            tops[count] = self._compute_top(view, count, tie_tolerance)
            known = count
        error = tops[known]
        return error, float(np.partition(error, len(error) - known)[len(error) - known])

    def explain(self, view: View, indices: Indices) -> Query:
        error = self.estimate(view).error
        return Query(indices, view.probs_of(indices), error[view.positions(indices)])

    def _compute_top(self, view: View, count: int, tie_tolerance: float) -> Keys:
        from cusal.calibration.compiled import kernels  # numba loads when it is first needed

        reference, labels = view.reference_probs, view.reference_labels
        with kernels():
            from cusal.calibration.top_k import top

            return top(view.probs, reference, labels, count, self.estimator, tie_tolerance=tie_tolerance)[0]

    def _dense_error(self, view: View) -> Keys:
        reference, labels = view.reference_probs, view.reference_labels
        return view.remember(  # type: ignore[no-any-return]
            ("dense error", self.estimator),
            lambda: estimate_errors(view.probs, reference, labels, self.estimator, tolerance=0).error,
        )
