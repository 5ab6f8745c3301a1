"""A scikit-learn style classifier around a torch module: fit, predict, embed, sample, save and load.

What is minimised is the objective's to say (`objectives/`), how it is minimised is in `training.py`.
Data stay in memory as one tensor, or on disk if they are lazy, and batches are taken by index: no Python for each row.
"""

import copy
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from torch import Tensor, nn

from cusal._checks import as_count
from cusal._prefetch import read_ahead
from cusal.errors import InvalidInput, MissingMethod, NotReady, UnknownName
from cusal.models import dropout, weights_file
from cusal.models.class_labels import number_labels
from cusal.models.mini_batches import as_items, as_values, is_lazy, rows_of
from cusal.models.module_checks import PROBE, as_module, output_width
from cusal.models.objectives import Objective, TrainingData
from cusal.models.objectives.cross_entropy import CrossEntropy
from cusal.models.training import casting, reset, seeded, train

PLAIN = CrossEntropy()
TILE_BYTES = 1 << 19  # of input; activations are a few times larger and should stay in the cache with it

Probs = NDArray[np.float64]


def _objective_has(method: str) -> Any:
    return available_if(lambda model: isinstance(model.objective, Objective) and hasattr(model.objective, method))


class TorchClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier that trains a torch module with Adam.

    Use it to hand any network to a `Session`, a grid or scikit-learn. It trains on cross entropy; with another
    objective also on unlabelled items (`Energy`) or on augmented ones (`Augmented`). `scoring_proba`, `scoring_embed`
    and `energy` exist where the objective offers them.

    Parameters
    ----------
    module : nn.Module
        Maps float32 items (n, ...) to logits (n, classes), without a softmax. It stays as it is: the trained copy is
        `module_`.
    objective : Objective
        What is minimised: `CrossEntropy()`, `Energy(...)` or `Augmented(...)`.
    pretrained : bool
        Start from the weights that `module` has, not from new ones. Frozen layers keep theirs in any case.
    epochs, batch_size, learning_rate, weight_decay : int, int, float, float
        Of each fit; the optimiser starts again each time.
    warm_start : bool
        Continue from the weights of the fit before; otherwise every fit draws new ones.
    device : str, optional
        "cpu", "cuda" and so on; None takes CUDA where there is one.
    precision : str
        "float32"; "bfloat16" for matrix products and convolutions, weights staying float32; "auto", which is the
        latter on CUDA alone, since processors without such arithmetic are slower with it.
    random_state : int, optional
        Seeds weights (each layer's `reset_parameters`), shuffles and dropout; None draws a new seed for each fit.

    Attributes
    ----------
    module_ : nn.Module
        The trained network.
    classes_ : array, (classes,)
        What the columns stand for: 0 .. classes - 1 for class numbers, else the sorted labels.
    seed_ : int
        The seed of the last fit.
    item_shape_ : tuple of int
        The shape of one item.

    Raises
    ------
    InvalidInput
        If `module` is no instance of `nn.Module`.

    Examples
    --------
    >>> import numpy as np
    >>> from cusal.models.networks import SmallNet
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = TorchClassifier(SmallNet(2, 2), epochs=100, learning_rate=0.01, random_state=0)
    >>> model.fit(X, [0, 1, 1, 0]).predict(X).tolist()
    [0, 1, 1, 0]
    """

    module_: nn.Module
    classes_: NDArray[Any]

    def __init__(
        self,
        module: nn.Module,
        *,
        objective: Objective = PLAIN,
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
        self.module = as_module(module)
        self.objective = objective
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

    def set_params(self, **params: Any) -> Self:
        """Change settings by name; `objective__name` changes one of the objective.

        Parameters
        ----------
        **params
            Settings, as in scikit-learn.

        Returns
        -------
        TorchClassifier
            The classifier itself.
        """
        inner = {name: value for name, value in params.items() if name.startswith("objective__")}
        super().set_params(**{name: value for name, value in params.items() if name not in inner})
        if inner:
            # An objective never changes, and may be shared with other classifiers: this one gets another.
            objective = self._objective()
            changes = {name.removeprefix("objective__"): value for name, value in inner.items()}
            known = objective.get_params()
            for name in changes:
                if name not in known:
                    raise UnknownName(f"setting of {type(objective).__name__}", name, known)
            self.objective = type(objective)(**known | changes)
        return self

    @property
    def uses_unlabelled(self) -> bool:
        """Whether the model is to be fitted with the unlabelled items at hand."""
        return bool(getattr(self.objective, "uses_unlabelled", False))

    def fit(self, X: Any, y: Any, *, unlabelled: Any = None) -> Self:
        """Train on labelled items; on an error the model stays as it was.

        Parameters
        ----------
        X : array-like, tensor or lazy items, (n, ...)
            Items of numbers.
        y : array-like, (n,)
            Class numbers from 0 to outputs - 1, some of which may be missing; or labels of any kind, of which there
            must be one for each output of the network.
        unlabelled : items, (m, ...), optional
            Further items, for an objective that uses them: anything with a length that an integer array can index.

        Returns
        -------
        TorchClassifier
            The classifier itself.

        Raises
        ------
        InvalidInput
            If a setting, the module, X or y does not fit, or training diverges.
        """
        fitted = copy.copy(self)
        fitted._fit(X, y, unlabelled)
        self.__dict__.update(fitted.__dict__)
        return self

    def predict_proba(self, X: Any) -> Probs:
        """Return probabilities in float64; rows sum to one and tiny probabilities survive.

        Parameters
        ----------
        X : items, (n, ...)
            Of the shape that the model was fitted on.

        Returns
        -------
        array, (n, classes)
            Its columns are `classes_`.
        """
        return _softmax(self._logits(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each item.

        Parameters
        ----------
        X : items, (n, ...)
            Of the shape that the model was fitted on.

        Returns
        -------
        array, (n,)
            Of the kind of `classes_`.
        """
        numbers = self._logits(X).argmax(1).numpy()
        return np.asarray(self.classes_[numbers])

    def embed(self, X: Any) -> NDArray[np.float32]:
        """Return the last hidden layer, the input of the module's last `nn.Linear`.

        Parameters
        ----------
        X : items, (n, ...)
            Of the shape that the model was fitted on.

        Returns
        -------
        array, (n, width)
            One row for each item.

        Raises
        ------
        MissingMethod
            If the module has no `nn.Linear`.
        """
        self._check_fitted()
        with last_hidden(self.module_) as hidden:
            return np.asarray(self._run(X, hidden).numpy())

    def sample_proba(self, X: Any, n: int) -> Probs:
        """Return probabilities under n Monte-Carlo dropout masks; repeatable after one fit.

        Dropout acts at the module's `sample_dropout` where it has that attribute, else at each layer's rate.

        Parameters
        ----------
        X : items, (rows, ...)
            Of the shape that the model was fitted on.
        n : int
            Number of samples.

        Returns
        -------
        array, (rows, n, classes)
            The masks of a sample are the same for all rows.

        Raises
        ------
        MissingMethod
            If the module has no dropout, so that all samples would be equal.
        """
        as_count(n, "n")
        self._check_fitted()
        with dropout.sampling(self.module_, n, seed=self.seed_) as sampled:
            return _softmax(self._run(X, sampled))

    @_objective_has("scoring_proba")
    def scoring_proba(self, X: Any) -> Probs:
        """Return the probabilities that strategies see of the items, (n, classes), where the objective has such."""
        return np.asarray(self.objective.scoring_proba(self, X))  # type: ignore[attr-defined]

    @_objective_has("scoring_embed")
    def scoring_embed(self, X: Any) -> NDArray[np.float32]:
        """Return the embedding that strategies see of the items, (n, width), where the objective has such."""
        return np.asarray(self.objective.scoring_embed(self, X))  # type: ignore[attr-defined]

    @_objective_has("energy")
    def energy(self, X: Any) -> NDArray[np.float64]:
        """Return the energy of each item, (n,), lower for more probable ones, where the objective has such."""
        return np.asarray(self.objective.energy(self, X))  # type: ignore[attr-defined]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings and what was fitted to `path`; a file that is there is replaced in one step.

        Parameters
        ----------
        path : path-like
            The file, in the safetensors format. The module's own code is not in it.

        Raises
        ------
        NotReady
            If the model has not been fitted.
        """
        self._check_fitted()
        weights_file.write(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str], module: nn.Module, *, objective: Objective | None = None) -> Self:
        """Return the classifier saved at `path`; nothing that the file holds is run.

        Parameters
        ----------
        path : path-like
            A file that `save` wrote, in this version or an earlier one.
        module : nn.Module
            The architecture that it was made with.
        objective : Objective, optional
            The objective, where it is one of your own; the file knows cusal's by name.

        Returns
        -------
        TorchClassifier
            With the settings and the weights of the file.

        Raises
        ------
        DataError
            If the file is missing, damaged or no such file.
        InvalidInput
            If `module` is of another architecture.
        """
        content = weights_file.read(path)
        if objective is None:
            objective = content.objective()
        try:
            model = cls(module, objective=objective, **content.settings)
        except TypeError as error:
            raise InvalidInput(f"{path} was written by another class than {cls.__name__}: {error}") from error
        content.restore(model)
        model.module_.to(model._device())
        return model

    def _fit(self, X: Any, y: Any, unlabelled: Any) -> None:
        """Train this object, which is a copy of the one that the user holds."""
        device, objective, seed = self._device(), self._objective(), self._seed()
        if unlabelled is not None and not objective.uses_unlabelled:
            raise InvalidInput(f"{type(objective).__name__} uses no unlabelled items; leave `unlabelled` out.")
        items = as_items(X, device)
        fresh = not (self.warm_start and hasattr(self, "module_"))
        module = copy.deepcopy(as_module(self.module) if fresh else self.module_).to(device)
        outputs = output_width(module, rows_of(items, slice(0, PROBE), device))
        known = None if fresh else self.classes_
        numbers, classes = number_labels(y, count=len(items), outputs=outputs, known=known)
        labels = torch.from_numpy(numbers).to(device)
        data = TrainingData(items, labels, unlabelled if unlabelled is not None and len(unlabelled) else items)
        with seeded(seed, device):
            if fresh and not self.pretrained:
                reset(module)
            training = objective.start(self, data)
            train(module, data, training, self)
        self.module_, self.seed_, self.item_shape_ = module, seed, tuple(items.shape[1:])
        self.classes_ = classes
        self.__dict__.update(training.fitted(self))

    def _logits(self, X: Any) -> Tensor:
        """Return logits (n, classes) on the CPU."""
        return self._run(X, lambda tile: self.module_(tile))

    def _run(self, X: Any, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the results of `function` for the items, tile by tile, on the CPU."""
        self._check_fitted()
        device = next(self.module_.parameters()).device
        with casting(self.precision, device):
            return run_tiles(function, X, item_shape=self.item_shape_, device=device)

    def _check_fitted(self) -> None:
        if not hasattr(self, "module_"):
            raise NotReady("the model has not been fitted; call fit(X, y) first.")

    def _objective(self) -> Objective:
        given: Any = self.objective
        if not isinstance(given, Objective):
            met = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
            raise InvalidInput(
                f"objective is {met}; expected an objective with its settings, such as cusal.models.Energy()."
            )
        return given

    def _device(self) -> torch.device:
        return torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.default_rng().integers(2**63))
        seed = as_count(self.random_state, "random_state", least=0)
        if seed >= 2**64:
            raise InvalidInput(f"random_state is {seed}; expected a whole number below 2**64, or None.")
        return seed


