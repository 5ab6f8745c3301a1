"""What the strategies share that estimate the calibration error of every candidate from the labelled items."""

from dataclasses import dataclass

from cusal._types import Indices, Keys
from cusal.calibration.estimator import Estimator
from cusal.calibration.pointwise import Evidence, PointwiseError, estimate_errors, is_small
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
            lambda: self._evidence(view).errors(view.probs),
        )

    def _evidence(self, view: View) -> Evidence:
        return view.keep(  # type: ignore[no-any-return]
            ("evidence", self.estimator),
            lambda: Evidence(view.reference_probs, view.reference_labels, self.estimator),
        )

    def error(self, view: View) -> Keys:
        """Return the error of every candidate; where the dense sum is as quick, no compiled code is loaded."""
        reference, labels = view.reference_probs, view.reference_labels
        if len(labels) == 0 or not is_small(view.probs, reference):
            return self.estimate(view).error
        return view.remember(  # type: ignore[no-any-return]
            ("dense error", self.estimator),
            lambda: estimate_errors(view.probs, reference, labels, self.estimator, tolerance=0).error,
        )

    def explain(self, view: View, indices: Indices) -> Query:
        error = self.estimate(view).error
        return Query(indices, view.probs_of(indices), error[view.positions(indices)])
