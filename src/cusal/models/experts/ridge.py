"""Kernel ridge regressions on the classes, averaged by how well each does with one label left out.

    Y one-hot, K a centred kernel of the labelled points, K = V diag(w) V'
    h = w / (w + lambda),   f = mean(Y) + V diag(h) V' (Y - mean(Y)),   H_ii = sum_j V_ij^2 h_j + 1 / n
    f_loo = Y - (Y - f) / (1 - H_ii)             leaving one out, for nothing (Allen 1974; Cawley and Talbot 2003)
    p = softmax(a f),  a of 2^{0 .. 5} of least  L = -sum_i log p_loo,i(y_i) + (ln a - 1.5)^2 / 2
    prediction: the mean over kernels and lambda, weighted by exp(-L)

Kernels are linear, linear and Gaussian, and Gaussian of three widths, each of features with and without smoothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import log_softmax, softmax

from cusal._stored import expect, stored_array, stored_number
from cusal._types import Floats
from cusal.models._points import Anchors, Points, Space
from cusal.models.experts._expert import Expert, Labelled, Probs

WIDTHS = (0.3, 1.0, 3.0)  # factors of gamma
PENALTIES = 10.0 ** np.arange(-3, 3)
STEEPNESS = 2.0 ** np.arange(6)
LEAST_WEIGHT = 0.01  # of a member's share in the mean: those below it predict nothing
MOST_LABELS = 600  # from which on only smoothed kernels are tried: each costs the cube of the labels
Dual = NDArray[np.float64]


@dataclass(frozen=True)
class Member:
    """One regression: which kernel, the weights of its points (n, classes), its steepness and share of the mean."""

    smoothed: bool
    kernel: int
    dual: Dual
    intercept: Floats
    steepness: float
    share: float


@dataclass
class Ridge(Expert):
    """Ridge regressions on ten kernels and six penalties, averaged."""

    def fit(self, labelled: Labelled) -> Self:
        """Fit all regressions, and keep those that count."""
        self.anchors = labelled.anchors
        Y = np.eye(labelled.classes)[labelled.numbers]
        losses, settings, left_out = [], [], []
        space = (True,) if labelled.points.plain is labelled.points.features or len(Y) > MOST_LABELS else (True, False)
        for smoothed in space:
            for number, kernel in _kernels(self.anchors, labelled.points, smoothed):
                values, vectors = _eigen(kernel)
                for penalty in PENALTIES:
                    probs, steepness, loss = _leave_one_out(values, vectors, penalty, Y)
                    losses.append(loss)
                    settings.append((smoothed, number, kernel, values, vectors, penalty, steepness))
                    left_out.append(probs)
        shares = np.exp(np.min(losses) - np.array(losses))
        shares = np.where(shares < LEAST_WEIGHT * shares.max(), 0, shares)
        shares /= shares.sum()
        kept = np.flatnonzero(shares)
        self.out_of_fold_ = np.einsum("m,mnk->nk", shares[kept], np.stack([left_out[m] for m in kept]))
        self.members = [_member(settings[m], Y, float(shares[m])) for m in kept]
        return self

    def predict_proba(self, points: Points) -> Probs:
        """Return the probability of each class, (points, classes)."""
        total = np.zeros((len(points), len(self.members[0].intercept)))
        for smoothed in (True, False):
            wanted = {member.kernel for member in self.members if member.smoothed == smoothed}
            if not wanted:
                continue
            for number, kernel in _kernels(self.anchors, points, smoothed, wanted):
                for member in self.members:
                    if (member.smoothed, member.kernel) == (smoothed, number):
                        scores = kernel @ member.dual + member.intercept
                        total += member.share * softmax(member.steepness * scores, axis=1)
        return total

    def state(self) -> dict[str, Any]:
        """Return the labelled points and the regressions."""
        return {"anchors": asdict(self.anchors), "members": [asdict(member) for member in self.members]}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], space: Space, classes: int) -> Self:
        """Return the fitted expert of a `state`."""
        expert = cls()
        expert.anchors = Anchors.from_state(state["anchors"], space)
        expert.members = [Member(**member) for member in state["members"]]
        kernels = 2 + len(WIDTHS)
        expect(0 < len(expert.members) <= 2 * kernels * len(PENALTIES), "the list of regressions")
        for member in expert.members:
            expect(isinstance(member.smoothed, bool), "a kernel")
            stored_number(member.kernel, "a kernel", 0, kernels - 1, whole=True)
            stored_array(member.dual, "the weights", len(expert.anchors.features), classes)
            stored_array(member.intercept, "the intercepts", classes)
            stored_number(member.steepness, "a steepness", STEEPNESS[0], STEEPNESS[-1])
            stored_number(member.share, "a share", 0, 1)
        return expert


def _kernels(
    anchors: Anchors, points: Points, smoothed: bool, wanted: set[int] | None = None
) -> Iterator[tuple[int, Floats]]:
    """Yield the number of each kernel and the kernel between points and anchors, (points, n)."""
    wanted = set(range(2 + len(WIDTHS))) if wanted is None else wanted
    linear, count = anchors.linear(points, smoothed=smoothed) if wanted & {0, 1} else (np.empty(0), 1)
    squared = anchors.squared(points, smoothed=smoothed) if wanted - {0} else np.empty(0)
    for number in sorted(wanted):
        if number == 0:
            yield 0, linear / count
        elif number == 1:
            yield 1, (linear + np.exp(-anchors.gamma * squared)) / (count + 1)
        else:
            yield number, np.exp(-anchors.gamma * WIDTHS[number - 2] * squared)


def _eigen(kernel: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues, at least 0, and vectors of a kernel that is centred first."""
    column = kernel.mean(axis=0)
    values, vectors = linalg.eigh(kernel - column - column[:, None] + column.mean(), driver="evd")
    return np.maximum(values, 0), vectors


def _leave_one_out(values: Floats, vectors: Floats, penalty: float, Y: Floats) -> tuple[Probs, float, float]:
    """Return predictions of each label from the others, (n, classes), at the best steepness, that, and its loss."""
    h = values / (values + penalty)
    mean = Y.mean(axis=0)
    f = mean + (vectors * h) @ (vectors.T @ (Y - mean))
    leverage = np.minimum((vectors**2) @ h + 1 / len(Y), 1 - 1e-9)
    left_out = Y - (Y - f) / (1 - leverage)[:, None]
    logs = [log_softmax(steepness * left_out, axis=1) for steepness in STEEPNESS]
    losses = [-(Y * log).sum() + (np.log(a) - 1.5) ** 2 / 2 for a, log in zip(STEEPNESS, logs, strict=True)]
    best = int(np.argmin(losses))
    return np.exp(logs[best]), float(STEEPNESS[best]), float(losses[best])


def _member(setting: tuple[Any, ...], Y: Floats, share: float) -> Member:
    smoothed, number, kernel, values, vectors, penalty, steepness = setting
    mean = Y.mean(axis=0)
    dual = vectors @ ((vectors.T @ (Y - mean)) / (values + penalty)[:, None])
    # Of the centring of K(x, labelled) the part that varies with x alone meets weights whose sum is 0.
    intercept = mean - kernel.mean(axis=0) @ dual
    return Member(smoothed, number, dual, intercept, steepness, share)
