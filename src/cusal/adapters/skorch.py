"""Nets of skorch (1.4.0) as models with embeddings and dropout samples.

A net by itself has `fit` and `predict_proba`, refuses float64 items and seeds nothing. Here it is seeded, takes items
as they come, and offers what strategies such as BADGE and BALD look at.
"""

import copy
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from skorch import NeuralNet, NeuralNetBinaryClassifier
from torch import Tensor

from cusal._checks import as_array, as_count
from cusal.errors import InvalidInput, NotReady
from cusal.models import dropout
from cusal.models.class_labels import number_labels
from cusal.models.torch_classifier import last_hidden
from cusal.models.training import seeded

TILE = 1024  # rows that the module sees at once


class SkorchClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A net of skorch as a model for sessions, grids and scikit-learn.

    Embeddings are what the module's last `nn.Linear` is given. Samples are predictions with the module's dropout
    layers active. Both need nothing from the module but these layers.

    Parameters
    ----------
    net : skorch.NeuralNetClassifier or skorch.NeuralNetBinaryClassifier
        The net with its settings; it stays as it is. If its module is a class or a function, each fit draws new
        weights; a module that is an object starts each fit with the weights that it has. By default skorch holds out a
        fifth of the labels, and cannot if a class has few: with few labels, give it `train_split=None`.
    random_state : int, optional
        Seeds weights, shuffles and dropout; None draws a new seed for each fit.

    Attributes
    ----------
    net_ : skorch.NeuralNet
        The fitted copy.
    classes_ : (classes,) array
        What the columns stand for: 0 .. classes - 1 for class numbers, else the sorted labels.
    seed_ : int
        The seed of the last fit.

    Examples
    --------
    >>> from skorch import NeuralNetClassifier
    >>> from torch import nn
    >>> from cusal.models.networks import SmallNet
    >>> net = NeuralNetClassifier(
    ...     SmallNet(2, 2), criterion=nn.CrossEntropyLoss, max_epochs=50, lr=0.5, train_split=None, verbose=0)
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = SkorchClassifier(net, random_state=0).fit(X, [0, 1, 0, 1])
    >>> model.predict(X), model.embed(X).shape, model.sample_proba(X, 5).shape
    (array([0, 1, 0, 1]), (4, 64), (4, 5, 2))
    """

    net_: NeuralNet
    classes_: NDArray[Any]

    def __init__(self, net: Any, *, random_state: int | None = None) -> None:
        self.net = net
        self.random_state = random_state

    @property
    def warm_start(self) -> bool:
        """Whether the net continues from its previous fit."""
        return bool(getattr(self.net, "warm_start", False))

    def fit(self, X: Any, y: Any) -> Self:
        """Train a copy of the net on labelled items.

        Parameters
        ----------
        X : (n, ...) array
            The items; float64 becomes float32.
        y : (n,) array
            Class numbers, some of which may be missing, or one kind of label for each output.

        Returns
        -------
        SkorchClassifier
            The classifier itself.

        Raises
        ------
        InvalidInput
            If `net` is no net of skorch, or skorch refuses the items or labels.
        """
        if not isinstance(self.net, NeuralNet):
            raise InvalidInput(f"net is {self.net!r}; expected a net such as skorch.NeuralNetClassifier(module).")
        continues = self.warm_start and hasattr(self, "net_")
        net, items, seed = copy.deepcopy(self.net_ if continues else self.net), _as_items(X), self._seed()
        with seeded(seed, torch.device(net.device or "cpu")):
            if not continues:
                net.initialize()
            outputs = net.predict_proba(items[:1]).shape[1]
            known = self.classes_ if continues else None
            numbers, classes = number_labels(y, count=len(items), outputs=outputs, known=known)
            binary = isinstance(net, NeuralNetBinaryClassifier)
            try:
                net.fit(items, numbers.astype(np.float32 if binary else np.int64))
            except (ValueError, RuntimeError) as error:
                raise InvalidInput(
                    f"skorch cannot fit the net to {len(items)} items: {error}; with few labels, make it with "
                    "train_split=None."
                ) from error
        net.module_.eval()
        self.net_, self.classes_, self.seed_ = net, classes, seed
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities (n, classes), columns as `classes_`.

        Parameters
        ----------
        X : (n, ...) array
            The items.
        """
        return np.asarray(self._fitted().predict_proba(_as_items(X)), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each item, (n,).

        Parameters
        ----------
        X : (n, ...) array
            The items.
        """
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def embed(self, X: Any) -> NDArray[np.float32]:
        """Return the last hidden layer, the input of the module's last `nn.Linear`, (n, width).

        Parameters
        ----------
        X : (n, ...) array
            The items.

        Raises
        ------
        MissingMethod
            If the module has no `nn.Linear`.
        """
        with last_hidden(self._fitted().module_) as hidden:
            return self._run(X, hidden)

    def sample_proba(self, X: Any, n: int) -> NDArray[np.float32]:
        """Return probabilities under n Monte-Carlo dropout masks, (rows, n, classes); repeatable after one fit.

        Parameters
        ----------
        X : (rows, ...) array
            The items.
        n : int
            Number of samples.

        Raises
        ------
        MissingMethod
            If the module has no dropout, so that all samples would be equal.
        """
        net = self._fitted()
        as_probs = net._get_predict_nonlinearity()  # softmax of logits, nothing for a module that returns probabilities
        with dropout.sampling(net.module_, as_count(n, "n"), seed=self.seed_) as sampled:
            return self._run(X, lambda tile: torch.stack([as_probs(each) for each in sampled(tile).unbind(1)], 1))

    def _run(self, X: Any, function: Any) -> NDArray[np.float32]:
        """Return the results of `function` for the items, tile by tile."""
        items, device = torch.from_numpy(_as_items(X)), torch.device(self._fitted().device or "cpu")
        with torch.inference_mode():
            tiles: list[Tensor] = [function(tile.to(device)).float().cpu() for tile in items.split(TILE)]
        return np.asarray(torch.cat(tiles).numpy())

    def _fitted(self) -> Any:
        if not hasattr(self, "net_"):
            raise NotReady("the net has not been fitted; call fit(X, y) first.")
        return self.net_

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.default_rng().integers(2**31 - 1))
        return as_count(self.random_state, "random_state", least=0)


def _as_items(X: Any) -> NDArray[Any]:
    """Return the items as an array that a net takes: modules have float32 weights, whole numbers may be tokens."""
    items = as_array(X)
    return np.ascontiguousarray(items, dtype=np.float32 if items.dtype.kind == "f" else items.dtype)
