"""The paper's listing: our block against the listing as it is printed, all pairs in float32."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cusal.strategies._view import View  # noqa: E402
from cusal.strategies.cusal import Cusal  # noqa: E402
from cusal.strategies.cusal_listing import CusalListing, float32_softmax, listing_error  # noqa: E402


def printed_error(f: "torch.Tensor", y: "torch.Tensor", *, bandwidth: float, p: float) -> np.ndarray:
    """The listing's order of operations over all pairs of labelled and pool points."""
    alphas = f / bandwidth + 1
    log_beta = torch.sum(torch.lgamma(alphas), dim=1) - torch.lgamma(torch.sum(alphas, dim=1))
    log_kernel = torch.matmul(torch.log(f), (alphas - 1).T) - log_beta
    block = torch.exp(log_kernel)[len(y) :, : len(y)]
    onehot = torch.nn.functional.one_hot(y, num_classes=f.shape[1]).float()
    density = torch.clamp(torch.sum(block, dim=1), min=1e-10)
    ratio = torch.matmul(block, onehot) / density.unsqueeze(-1)
    return torch.sum(torch.abs(ratio - f[len(y) :]) ** p, dim=1).numpy()


def some_logits(rows: int, *, scale: float, seed: int) -> "torch.Tensor":
    rng = np.random.default_rng(seed)
    return torch.from_numpy((scale * rng.normal(size=(rows, 10))).astype(np.float32))


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0, 30.0])
def test_the_softmax_is_torchs_own_float32(scale: float) -> None:
    logits = some_logits(3000, scale=scale, seed=1)
    probs = torch.softmax(logits.double(), 1).numpy()
    assert torch.equal(float32_softmax(probs), torch.softmax(logits, 1))


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("p", [1, 2])
def test_the_block_has_the_values_of_all_pairs(scale: float, p: float) -> None:
    reference = torch.softmax(some_logits(40, scale=scale, seed=2), 1)
    pool = torch.softmax(some_logits(500, scale=scale, seed=3), 1)
    labels = np.random.default_rng(4).integers(10, size=40)
    printed = printed_error(torch.cat([reference, pool]), torch.from_numpy(labels), bandwidth=1e-3, p=p)
    ours = listing_error(pool, reference, labels, bandwidth=1e-3, p=p)
    np.testing.assert_array_equal(ours, printed)


def a_view(*, columns: np.ndarray | None = None, scale: float = 3.0, margin: float = 12.0) -> View:
    """Round one of a well-fitted network; `columns` renumbers the classes."""
    columns = np.arange(10) if columns is None else columns
    labels = np.repeat(np.arange(10), 2)
    known = some_logits(20, scale=1.0, seed=5).double() + margin * torch.eye(10, dtype=torch.float64)[labels]
    pool = some_logits(2000, scale=scale, seed=6).double()
    number = np.empty(10, dtype=np.int64)
    number[columns] = np.arange(10)
    return View.of_arrays(
        np.arange(100, 2100),
        np.random.default_rng(0),
        probs=torch.softmax(pool, 1).numpy()[:, columns],
        reference=(torch.softmax(known, 1).numpy()[:, columns], number[labels]),
    )


def test_picks_in_the_order_of_lexsort() -> None:
    view = a_view()
    error, confidence = CusalListing()._estimate(view)
    assert error.dtype == confidence.dtype == np.float32
    expected = view.candidates[np.lexsort((confidence, -error))[:10]]
    assert CusalListing().select(view, 10).tolist() == expected.tolist()
    query = CusalListing().explain(view, expected)
    assert query.error is not None
    assert query.error.tolist() == error[expected - 100].tolist()
    assert set(query.decided_by) <= {"calibration", "uncertainty"}


def test_not_a_number_comes_last() -> None:
    # Where a class has probability 0 in float32 for both points, 0 times minus infinity is not a number.
    view = a_view(scale=40.0, margin=120.0)
    error, _ = CusalListing()._estimate(view)
    count = int(np.isnan(error).sum())
    assert 0 < count < len(error)
    order = CusalListing().select(view, len(error))
    assert np.isnan(error[order[-count:] - 100]).all()


def test_renumbering_the_classes_changes_the_listings_picks_and_not_the_exact_ones() -> None:
    columns = np.random.default_rng(7).permutation(10)
    plain, renumbered = a_view(), a_view(columns=columns)
    assert Cusal().select(plain, 10).tolist() == Cusal().select(renumbered, 10).tolist()
    assert CusalListing().select(plain, 10).tolist() != CusalListing().select(renumbered, 10).tolist()
