"""Training and scoring on augmented items, at strengths that are chosen again at each fit (CAMPAL).

Yang, Wang, Wu, Chen and Zhao 2023, Towards Controlled Data Augmentations for Active Learning (ICML).

What the paper, and for the details the code that its authors published with it, states:
- Labelled items are augmented for training, unlabelled ones for scoring, each at a strength of its own, chosen in every
  round among four: the same for all items of a pool (for each class or item is offered too). In the code a strength is
  the number of single-image operations, drawn from fifteen of fixed magnitude, and the weight of mixing, up to a half.
- For the labelled pool: a model trained without augmentation on a validation set judges the augmented items; the
  strength of least loss is taken. For the unlabelled pool: the strength at which the sum over items of the least
  entropy among an item's copies is largest.
- A training set holds each item as it is, copies changed by single-image operations, and copies mixed with other items.
- Scores of an item and its copies are joined by their maximum, minimum, sum or similarity-weighted mean; strategies on
  representations measure the distance of two sets of copies (nearest pair, Chamfer, Hausdorff).

What is left open, or differs, and how it is decided here:
- A strength is how far each operation may go; all that are named act on an item, with random parameters of its own.
- A labelled validation set would cost labels. Half of the labelled items train the judging model, with the fit's own
  settings, and the other half is judged: half a fit of extra cost, none when only one strength is given. With
  `warm_start` the judging model continues from fit to fit too, or it would hardly be trained beside a network that
  does; so an item's content decides its half, once and for all. While a half is empty the weakest strength is taken.
- No change is no candidate: changes make a plainly trained model's loss rise, so it would always win, and for the same
  reason the weakest strength often does. Set `strengths` accordingly.
- Every row of a mini-batch is left as it is, changed or mixed with equal chances: the paper's training set in the mean,
  without an epoch of several times the length.
- The strength of scoring is chosen on at most 200 unlabelled items, by the copies that scoring will use.
- Strategies see the mean of the probabilities, and of the embeddings, over an item and its copies. So any strategy
  works as it is, badge and cusal among them. The entropy of the mean is the mean of the entropies plus what the copies
  disagree about. The mean embedding stands for the set distances.
- A copy changes all items in the same way (one draw of parameters for each copy and fit), and never by mixing: what a
  strategy sees of an item does not depend on the items that are scored with it.
- `predict_proba`, which users and the test set see, and `sample_proba` take the items as they are.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.utils.metaestimators import available_if
from torch import Tensor, nn

from cusal._checks import as_count
from cusal._item_hash import content_keys
from cusal._items import take
from cusal.errors import InvalidInput, NotReady, UnknownName
from cusal.models.augmentation import (
    DEFAULT,
    MIXUP,
    NAMES,
    Mixed,
    as_strength,
    augment,
    mixed_cross_entropy,
    mixup,
)
from cusal.models.mini_batches import check_shape, rows_of
from cusal.models.objectives._objective import Objective, Training, TrainingData
from cusal.models.objectives.cross_entropy import CrossEntropy

if TYPE_CHECKING:
    from cusal.models.torch_classifier import TorchClassifier

JUDGED, JUDGED_AT_ONCE = 2000, 250  # labelled items at most on which the strength of training is chosen
SAMPLE = 200  # unlabelled items on which the strength of scoring is chosen


# Without copies strategies see what users see, and the pool is predicted once for both.
_with_copies: Any = available_if(lambda objective: objective.copies > 0)


@dataclass(frozen=True)
class Augmented(Objective):
    """Augment labelled items in training, and show strategies the mean over augmented copies (CAMPAL).

    Give unlabelled items to `fit(X, y, unlabelled=U)`: the strength of scoring is chosen on some of them, or on X.
    The classifier then has `scoring_proba(X)` and `scoring_embed(X)`, if there are copies. It keeps `strength_`, chosen
    for training, `scoring_strength_`, chosen for scoring, and `judge_`, the model that chose the first.

    Parameters
    ----------
    operations : sequence of str
        Names in `cusal.models.augmentation`, applied in this order; "mixup" acts in training alone.
    strengths : sequence of float
        The candidates, each above 0 and up to 1.
    copies : int
        Augmented copies of each item in scoring, which takes copies + 1 predictions; 0 shows strategies plain ones.

    Raises
    ------
    InvalidInput, UnknownName
        If a setting is out of its range, or names no operation.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from cusal.models import Augmented, TorchClassifier
    >>> from cusal.models.networks import SmallNet
    >>> X, y = load_digits(return_X_y=True)
    >>> images = X.reshape(-1, 1, 8, 8) / 16
    >>> model = TorchClassifier(SmallNet(64, 10), objective=Augmented(), epochs=3, random_state=0)
    >>> model.fit(images[:100], y[:100], unlabelled=images[100:]).strength_ in model.objective.strengths
    True
    >>> model.scoring_proba(images[100:]).shape
    (1697, 10)
    """

    uses_unlabelled: ClassVar[bool] = True

    operations: Sequence[str] = DEFAULT
    strengths: Sequence[float] = (0.25, 0.5, 0.75, 1.0)
    copies: int = 2

    def __post_init__(self) -> None:
        for name in ("operations", "strengths"):
            values = getattr(self, name)
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
                raise InvalidInput(f"{name} is {values!r}; expected a list of one or more.")
            plain = values.tolist() if isinstance(values, np.ndarray) else values
            object.__setattr__(self, name, tuple(plain))  # settings of an objective never change
        for operation in self.operations:
            if operation not in NAMES:
                raise UnknownName("operation", operation, NAMES)
        for strength in self.strengths:
            if as_strength(strength, "one of strengths") == 0:
                raise InvalidInput("one of strengths is 0; expected numbers above 0. Use CrossEntropy for plain items.")
        as_count(self.copies, "copies", least=0)

    def start(self, model: "TorchClassifier", data: TrainingData) -> Training:
        """Return the training of one fit, at the strength that is chosen now."""
        first = rows_of(data.items, slice(0, 1), data.labels.device)
        augment(first, self._label_keeping(), strength=0)  # refuses what is no image before anything is trained
        strength, judge = self._choose_strength(model, data)
        return _AugmentedTraining(self, data.unlabelled, strength, judge)

    @_with_copies
    def scoring_proba(self, model: "TorchClassifier", X: Any) -> NDArray[np.float64]:
        """Return the mean probabilities over each item and its augmented copies, (n, classes)."""
        answers = self._answers(model, lambda: model.predict_proba(X), _scoring_strength(model))
        return np.asarray(np.mean(answers, axis=0))

    @_with_copies
    def scoring_embed(self, model: "TorchClassifier", X: Any) -> NDArray[np.float32]:
        """Return the mean embedding over each item and its augmented copies, (n, width)."""
        answers = self._answers(model, lambda: model.embed(X), _scoring_strength(model))
        return np.asarray(np.mean(answers, axis=0))

    def _vary(
        self, items: Tensor, labels: Tensor, strength: float, *, generator: torch.Generator | None = None
    ) -> Mixed:
        """Return the batch with each row as it is, changed or mixed, with equal chances."""
        one = torch.ones(len(items), device=items.device)
        same = Mixed(items, torch.stack([labels, labels], 1), torch.stack([one, 1 - one], 1))
        ways = [same]
        if names := self._label_keeping():
            ways.append(same._replace(items=augment(items, names, strength=strength, generator=generator)))
        if MIXUP in self.operations:
            ways.append(mixup(items, labels, strength=strength, generator=generator))
        way = torch.randint(len(ways), (len(items),), generator=generator).to(items.device)
        row = torch.arange(len(items), device=items.device)
        return Mixed(*(torch.stack(parts)[way, row] for parts in zip(*ways, strict=True)))

    def _choose_strength(self, model: "TorchClassifier", data: TrainingData) -> tuple[float, Any]:
        """Return the strength of least loss on one half of the items, and the judge: trained plainly on the other."""
        strengths = sorted(self.strengths)
        is_judged = content_keys(data.items) % 2 == 1 if len(strengths) > 1 else np.empty(0, dtype=bool)
        taught, judged = np.flatnonzero(~is_judged), torch.from_numpy(np.flatnonzero(is_judged)[:JUDGED])
        if len(taught) == 0 or len(judged) == 0:
            return float(strengths[0]), None
        seed = int(torch.randint(2**62, ()))
        settings = model.get_params(deep=False) | {"random_state": seed, "objective": CrossEntropy()}
        judge = model.judge_ if model.warm_start and hasattr(model, "judge_") else type(model)(model.module)
        judge = copy.copy(judge).set_params(**settings).fit(take(data.items, taught), data.labels[taught])
        losses = np.zeros(len(strengths))
        draws = [torch.Generator().manual_seed(seed) for _ in strengths]  # the same for all strengths
        for rows in judged.split(JUDGED_AT_ONCE):
            shown = rows_of(data.items, rows.numpy(), data.labels.device)
            for i, strength in enumerate(strengths):
                batch = self._vary(shown, data.labels[rows], strength, generator=draws[i])
                loss = mixed_cross_entropy(judge._logits(batch.items), batch.labels.cpu(), batch.weights.cpu())
                losses[i] += len(rows) * float(loss)
        return float(strengths[int(np.argmin(losses))]), judge

    def _choose_scoring_strength(self, model: "TorchClassifier", items: Any) -> float:
        """Return the strength of the largest mean, over some items, of the least entropy among an item's copies."""
        if self.copies == 0 or not self._label_keeping():
            return 0.0
        strengths = sorted(self.strengths)
        if len(strengths) == 1:
            return float(strengths[0])
        rng = np.random.default_rng(model.seed_)
        rows = np.sort(rng.choice(len(items), min(SAMPLE, len(items)), replace=False))
        sample = rows_of(items, rows, torch.device("cpu"), name="unlabelled")
        check_shape(sample, model.item_shape_)
        values = []
        for strength in strengths:
            entropies = self._answers(model, lambda: entr(model.predict_proba(sample)).sum(1), strength)
            values.append(np.min(entropies, axis=0).mean())
        return float(strengths[int(np.argmax(values))])

    def _answers(
        self, model: "TorchClassifier", ask: Callable[[], NDArray[Any]], strength: float
    ) -> list[NDArray[Any]]:
        """Return what `ask` says about the items as they are, then about each copy."""
        answers = [ask()]
        for number in range(self.copies if strength > 0 else 0):
            with self._copied(model, number, strength):
                answers.append(ask())
        return answers

    @contextmanager
    def _copied(self, model: "TorchClassifier", number: int, strength: float) -> Iterator[None]:
        """Show the network augmented items inside the block: the same change for all rows of all tiles."""
        seed = int(np.random.SeedSequence((model.seed_, number)).generate_state(1, np.uint64)[0])
        generator, names = torch.Generator(), self._label_keeping()

        def change(module: nn.Module, inputs: tuple[Tensor]) -> Tensor:
            generator.manual_seed(seed)
            return augment(inputs[0], names, strength=strength, generator=generator, shared=True)

        handle = model.module_.register_forward_pre_hook(change)
        try:
            yield
        finally:
            handle.remove()

    def _label_keeping(self) -> list[str]:
        return [name for name in self.operations if name != MIXUP]


class _AugmentedTraining(Training):
    """One fit on augmented items, at one strength."""

    def __init__(self, settings: Augmented, unlabelled: Any, strength: float, judge: Any) -> None:
        self.settings = settings
        self.unlabelled = unlabelled
        self.strength = strength
        self.judge = judge

    def loss(self, module: nn.Module, items: Tensor, labels: Tensor) -> Tensor:
        """Return the cross entropy of one mini-batch, some of it changed and some of it mixed."""
        batch = self.settings._vary(items, labels, self.strength)
        return mixed_cross_entropy(module(batch.items), batch.labels, batch.weights)

    def fitted(self, model: "TorchClassifier") -> dict[str, Any]:
        """Return the two strengths, and the judge where there was one."""
        kept = {
            "strength_": self.strength,
            "scoring_strength_": self.settings._choose_scoring_strength(model, self.unlabelled),
        }
        return kept if self.judge is None else kept | {"judge_": self.judge}


def _scoring_strength(model: "TorchClassifier") -> float:
    model._check_fitted()
    if not hasattr(model, "scoring_strength_"):
        raise NotReady("the model holds no strength of scoring yet; call fit(X, y) before strategies score items.")
    return float(model.scoring_strength_)
