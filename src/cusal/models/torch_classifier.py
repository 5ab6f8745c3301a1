"""A scikit-learn style classifier around a torch module: fit, predict, embed, sample, save and load.

Data stay in memory as one tensor, or on disk if they are lazy, and batches are taken by index: no Python for each row.
Initial weights, shuffles and training dropout draw from `random_state` inside `torch.random.fork_rng`, so
that the process's own generator is left as it was.

Rows are predicted in tiles that stay in the processor's cache. A matrix product may round differently in a
tile of another size: the last bits of a row's probabilities can depend on the number of rows predicted.
"""

import copy
import inspect
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import Tensor, nn

from cusal._checks import as_count, as_labels, as_positive
from cusal._prefetch import read_ahead
from cusal.errors import DataError, InvalidInput, MissingMethod, NotReady, UnknownName
from cusal.models import dropout
from cusal.models.mini_batches import Stored, as_items, is_lazy, mini_batches, rows_of

PRECISIONS = ("float32", "bfloat16", "auto")
TILE_BYTES = 1 << 19  # of input; activations are a few times larger and should stay in the cache with it

Probs = NDArray[np.float64]


class TorchClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that trains `module` with Adam on cross entropy.

    module: gives logits (n, classes) for float32 items (n, ...); unchanged, the trained copy is `module_`.
    pretrained: start from the weights that `module` has, not from new ones. Frozen layers keep theirs in any case.
    epochs, batch_size, learning_rate, weight_decay: of each fit; the optimiser starts anew each time.
    warm_start: go on from the weights of the fit before; otherwise every fit draws new ones.
    device: "cpu", "cuda" and so on; None takes CUDA where there is one.
    precision: "float32"; "bfloat16" for matrix products and convolutions, weights staying float32; "auto", which is the
        latter on CUDA alone, since processors without such arithmetic are slower with it.
    random_state: seeds weights (each layer's `reset_parameters`), shuffles and dropout; None: by chance.

    >>> import numpy as np
    >>> from cusal.models.networks import SmallNet
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = TorchClassifier(SmallNet(2, 2), epochs=100, learning_rate=0.01, random_state=0)
    >>> model.fit(X, [0, 1, 1, 0]).predict(X).tolist()
    [0, 1, 1, 0]
    """

    module_: nn.Module

    def __init__(
        self,
        module: nn.Module,
        *,
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
        self.module = module
        self.pretrained = pretrained
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.warm_start = warm_start
        self.device = device
        self.precision = precision
        self.random_state = random_state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a pickled state; a parameter that it does not have yet, being older, gets its default."""
        parameters = inspect.signature(type(self)).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        super().__setstate__(defaults | state)

    def fit(self, X: Any, y: Any) -> Self:
        """Train on items X (n, ...) with class numbers y (n,); on an error the model stays as it was."""
        device = self._device()
        items = as_items(X, device)
        fresh = not (self.warm_start and hasattr(self, "module_"))
        module = copy.deepcopy(self.module if fresh else self.module_).to(device)
        classes = _output_width(module, rows_of(items, slice(0, 1), device))
        labels = torch.from_numpy(as_labels(y, "y", count=len(items), classes=classes)).to(device)
        seed = self._seed()
        with _seeded(seed, device):
            if fresh and not self.pretrained:
                _reset(module)
            self._train(module, items, labels)
        self.module_, self.seed_, self.item_shape_ = module, seed, tuple(items.shape[1:])
        self.classes_ = np.arange(classes)
        return self

    def predict_proba(self, X: Any) -> Probs:
        """Give probabilities (n, classes) in float64; rows sum to one and tiny probabilities survive."""
        return _softmax(self._run(X, lambda tile: self.module_(tile)))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Give the most probable class of each item, (n,)."""
        return np.asarray(self._run(X, lambda tile: self.module_(tile)).argmax(1).numpy(), dtype=np.int64)

    def embed(self, X: Any) -> NDArray[np.float32]:
        """Give the last hidden layer, the input of the module's last `nn.Linear`, (n, width)."""
        self._check_fitted()
        layers = [layer for layer in self.module_.modules() if isinstance(layer, nn.Linear)]
        if not layers:
            raise MissingMethod(
                f"{type(self.module_).__name__} has no nn.Linear layer, so its last hidden layer is unknown; "
                "end the module with one, or use a strategy without embeddings."
            )
        seen: list[Tensor] = []
        handle = layers[-1].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0]))
        try:
            return np.asarray(self._run(X, lambda tile: (self.module_(tile), seen.pop())[1].flatten(1)).numpy())
        finally:
            handle.remove()

    def sample_proba(self, X: Any, n: int) -> Probs:
        """Give probabilities under n Monte-Carlo dropout masks, (rows, n, classes); repeatable after one fit.

        Dropout acts at the module's `sample_dropout` where it has that attribute, else at each layer's rate.
        """
        as_count(n, "n")
        self._check_fitted()
        seeds = [int(np.random.SeedSequence((self.seed_, i)).generate_state(1, np.uint64)[0]) for i in range(n)]
        generator = torch.Generator()
        # What comes before any dropout is the same in all samples; a module may offer the two halves of its forward.
        first = getattr(self.module_, "before_dropout", None)
        rest = self.module_.after_dropout if first else self.module_

        def sample(tile: Tensor) -> Tensor:
            if first:
                tile = first(tile)
            logits = []
            for seed in seeds:
                generator.manual_seed(seed)  # for each tile, so that all rows meet the same masks
                logits.append(rest(tile))
            return torch.stack(logits, 1)

        with dropout.masked(self.module_, generator):
            return _softmax(self._run(X, sample))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings and weights to `path`; a file that is there is replaced in one step."""
        self._check_fitted()
        settings = {name: _plain(value) for name, value in self.get_params(deep=False).items() if name != "module"}
        content = {
            "class": type(self).__name__,
            "settings": settings,
            "weights": self.module_.state_dict(),
            "fitted": {"seed_": self.seed_, "item_shape_": self.item_shape_, "classes": len(self.classes_)},
        }
        target = Path(path)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            torch.save(content, part)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str], module: nn.Module) -> Self:
        """Give the classifier saved at `path`; `module` is the architecture that it was made with."""
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
            settings, weights, fitted = (content[part] for part in ("settings", "weights", "fitted"))
        except FileNotFoundError:
            raise DataError(f"{path} does not exist; give the path of a file that `save` wrote.") from None
        except (RuntimeError, pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path} is not a file that `save` wrote, or is damaged: {error}") from error
        if content.get("class", cls.__name__) != cls.__name__:
            raise InvalidInput(
                f"{path} holds a {content['class']}, not a {cls.__name__}; load it with {content['class']}.load."
            )
        model = cls(module, **settings)
        model.module_ = copy.deepcopy(module).eval()
        try:
            model.module_.load_state_dict(weights)
        except RuntimeError as error:
            raise InvalidInput(f"{path} holds the weights of another architecture; give its own: {error}") from error
        model.module_.to(model._device())
        model.seed_, model.item_shape_ = fitted["seed_"], tuple(fitted["item_shape_"])
        model.classes_ = np.arange(fitted["classes"])
        return model

    def _train(self, module: nn.Module, items: Stored, labels: Tensor) -> None:
        epochs, batch_size = as_count(self.epochs, "epochs"), as_count(self.batch_size, "batch_size")
        optimiser = torch.optim.Adam(
            module.parameters(),
            lr=as_positive(self.learning_rate, "learning_rate"),
            weight_decay=as_positive(self.weight_decay, "weight_decay") if self.weight_decay != 0 else 0.0,
            fused=True,
        )
        module.train()
        loss = torch.zeros(())
        for _ in range(epochs):
            for rows, batch in mini_batches(items, batch_size, labels.device):
                with self._casting(labels.device):
                    loss = self._loss(module, batch, labels[rows])
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                optimiser.step()
        module.eval()
        if not torch.isfinite(loss):
            raise InvalidInput(
                f"training diverged: the loss is {float(loss.detach())}; "
                f"lower learning_rate (now {self.learning_rate:g}) or scale the items."
            )

    def _loss(self, module: nn.Module, items: Tensor, labels: Tensor) -> Tensor:
        """Give the loss of one mini-batch; what a training variant overrides."""
        return nn.functional.cross_entropy(module(items), labels)

    def _run(self, X: Any, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply `function` tile by tile, without gradients, and give the rows on the CPU."""
        self._check_fitted()
        device = next(self.module_.parameters()).device
        values = X if isinstance(X, Tensor) or is_lazy(X) else np.asarray(X)
        if tuple(values.shape[1:]) != self.item_shape_ or len(values.shape) == 0:
            raise InvalidInput(
                f"X has shape {tuple(values.shape)}; expected (n, {', '.join(map(str, self.item_shape_))}), "
                "the shape that the model was fitted on."
            )
        step = _tile_rows(self.item_shape_, device)
        starts = range(0, max(len(values), 1), step)  # no rows: one empty tile, which gives the right shape
        tiles = (rows_of(values, slice(s, s + step), device) for s in starts)
        with torch.inference_mode(), self._casting(device):
            return torch.cat([function(tile).float().cpu() for tile in (read_ahead(tiles) if is_lazy(X) else tiles)])

    def _casting(self, device: torch.device) -> torch.autocast:
        """Give the block in which matrix products may be taken in bfloat16."""
        if self.precision not in PRECISIONS:
            raise UnknownName("precision", self.precision, PRECISIONS)
        half = self.precision == "bfloat16" or (self.precision == "auto" and device.type == "cuda")
        return torch.autocast(device.type, torch.bfloat16, enabled=half)

    def _check_fitted(self) -> None:
        if not hasattr(self, "module_"):
            raise NotReady("the model has not been fitted; call fit(X, y) first.")

    def _device(self) -> torch.device:
        return torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.default_rng().integers(2**63))
        return as_count(self.random_state, "random_state", least=0)


