"""A classifier that also learns how probable items are, from unlabelled items: the training of CALICO.

    E(x)  = -log sum_k exp f_k(x)                  the energy of an item; f: the network's logits
    loss  = cross entropy(labelled) + w (mean E(u) - mean E(s)) + w a (mean E(u)^2 + mean E(s)^2)
    s    <- clip(s - r^2 d grad E(s) + r n z)      Langevin step on a sample s; z: standard normal

| symbol | name here | |
|---|---|---|
| u, s | | items of an unlabelled batch; as many samples of the model's own p(x), proportional to exp -E(x) |
| w, a | `energy_weight`, `energy_penalty` | |
| d, n | `step_size`, `sampling_noise` | in units of r, the range that each coordinate of the items has |

The gradient of the second term is that of -log p(u). Cross entropy leaves the level of the logits free; this term makes
it say how probable an item is. One network is both the classifier and the sampler's energy.

What the sources state:
- JEM (Grathwohl et al. 2020): these formulas without penalty and clipping; both terms weigh 1; 20 Langevin steps of
  step size 1 and noise 0.01 on items within [-1, 1], colder than theory asks; a buffer of 10,000 samples, of which 5 %
  start anew from uniform noise; items carry noise of 0.03. Training is said to diverge at times.
- CALICO (Querol et al. 2024): a classifier and an energy-based model trained jointly, on labelled and unlabelled
  items, with queries by least confidence. The authors' published settings follow JEM++ (Yang and Ji 2021): weights 1
  and 1, no penalty, 10 sampling steps of 5 inner ones, 10,000 samples, 5 % anew. Their published code holds both this
  energy and one with an output of its own; which of them the tables rest on was not found stated.

What they leave open for small networks and few labels, and how it is decided here:
- The range of values: each coordinate's smallest and largest value among the labelled items and one draw of
  unlabelled ones. New samples are uniform in it and all are clipped to it. Steps and noise are in its units, so that
  the scale of the items does not matter; the defaults are JEM's, 0.25 and 0.005 of a range.
- The penalty (Du and Mordatch 2019) bounds the energies of items and samples. Where so few steps cannot follow the
  network, it holds items at -1/(2a) and samples at 1/(2a), and without it they go on and on (a test shows both); where
  the steps follow, both stay near 0. It bounds nothing elsewhere, such as the energy of uniform noise.
- The weight is small, so that the energy term does not outrun the cross entropy of a few hundred labels.
- A few steps and 32 samples for each labelled batch keep the cost of a fit at a few times the plain one's.
- The buffer goes on from one warm fit to the next and is pickled with the model, so it is small: 256 samples of
  28 x 28 numbers are 0.8 MB. `save` leaves it out; a loaded model begins a new one.
- The energy term sees the network as it predicts: no dropout, running means in batch normalisation, in whose statistics
  samples leave no trace.
- Noise on the items and JEM's slow start of the learning rate are left out.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cusal._checks import as_count, as_positive
from cusal.errors import InvalidInput
from cusal.models.mini_batches import Stored, check_shape, is_lazy, rows_of
from cusal.models.torch_classifier import TorchClassifier


class EnergyClassifier(TorchClassifier):
    """A classifier trained on cross entropy and on the probability of unlabelled items.

    energy_weight: of the energy term; 0 trains as `TorchClassifier` does.
    energy_penalty: of the squared energies, relative to the energy term.
    unlabelled_batch_size: unlabelled items, and samples, beside each labelled batch.
    sampling_steps, step_size, sampling_noise: of the Langevin dynamics; see the head of this file.
    buffer_size: samples that are kept, also from one warm fit to the next, as `samples_`.
    restart_rate: the share of samples that start anew from noise.
    The other settings are those of `TorchClassifier`.

    >>> import numpy as np
    >>> from cusal.models.networks import SmallNet
    >>> pool = np.random.default_rng(0).normal(size=(200, 2))
    >>> X, y = pool[:20], (pool[:20, 0] > 0).astype(int)
    >>> model = EnergyClassifier(SmallNet(2, 2), random_state=0).fit(X, y, unlabelled=pool[20:])
    >>> model.energy(pool).shape
    (200,)
    """

    uses_unlabelled = True
    samples_: NDArray[np.float32]
    _unlabelled: Any = None  # these two exist while it trains: the model is pickled each round, the pool is not
    _chains: "_Chains | None" = None

    def __init__(
        self,
        module: nn.Module,
        *,
        energy_weight: float = 0.05,
        energy_penalty: float = 0.1,
        unlabelled_batch_size: int = 32,
        sampling_steps: int = 3,
        step_size: float = 0.25,
        sampling_noise: float = 0.005,
        buffer_size: int = 256,
        restart_rate: float = 0.05,
        pretrained: bool = False,
        epochs: int = 30,
        batch_size: int = 128,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        warm_start: bool = True,
        device: str | None = None,
        precision: str = "float32",
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            module,
            pretrained=pretrained,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            warm_start=warm_start,
            device=device,
            precision=precision,
            random_state=random_state,
        )
        self.energy_weight = energy_weight
        self.energy_penalty = energy_penalty
        self.unlabelled_batch_size = unlabelled_batch_size
        self.sampling_steps = sampling_steps
        self.step_size = step_size
        self.sampling_noise = sampling_noise
        self.buffer_size = buffer_size
        self.restart_rate = restart_rate

    def fit(self, X: Any, y: Any, *, unlabelled: Any = None) -> Self:
        """Train on items X (n, ...) with class numbers y (n,), and on unlabelled items; without any, on X alone.

        unlabelled: (m, ...), anything with a length that an integer array can index; it is read a batch at a time.
        """
        self._check_settings()
        self._unlabelled = unlabelled if unlabelled is not None and len(unlabelled) else X
        try:
            super().fit(X, y)
            if self._chains is not None:
                self.samples_ = self._chains.samples.cpu().numpy()
        finally:
            self._unlabelled = self._chains = None
        return self

    def energy(self, X: Any) -> NDArray[np.float64]:
        """Give the energy of each item, (n,): the lower, the more probable the model finds such an item."""
        logits = self._run(X, lambda tile: self.module_(tile))
        return np.asarray(-torch.logsumexp(logits.double(), 1).numpy())

    def _train(self, module: nn.Module, items: Stored, labels: Tensor) -> None:
        if self.energy_weight > 0:
            some = slice(0, self.buffer_size) if is_lazy(items) else slice(0, len(items))
            self._chains = self._start(rows_of(items, some, labels.device))
        super()._train(module, items, labels)

    def _loss(self, module: nn.Module, items: Tensor, labels: Tensor) -> Tensor:
        loss = super()._loss(module, items, labels)
        if self._chains is None:
            return loss
        module.eval()
        unlabelled = self._draw(self.unlabelled_batch_size, items)
        samples = self._sample(module, self._chains)
        energies = -torch.logsumexp(module(torch.cat([unlabelled, samples])), 1)
        module.train()
        real, sampled = energies.split([len(unlabelled), len(samples)])
        penalty = self.energy_penalty * (real.square().mean() + sampled.square().mean())
        return loss + self.energy_weight * (real.mean() - sampled.mean() + penalty)

    def _start(self, items: Tensor) -> "_Chains":
        """Give the chains of the fit before, or new ones, within the range of the items."""
        seen = torch.cat([items, self._draw(self.buffer_size, items)])
        low, high = seen.amin(0), seen.amax(0)
        shape = (self.buffer_size, *items.shape[1:])
        if self.warm_start and hasattr(self, "samples_") and self.samples_.shape == shape:
            samples = torch.from_numpy(self.samples_).to(items.device)
        else:
            samples = low + (high - low) * torch.rand(shape, device=items.device)
        return _Chains(samples.clamp(low, high), low, high)  # also a copy: a fit that fails leaves `samples_` alone

    def _sample(self, module: nn.Module, chains: "_Chains") -> Tensor:
        """Move some chains on by a few Langevin steps and give where they are now."""
        samples, low, high = chains
        span = high - low
        # Distinct ones: of two moves of one chain the buffer could keep but one.
        chosen = torch.randperm(len(samples), device=low.device)[: self.unlabelled_batch_size]
        fresh = torch.rand(len(chosen), device=low.device) < self.restart_rate
        x = samples[chosen]
        x[fresh] = low + span * torch.rand_like(x[fresh])
        step, noise = self.step_size * span.square(), self.sampling_noise * span
        for _ in range(self.sampling_steps):
            x.requires_grad_()
            score = torch.logsumexp(module(x), 1).sum()
            (slope,) = torch.autograd.grad(score, x)  # of x alone: the weights' gradients stay untouched
            x = (x.detach() + step * slope + noise * torch.randn_like(x)).clamp(low, high)
        samples[chosen] = x
        return x

    def _draw(self, count: int, items: Tensor) -> Tensor:
        """Give `count` unlabelled items by chance, with repetition, where and in the shape that `items` are."""
        rows = torch.randint(len(self._unlabelled), (count,)).numpy()
        drawn = rows_of(self._unlabelled, rows, items.device, name="unlabelled")
        check_shape(drawn, tuple(items.shape[1:]))
        return drawn

    def _check_settings(self) -> None:
        for name in ("unlabelled_batch_size", "sampling_steps", "buffer_size"):
            as_count(getattr(self, name), name)
        as_positive(self.step_size, "step_size")
        for name in ("energy_weight", "energy_penalty", "sampling_noise", "restart_rate"):
            value = getattr(self, name)
            if value != 0:
                as_positive(value, name)
        if self.restart_rate > 1:
            raise InvalidInput(f"restart_rate is {self.restart_rate!r}; expected a share from 0 to 1.")


class _Chains(NamedTuple):
    """Where the Langevin chains are, (buffer_size, ...), and the range (...) that they stay in."""

    samples: Tensor
    low: Tensor
    high: Tensor
