"""The lexicographic order of CUSAL, shared by the strategies that take their items from its top.

Bui, Maifeld-Carucci and Liu (2026), Eq. 12: error descending, then the uncertainty. See `cusal`.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from cusal._arguments import is_real
from cusal._checks import as_positive
from cusal._spread import k_centre
from cusal._types import Floats, Indices, Keys
from cusal.calibration.ties import GrowingEvidence, decided_by, quantise
from cusal.errors import InvalidInput, UnknownName
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._calibration_strategy import _CalibrationStrategy
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import top_rows
from cusal.strategies._view import View

TieBreak = Literal["confidence", "margin", "entropy", "random", "diverse"]


@dataclass(frozen=True)
class _CusalOrder(_CalibrationStrategy):
    """CUSAL's settings, its choice of items, and the record of what decided each pick."""

    tie_tolerance: float = 1e-6
    tie_break: TieBreak = "confidence"
    batch_aware: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.tie_break, str) or self.tie_break not in get_args(TieBreak):
            raise UnknownName("tie_break", self.tie_break, get_args(TieBreak))
        if not isinstance(self.batch_aware, bool):
            raise InvalidInput(f"batch_aware is {self.batch_aware!r}; expected True or False.")
        if not (is_real(self.tie_tolerance) and self.tie_tolerance == 0):
            as_positive(self.tie_tolerance, "tie_tolerance")

    def select(self, view: View, batch_size: int) -> Indices:
        if self.batch_aware:
            return view.candidates[self._one_by_one(view, batch_size)]
        if self.tie_break == "diverse":
            return view.candidates[self._spread_ties(view, batch_size)]
        keys = np.column_stack([quantise(self.error(view), self.tie_tolerance), self._tie_key(view.probs, view.rng)])
        return view.candidates[top_rows(keys, batch_size)]

    def explain(self, view: View, indices: Indices) -> Query:
        rows = view.positions(indices)
        error = self.error(view)
        return Query(indices, view.probs[rows], error[rows], decided_by(quantise(error, self.tie_tolerance), rows))

    def _quantised(self, view: View) -> Keys:
        return quantise(self.estimate(view).error, self.tie_tolerance)

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
        evidence = GrowingEvidence(view.probs, view.reference_probs, view.reference_labels, self.estimator)
        tie_key = self._tie_key(view.probs, view.rng)
        rows = np.empty(count, dtype=np.int64)
        for i in range(count):
            keys = np.column_stack([quantise(evidence.error(), self.tie_tolerance), tie_key])
            keys[rows[:i]] = -np.inf
            rows[i] = top_rows(keys, 1)[0]
            evidence.add(int(rows[i]))
        return rows

    def _spread_ties(self, view: View, count: int) -> Indices:
        """Return rows by error; in the block of equal errors that the batch cuts through, spread by embedding."""
        quantised = self._quantised(view)
        order = top_rows(np.column_stack([quantised, uncertainty.least_confidence(view.probs)]), len(quantised))
        cut = quantised[order[count - 1]]
        above = order[quantised[order] > cut]
        block = order[quantised[order] == cut]
        wanted = count - len(above)
        if wanted == len(block):
            return order[:count]
        chosen = k_centre(view.embeddings[block], wanted, centres=view.embeddings[above], first=0)
        return np.concatenate([above, block[chosen]])
