"""A classifier trained and scored on augmented items, at strengths that are chosen anew at each fit (CAMPAL).

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
  `warm_start` the judging model goes on from fit to fit too, or it would hardly be trained beside a network that does;
  so an item's content decides its half, once and for all. While a half is empty the weakest strength is taken. `save`
  leaves the judging model out.
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
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import entr
from torch import Tensor, nn

from cusal._checks import as_array, as_count
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
from cusal.models.mini_batches import Stored, check_shape, is_lazy, rows_of
from cusal.models.torch_classifier import Probs, TorchClassifier

JUDGED, JUDGED_AT_ONCE = 2000, 250  # labelled items at most on which the strength of training is chosen
SAMPLE = 200  # unlabelled items on which the strength of scoring is chosen


class AugmentedClassifier(TorchClassifier):
    """A `TorchClassifier` that augments labelled items in training and shows strategies the mean over augmented copies.

    operations: names in `cusal.models.augmentation`, applied in this order; "mixup" acts in training alone.
    strengths: the candidates, each above 0 and up to 1; after a fit `strength_` was chosen for training and
        `scoring_strength_` for scoring.
    copies: augmented copies of each item in scoring, which takes copies + 1 predictions; 0: strategies see plain ones.
    The other settings are those of `TorchClassifier`.

    >>> from sklearn.datasets import load_digits
    >>> from cusal.models.networks import SmallNet
    >>> X, y = load_digits(return_X_y=True)
    >>> images = X.reshape(-1, 1, 8, 8) / 16
    >>> model = AugmentedClassifier(SmallNet(64, 10), epochs=3, random_state=0)
    >>> model.fit(images[:100], y[:100], unlabelled=images[100:]).strength_ in model.strengths
    True
    >>> model.scoring_proba(images[100:]).shape
    (1697, 10)
    """

    uses_unlabelled = True
    strength_: float
    scoring_strength_: float
    judge_: TorchClassifier

    def __init__(
        self,
        module: nn.Module,
        *,
        operations: Sequence[str] = DEFAULT,
        strengths: Sequence[float] = (0.25, 0.5, 0.75, 1.0),
        copies: int = 2,
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
        self.operations = operations
        self.strengths = strengths
        self.copies = copies

    def fit(self, X: Any, y: Any, *, unlabelled: Any = None) -> Self:
        """Train on items X (n, ...) with class numbers y (n,); on an error the model stays as it was.

        unlabelled: items on which the strength of scoring is chosen, indexed by an array of positions; None: X.
        """
        self._check_settings()
        fitted = copy.copy(self)
        super(AugmentedClassifier, fitted).fit(X, y)
        fitted.scoring_strength_ = fitted._choose_scoring_strength(
            unlabelled if unlabelled is not None and len(unlabelled) else X if is_lazy(X) else as_array(X)
        )
        self.__dict__.update(fitted.__dict__)
        return self

    def scoring_proba(self, X: Any) -> Probs:
        """Give the mean probabilities over each item and its augmented copies, (n, classes)."""
        answers = self._answers(lambda: self.predict_proba(X), self._scoring_strength())
        return np.asarray(np.mean(answers, axis=0))

    def scoring_embed(self, X: Any) -> NDArray[np.float32]:
        """Give the mean embedding over each item and its augmented copies, (n, width)."""
        answers = self._answers(lambda: self.embed(X), self._scoring_strength())
        return np.asarray(np.mean(answers, axis=0))

    def _train(self, module: nn.Module, items: Stored, labels: Tensor) -> None:
        augment(
            rows_of(items, slice(0, 1), labels.device), self._label_keeping(), strength=0
        )  # refuses what is no image before anything is trained
        self.strength_ = self._choose_strength(items, labels)
        super()._train(module, items, labels)

    def _loss(self, module: nn.Module, items: Tensor, labels: Tensor) -> Tensor:
        batch = self._vary(items, labels, self.strength_)
        return mixed_cross_entropy(module(batch.items), batch.labels, batch.weights)

    def _vary(
        self, items: Tensor, labels: Tensor, strength: float, *, generator: torch.Generator | None = None
    ) -> Mixed:
        """Give the batch with each row as it is, changed by the label-keeping operations or mixed, by equal chances."""
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

    def _choose_strength(self, items: Stored, labels: Tensor) -> float:
        """Give the strength of least loss on one half of the items, judged by a model trained plainly on the other."""
        strengths = sorted(self.strengths)
        if len(strengths) == 1:
            return float(strengths[0])
        is_judged = content_keys(items) % 2 == 1
        taught, judged = np.flatnonzero(~is_judged), torch.from_numpy(np.flatnonzero(is_judged)[:JUDGED])
        if len(taught) == 0 or len(judged) == 0:
            return float(strengths[0])
        seed = int(torch.randint(2**62, ()))
        settings = {name: getattr(self, name) for name in TorchClassifier._get_param_names()} | {"random_state": seed}
        judge = self.judge_ if self.warm_start and hasattr(self, "judge_") else TorchClassifier(self.module)
        self.judge_ = copy.copy(judge).set_params(**settings).fit(take(items, taught), labels[taught])
        losses = np.zeros(len(strengths))
        draws = [torch.Generator().manual_seed(seed) for _ in strengths]  # the same for all strengths
        for rows in judged.split(JUDGED_AT_ONCE):
            shown = rows_of(items, rows.numpy(), labels.device)
            for i, strength in enumerate(strengths):
                batch = self._vary(shown, labels[rows], strength, generator=draws[i])
                loss = mixed_cross_entropy(
                    self.judge_._run(batch.items, self.judge_.module_), batch.labels.cpu(), batch.weights.cpu()
                )
                losses[i] += len(rows) * float(loss)
        return float(strengths[int(np.argmin(losses))])

    def _choose_scoring_strength(self, items: Any) -> float:
        """Give the strength of the largest mean, over some items, of the least entropy among an item and its copies."""
        if self.copies == 0 or not self._label_keeping():
            return 0.0
        strengths = sorted(self.strengths)
        if len(strengths) == 1:
            return float(strengths[0])
        rng = np.random.default_rng(self.seed_)
        rows = np.sort(rng.choice(len(items), min(SAMPLE, len(items)), replace=False))
        sample = rows_of(items, rows, torch.device("cpu"), name="unlabelled")
        check_shape(sample, self.item_shape_)
        values = []
        for strength in strengths:
            entropies = self._answers(lambda: entr(self.predict_proba(sample)).sum(1), strength)
            values.append(np.min(entropies, axis=0).mean())
        return float(strengths[int(np.argmax(values))])

    def _answers(self, ask: Callable[[], NDArray[Any]], strength: float) -> list[NDArray[Any]]:
        """Give what `ask` says about the items as they are, then about each copy."""
        answers = [ask()]
        for number in range(self.copies if strength > 0 else 0):
            with self._copied(number, strength):
                answers.append(ask())
        return answers

    def _scoring_strength(self) -> float:
        self._check_fitted()
        if not hasattr(self, "scoring_strength_"):
            raise NotReady("a saved file holds no strength of scoring; call fit(X, y) before strategies score items.")
        return self.scoring_strength_

    @contextmanager
    def _copied(self, number: int, strength: float) -> Iterator[None]:
        """Let the module see augmented items inside the block: the same change for all rows of all tiles."""
        seed = int(np.random.SeedSequence((self.seed_, number)).generate_state(1, np.uint64)[0])
        generator, names = torch.Generator(), self._label_keeping()

        def change(module: nn.Module, inputs: tuple[Tensor]) -> Tensor:
            generator.manual_seed(seed)
            return augment(inputs[0], names, strength=strength, generator=generator, shared=True)

        handle = self.module_.register_forward_pre_hook(change)
        try:
            yield
        finally:
            handle.remove()

    def _label_keeping(self) -> list[str]:
        return [name for name in self.operations if name != MIXUP]

    def _check_settings(self) -> None:
        for name, values in (("operations", self.operations), ("strengths", self.strengths)):
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
                raise InvalidInput(f"{name} is {values!r}; expected a list of one or more.")
        for operation in self.operations:
            if operation not in NAMES:
                raise UnknownName("operation", operation, NAMES)
        for strength in self.strengths:
            if as_strength(strength, "one of strengths") == 0:
                raise InvalidInput(
                    "one of strengths is 0; expected numbers above 0. Use TorchClassifier for plain items."
                )
        as_count(self.copies, "copies", least=0)