def _output_width(module: nn.Module, items: Tensor) -> int:
    """Give the number of classes by asking the module about one item."""
    module.eval()
    try:
        with torch.inference_mode():
            logits = module(items)
    except RuntimeError as error:
        raise InvalidInput(
            f"{type(module).__name__} does not accept items of shape {tuple(items.shape[1:])}: {error}"
        ) from error
    if logits.ndim != 2 or logits.shape[1] < 2:
        raise InvalidInput(
            f"{type(module).__name__} gives shape {tuple(logits.shape)} for one item; expected logits "
            "(1, classes) with two or more classes."
        )
    return int(logits.shape[1])


def _reset(module: nn.Module) -> None:
    """Draw new weights: by the module's own `reset_parameters` where it has one, else by its parts'; not if frozen."""
    if not any(weight.requires_grad for weight in module.parameters()):
        return
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()
    else:
        for part in module.children():
            _reset(part)


def _plain(value: Any) -> Any:
    """Give a setting without NumPy's types, which a file of weights cannot hold."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


@contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch inside the block and leave the process's generators untouched."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _tile_rows(item_shape: tuple[int, ...], device: torch.device) -> int:
    rows = TILE_BYTES // (4 * max(1, int(np.prod(item_shape))))
    return min(2048, max(16, rows)) if device.type == "cpu" else min(8192, max(256, 16 * rows))


def _softmax(logits: Tensor) -> Probs:
    """Give the softmax over the last axis in float64."""
    return np.asarray(torch.softmax(logits.double(), -1).numpy())
