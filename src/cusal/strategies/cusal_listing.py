"""The paper's listing to the letter: float32, exp before the sum, clamp, raw order.

Bui et al., appendix "Demo notebook code", with the Dirichlet kernel of ece-kde that it calls, in torch float32:

    log k = log q @ (alpha - 1)^T - log B(alpha),  alpha = h / b + 1
    ece   = sum_k | (exp(log k) @ onehot(y))_k / clamp(sum_i k_i, 1e-10) - q_k |^p
    order = np.lexsort((confidence, -ece)), which puts NaN last

Only the pool x labelled block is computed, in tiles of rows; the listing builds all pairs and uses this block alone.
The softmax is float32 too. The logits z are not available, but torch.softmax first subtracts their maximum, and
z - max z = log p - max log p of the float64 probabilities, so that it returns the same bits as for the network's
float32 logits.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.calibration.estimator import Estimator
from cusal.calibration.ties import decided_by
from cusal.errors import MissingExtra
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

TILE = 8192
GRID = 2.0**42  # logits are multiples of 1 / GRID unless tiny, and their log route errs by less


@dataclass(frozen=True)
class CusalListing(Strategy):
    """Take the items that the paper's listing of CUSAL takes, rounding included: to reproduce its figures.

    For any other purpose use `Cusal`. It needs torch.

    Parameters
    ----------
    bandwidth : float, default 1e-3
        Bandwidth of the Dirichlet kernel, at least 1e-7.
    p : float, default 1
        The power in the error, 1 or more.

    Examples
    --------
    >>> import cusal
    >>> cusal.strategies.make("cusal_listing", bandwidth=0.01)
    CusalListing(bandwidth=0.01, p=1)
    """

    for_whom: ClassVar[str] = "reproducing the paper's figures, and nothing else"

    bandwidth: float = 1e-3
    p: float = 1

    def __post_init__(self) -> None:
        Estimator(self.bandwidth, self.p)  # its checks

    def select(self, view: View, batch_size: int) -> Indices:
        error, confidence = self._estimate(view)
        return view.candidates[np.lexsort((confidence, -error))[:batch_size]]

    def explain(self, view: View, indices: Indices) -> Query:
        rows = view.positions(indices)
        error = self._estimate(view)[0].astype(np.float64)
        return Query(indices, view.probs[rows], error[rows], decided_by(error, rows))

    def _estimate(self, view: View) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        pool, reference = float32_softmax(view.probs), float32_softmax(view.reference_probs)
        error = listing_error(pool, reference, view.reference_labels, bandwidth=self.bandwidth, p=self.p)
        return error, pool.max(1).values.numpy()


def float32_softmax(probs: Floats) -> Any:
    """Return the float32 tensor that torch.softmax returns for the logits behind float64 probabilities."""
    torch = _torch()
    with np.errstate(divide="ignore"):
        logits = np.log(np.asarray(probs, dtype=np.float64))
    logits -= logits.max(axis=1, keepdims=True)
    # Differences of float32 numbers often lie halfway between two others, where the log's last bit would decide.
    logits = np.round(logits * GRID) / GRID
    return torch.softmax(torch.from_numpy(logits.astype(np.float32)), dim=1)


def listing_error(pool: Any, reference: Any, labels: Indices, *, bandwidth: float, p: float) -> NDArray[np.float32]:
    """Return the (m,) float32 errors of float32 tensors: pool (m, classes), reference (n, classes)."""
    torch = _torch()
    alphas = reference / bandwidth + 1
    log_beta = torch.lgamma(alphas).sum(dim=1) - torch.lgamma(alphas.sum(dim=1))
    onehot = torch.nn.functional.one_hot(torch.from_numpy(np.array(labels)), num_classes=pool.shape[1]).float()
    errors = []
    for q in pool.split(TILE):
        kernel = torch.exp(torch.matmul(torch.log(q), (alphas - 1).T) - log_beta)  # (tile, reference)
        density = torch.clamp(kernel.sum(dim=1), min=1e-10)
        ratio = torch.matmul(kernel, onehot) / density.unsqueeze(-1)
        errors.append(torch.sum(torch.abs(ratio - q) ** p, dim=1))
    return np.asarray(torch.cat(errors).numpy())


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("the listing's numerics", "torch") from error
    return torch
