"""CUSAL: the highest estimated calibration error first, ties by the model's uncertainty.

Bui, Maifeld-Carucci and Liu (2026), "Calibrated Uncertainty Sampling for Active Learning", Alg. 1 and Eq. 12:

    key(x) = ( error(x) quantised,  -max_k p_k(x) )        error: calibration/pointwise.py

Beyond the paper: other tie-breaks, and `batch_aware`, where each pick joins the evidence before the next is
chosen.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from cusal._checks import as_batch_size, as_positive
from cusal._spread import k_centre
from cusal._types import Floats, Indices, Keys
from cusal.calibration.ties import GrowingEvidence, decided_by, quantise
from cusal.errors import UnknownName
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy, best
from cusal.strategies._view import View

TieBreak = Literal["confidence", "margin", "entropy", "random", "diverse"]


@dataclass(frozen=True)
class Cusal(Strategy):
    """The items whose calibration error is estimated highest; among equals, the least sure."""

    bandwidth: float = 1e-3
    p: float = 1
    density_floor: float | None = 1e-10
    tie_tolerance: float = 1e-6
    tie_break: TieBreak = "confidence"
    batch_aware: bool = False
    by_row: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.tie_break not in get_args(TieBreak):
            raise UnknownName("tie_break", self.tie_break, get_args(TieBreak))
        if self.tie_tolerance != 0:
            as_positive(self.tie_tolerance, "tie_tolerance")

    def keys(self, view: View) -> Keys:
        return np.column_stack([self._quantised(view), self._tie_key(view.probs, view.rng)])

    def select(self, view: View, batch_size: int) -> Indices:
        count = as_batch_size(batch_size, len(view.candidates))
        if self.batch_aware:
            return view.candidates[self._one_by_one(view, count)]
        if self.tie_break == "diverse":
            return view.candidates[self._spread_ties(view, count)]
        error, _ = self._top_error(view, count)
        keys = np.column_stack([quantise(error, self.tie_tolerance), self._tie_key(view.probs, view.rng)])
        return view.candidates[best(keys, count)]

    def explain(self, view: View, indices: Indices) -> Query:
        rows = view.positions(indices)
        error, cut = self._top_error(view, len(indices))
        if error[rows].min(initial=np.inf) < cut:  # picks of a joint choice may lie below the highest errors
            error = view.estimate(self.bandwidth, self.p, self.density_floor).error
        return Query(indices, view.probs[rows], error[rows], decided_by(quantise(error, self.tie_tolerance), rows))

    def _top_error(self, view: View, count: int) -> tuple[Keys, float]:
        return view.top_error(
            count,
            bandwidth=self.bandwidth,
            p=self.p,
            density_floor=self.density_floor,
            tie_tolerance=self.tie_tolerance,
        )

    def _quantised(self, view: View) -> Keys:
        error = view.estimate(self.bandwidth, self.p, self.density_floor).error
        return quantise(error, self.tie_tolerance)

    def _tie_key(self, probs: Floats, rng: np.random.Generator) -> Keys:
        match self.tie_break:
            case "margin":
                return uncertainty.margin(probs)
            case "entropy":
                return uncertainty.entropy(probs)
            case "random":
                return rng.random(len(probs))
            case _:
                return uncertainty.least_confidence(probs)

    def _one_by_one(self, view: View, count: int) -> Indices:
        evidence = GrowingEvidence(
            view.probs,
            view.reference_probs,
            view.reference_labels,
            bandwidth=self.bandwidth,
            p=self.p,
            density_floor=self.density_floor,
        )
        tie_key = self._tie_key(view.probs, view.rng)
        rows = np.empty(count, dtype=np.int64)
        for i in range(count):
            keys = np.column_stack([quantise(evidence.error(), self.tie_tolerance), tie_key])
            keys[rows[:i]] = -np.inf
            rows[i] = best(keys, 1)[0]
            evidence.add(int(rows[i]))
        return rows

    def _spread_ties(self, view: View, count: int) -> Indices:
        """Rows by error; in the block of equal errors that the batch cuts through, spread by embedding."""
        quantised = self._quantised(view)
        order = best(np.column_stack([quantised, uncertainty.least_confidence(view.probs)]), len(quantised))
        cut = quantised[order[count - 1]]
        above = order[quantised[order] > cut]
        block = order[quantised[order] == cut]
        wanted = count - len(above)
        if wanted == len(block):
            return order[:count]
        chosen = k_centre(view.embeddings[block], wanted, centres=view.embeddings[above], first=0)
        return np.concatenate([above, block[chosen]])
