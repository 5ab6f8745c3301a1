"""Training that also learns how probable items are, from unlabelled items: that of CALICO.

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
  start again from uniform noise; items carry noise of 0.03. Training is said to diverge at times.
- CALICO (Querol et al. 2024): a classifier and an energy-based model trained jointly, on labelled and unlabelled
  items, with queries by least confidence. The authors' published settings follow JEM++ (Yang and Ji 2021): weights 1
  and 1, no penalty, 10 sampling steps of 5 inner ones, 10,000 samples, 5 % restarted. Their published code holds both
  this energy and one with an output of its own; which of them the tables rest on was not found stated.

What they leave open for small networks and few labels, and how it is decided here:
- The range of values: each coordinate's smallest and largest value among the labelled items and one draw of
  unlabelled ones. New samples are uniform in it and all are clipped to it. Steps and noise are in its units, so that
  the scale of the items does not matter; the defaults are JEM's, 0.25 and 0.005 of a range.
- The penalty (Du and Mordatch 2019) bounds the energies of items and samples. Where so few steps cannot follow the
  network, it holds items at -1/(2a) and samples at 1/(2a), and without it they grow without limit (a test shows both);
  where the steps follow, both stay near 0. It bounds nothing elsewhere, such as the energy of uniform noise.
- The weight is small, so that the energy term does not outrun the cross entropy of a few hundred labels.
- A few steps and 32 samples for each labelled batch keep the cost of a fit at a few times the plain one's.
- The buffer continues from one warm fit to the next and is kept with the model, in pickles and saved files, so it is
  small: 256 samples of 28 x 28 numbers are 0.8 MB.
- The energy term sees the network as it predicts: no dropout, running means in batch normalisation, in whose statistics
  samples leave no trace.
- Noise on the items and JEM's slow start of the learning rate are left out.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cusal._checks import as_count, as_positive
from cusal.errors import InvalidInput
from cusal.models.mini_batches import check_shape, is_lazy, rows_of
from cusal.models.objectives._objective import Objective, Training, TrainingData
from cusal.models.objectives.cross_entropy import CrossEntropyTraining

if TYPE_CHECKING:
    from cusal.models.torch_classifier import TorchClassifier


@dataclass(frozen=True)
class Energy(Objective):
    """Train on cross entropy and on the probability of unlabelled items (CALICO).

    Give the unlabelled items to `fit(X, y, unlabelled=U)`; a session does so by itself. U is anything with a length
    that an integer array can index, and is read a batch at a time. Without unlabelled items X takes their place.
    The classifier then has `energy(X)`, and keeps `samples_`, where the chains of its sampler stand.

    Parameters
    ----------
    energy_weight : float
        Weight of the energy term; 0 trains on cross entropy alone.
    energy_penalty : float
        Weight of the squared energies, relative to the energy term.
    unlabelled_batch_size : int
        Unlabelled items, and samples, beside each labelled batch.
    sampling_steps, step_size, sampling_noise : int, float, float
        Of the Langevin dynamics; steps and noise are in units of the range that each coordinate has.
    buffer_size : int
        Samples that are kept, also from one warm fit to the next.
    restart_rate : float
        The share of samples that start again from noise, from 0 to 1.

    Raises
    ------
    InvalidInput
        If a setting is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> from cusal.models import Energy, TorchClassifier
    >>> from cusal.models.networks import SmallNet
    >>> pool = np.random.default_rng(0).normal(size=(200, 2))
    >>> X, y = pool[:20], (pool[:20, 0] > 0).astype(int)
    >>> model = TorchClassifier(SmallNet(2, 2), objective=Energy(), random_state=0)
    >>> model.fit(X, y, unlabelled=pool[20:]).energy(pool).shape
    (200,)
    """

    uses_unlabelled: ClassVar[bool] = True

    energy_weight: float = 0.05
    energy_penalty: float = 0.1
    unlabelled_batch_size: int = 32
    sampling_steps: int = 3
    step_size: float = 0.25
    sampling_noise: float = 0.005
    buffer_size: int = 256
    restart_rate: float = 0.05

    def __post_init__(self) -> None:
        for name in ("unlabelled_batch_size", "sampling_steps", "buffer_size"):
            as_count(getattr(self, name), name)
        as_positive(self.step_size, "step_size")
        for name in ("energy_weight", "energy_penalty", "sampling_noise", "restart_rate"):
            value = getattr(self, name)
            if value != 0:
                as_positive(value, name)
        if self.restart_rate > 1:
            raise InvalidInput(f"restart_rate is {self.restart_rate!r}; expected a share from 0 to 1.")

    def start(self, model: "TorchClassifier", data: TrainingData) -> Training:
        """Return the training of one fit, with the chains of the fit before where it starts warm."""
        if self.energy_weight == 0:
            return CrossEntropyTraining()
        some = slice(0, self.buffer_size) if is_lazy(data.items) else slice(0, len(data.items))
        items = rows_of(data.items, some, data.labels.device)
        before = getattr(model, "samples_", None) if model.warm_start else None
        return _EnergyTraining(self, data.unlabelled, self._start_chains(items, data.unlabelled, before))

    def energy(self, model: "TorchClassifier", X: Any) -> NDArray[np.float64]:
        """Return the energy of each item, (n,): the lower, the more probable the model finds such an item."""
        return np.asarray(-torch.logsumexp(model._logits(X).double(), 1).numpy())

    def _start_chains(self, items: Tensor, unlabelled: Any, before: NDArray[np.float32] | None) -> "_Chains":
        """Return the chains of the fit before, or new ones, within the range of the items."""
        seen = torch.cat([items, _draw(unlabelled, self.buffer_size, items)])
        low, high = seen.amin(0), seen.amax(0)
        shape = (self.buffer_size, *items.shape[1:])
        if before is not None and before.shape == shape:
            samples = torch.from_numpy(before).to(items.device)
        else:
            samples = low + (high - low) * torch.rand(shape, device=items.device)
        return _Chains(samples.clamp(low, high), low, high)  # also a copy: a fit that fails leaves `samples_` alone

    def _sample(self, module: nn.Module, chains: "_Chains") -> Tensor:
        """Move some chains by a few Langevin steps and return where they are now."""
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


class _Chains(NamedTuple):
    """Where the Langevin chains are, (buffer_size, ...), and the range (...) that they stay in."""

    samples: Tensor
    low: Tensor
    high: Tensor


class _EnergyTraining(CrossEntropyTraining):
    """One fit on cross entropy and energies."""

    def __init__(self, settings: Energy, unlabelled: Any, chains: _Chains) -> None:
        self.settings = settings
        self.unlabelled = unlabelled
        self.chains = chains

    def loss(self, module: nn.Module, items: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of one mini-batch, beside as many unlabelled items and samples as the settings say."""
        loss = super().loss(module, items, labels)
        module.eval()
        unlabelled = _draw(self.unlabelled, self.settings.unlabelled_batch_size, items)
        samples = self.settings._sample(module, self.chains)
        energies = -torch.logsumexp(module(torch.cat([unlabelled, samples])), 1)
        module.train()
        real, sampled = energies.split([len(unlabelled), len(samples)])
        penalty = self.settings.energy_penalty * (real.square().mean() + sampled.square().mean())
        return loss + self.settings.energy_weight * (real.mean() - sampled.mean() + penalty)

    def fitted(self, model: "TorchClassifier") -> dict[str, Any]:
        """Return where the chains stand."""
        return {"samples_": self.chains.samples.cpu().numpy()}


def _draw(unlabelled: Any, count: int, items: Tensor) -> Tensor:
    """Return `count` unlabelled items at random, with repetition, on the device and in the shape of `items`."""
    rows = torch.randint(len(unlabelled), (count,)).numpy()
    drawn = rows_of(unlabelled, rows, items.device, name="unlabelled")
    check_shape(drawn, tuple(items.shape[1:]))
    return drawn