def _softmax(logits: Tensor) -> Probs:
    """Return the softmax over the last axis in float64."""
    return np.asarray(torch.softmax(logits.double(), -1).numpy())


@contextmanager
def last_hidden(module: nn.Module) -> Iterator[Callable[[Tensor], Tensor]]:
    """Yield the function that returns the last hidden layer (rows, width) of a tile of items."""
    layers = [layer for layer in module.modules() if isinstance(layer, nn.Linear)]
    if not layers:
        raise MissingMethod(
            f"{type(module).__name__} has no nn.Linear layer, so its last hidden layer is unknown; "
            "end the module with one, or use a strategy without embeddings."
        )
    seen: list[Tensor] = []
    handle = layers[-1].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0]))
    try:
        yield lambda tile: (module(tile), seen.pop())[1].flatten(1)
    finally:
        handle.remove()


def run_tiles(
    function: Callable[[Tensor], Tensor], X: Any, *, item_shape: tuple[int, ...], device: torch.device
) -> Tensor:
    """Apply `function` tile by tile, without gradients, and return its rows on the CPU, (n, ...).

    Tiles stay in the processor's cache. A matrix product may round differently in a tile of another size: the last bits
    of a row's probabilities can depend on the number of rows predicted.
    """
    values = as_values(X)
    if tuple(values.shape[1:]) != item_shape or len(values.shape) == 0:
        raise InvalidInput(
            f"X has shape {tuple(values.shape)}; expected (n, {', '.join(map(str, item_shape))}), "
            "the shape that the model was fitted on."
        )
    step = _tile_rows(item_shape, device)
    starts = range(0, max(len(values), 1), step)  # no rows: one empty tile, which gives the right shape
    tiles = (rows_of(values, slice(s, s + step), device) for s in starts)
    with torch.inference_mode():
        return torch.cat([function(tile).float().cpu() for tile in (read_ahead(tiles) if is_lazy(X) else tiles)])


def _tile_rows(item_shape: tuple[int, ...], device: torch.device) -> int:
    rows = TILE_BYTES // (4 * max(1, int(np.prod(item_shape))))
    return min(2048, max(16, rows)) if device.type == "cpu" else min(8192, max(256, 16 * rows))
