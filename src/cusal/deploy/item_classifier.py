"""A classifier of items as people have them: image files, texts, rows of a table."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from cusal import _protocol as protocol
from cusal._types import Floats, Indices
from cusal.errors import CusalError, DataError, InvalidInput
from cusal.features.vectorisers import VectorisedItems, Vectoriser
from cusal.recalibration.scaling import Scaling
from cusal.recalibration.temperature import apply_temperature

CHUNK = 4096  # items whose vectors are in memory at a time
LISTS = {"rows": "a data frame, or a list of dictionaries", "vectors": "an array, (items, columns)"}


@dataclass(frozen=True)
class Temperature:
    """A recalibration by one temperature, which leaves a probability of zero as it is."""

    temperature: float

    def apply(self, probs: Floats) -> NDArray[np.float64]:
        """Return the recalibrated probabilities, (rows, classes)."""
        return apply_temperature(probs, self.temperature)


class ItemClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of image files, texts, rows of a table or vectors, as a project or a model file holds it.

    `cusal.load_model` returns one, and so does `Session.classifier`. It is a fitted classifier of scikit-learn's kind.
    Its probabilities are calibrated: of the items that it is 80 % sure of, about 80 %
    should be right, as long as they are like those of the project.

    Parameters
    ----------
    vectoriser : Vectoriser
        What turns items into vectors.
    outputs : Outputs
        What turns vectors into probabilities of named classes.
    card : dict, optional
        What is known of the model.

    Attributes
    ----------
    classes_ : (classes,) array
        The classes as they were told, in the order of the columns of `predict_proba`.
    features : str
        What turns items into vectors: "tfidf", "minilm", "efficientnet_lite0", "table", "function" or "vectors".
    card : dict
        Where the model comes from and how good it is: what card.json holds.

    Examples
    --------
    ::

        model = cusal.load_model("export/model.cusal")
        model.predict(["Where is my card?"])
    """

    def __init__(self, vectoriser: Vectoriser, outputs: "Outputs", card: dict[str, Any] | None = None) -> None:
        self.vectoriser, self.outputs = vectoriser, outputs
        self.card: dict[str, Any] = {} if card is None else card

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes as they were told, in the order of the columns of `predict_proba`."""
        names = self.outputs.names
        alike = all(isinstance(name, str) for name in names) or all(type(name) is type(names[0]) for name in names)
        found = np.empty(len(names), dtype=object)
        found[:] = names
        return np.array(names) if alike and not isinstance(names[0], tuple) else found

    @property
    def features(self) -> str:
        """What turns items into vectors."""
        return self.vectoriser.name

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Any:
        """Raise `InvalidInput`: it was fitted by a session, and learns more there."""
        raise InvalidInput("a model that was taken away is not fitted again; tell its session more labels, and export.")

    def __repr__(self) -> str:
        return f"ItemClassifier({len(self.classes_)} classes; features {self.features})"

    def predict_proba(self, items: Sequence[Any]) -> NDArray[np.float64]:
        """Return calibrated probabilities (items, classes), columns as `classes_`.

        Parameters
        ----------
        items : sequence
            Paths of images, texts, or rows of a table as dictionaries, as in the project. A model of vectors from a
            file takes vectors.

        Returns
        -------
        (items, classes) array
            Rows sum to one.

        Raises
        ------
        DataError
            If an image is missing or damaged; the message names it.
        InvalidInput
            If items are of another kind than the project's.
        """
        self._check(items)
        count = items.shape[0] if hasattr(items, "shape") else len(items)
        parts = [self._whole(items[start : start + CHUNK]) for start in range(0, count, CHUNK)]
        return np.concatenate(parts) if parts else np.empty((0, len(self.classes_)))

    def predict(self, items: Sequence[Any]) -> NDArray[Any]:
        """Return the name of the most probable class of each item, (items,)."""
        return np.asarray(self.classes_[self.predict_proba(items).argmax(axis=1)])

    def vectors(self, items: Sequence[Any]) -> VectorisedItems:
        """Return the vectors of those items that can be read, and why others cannot."""
        return self.vectoriser.transform(items)

    def classify(self, vectors: Any) -> NDArray[np.float64]:
        """Return calibrated probabilities (rows, classes) of vectors (rows, columns)."""
        return self.outputs.of(vectors)

    def _check(self, items: Any) -> None:
        """Raise `InvalidInput` for what is no sequence of items, such as the name of a file or a single row."""
        if isinstance(items, Mapping):
            raise InvalidInput(
                f"items is one {type(items).__name__}; give a frame of one row: frame.iloc[[0]], or a list of rows."
            )
        single = isinstance(items, str | bytes | os.PathLike)
        if single or not (hasattr(items, "shape") or (hasattr(items, "__len__") and hasattr(items, "__getitem__"))):
            kind = self.vectoriser.items
            raise InvalidInput(
                f"items is the {type(items).__name__} {str(items)!r:.60}; expected "
                f"{LISTS.get(kind, f'a list of {kind}')}. "
                "Items of a file are classified by `cusal predict`."
            )

    def _whole(self, items: Sequence[Any]) -> NDArray[np.float64]:
        found = self.vectors(items)
        for row, reason in sorted(found.broken.items()):
            raise DataError(f"{items[row]} cannot be used: {reason} Leave it out.")
        return self.classify(found.matrix)


@dataclass(frozen=True)
class Outputs:
    """From vectors to probabilities of named classes.

    head: predicts class numbers. numbers: how many there are. columns, names: the numbers that are shown, and as what.
    """

    head: protocol.Model
    recalibration: Scaling | Temperature
    numbers: int
    columns: Indices
    names: tuple[Any, ...] = field(default=())

    def of(self, vectors: Any) -> NDArray[np.float64]:
        """Return calibrated probabilities, (rows, names)."""
        if not vectors.shape[0]:
            return np.empty((0, len(self.columns)))
        try:
            raw = protocol.predict_proba(self.head, vectors, self.numbers)
            probs = self.recalibration.apply(raw)[:, self.columns]
        except CusalError:
            raise
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, RuntimeError, ArithmeticError) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise InvalidInput(
                f"the model cannot classify vectors of shape {vectors.shape} ({reason}); give items of the kind that "
                "it was fitted to."
            ) from error
        # Only a class that is gone, merged or deleted, takes something from the others here.
        return np.asarray(probs / probs.sum(axis=1, keepdims=True)) if len(self.columns) < self.numbers else probs
