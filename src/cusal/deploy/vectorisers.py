"""Items of new data as the vectors that a model was fitted on, chunk by chunk.

| name | items | what a model file holds |
|---|---|---|
| tfidf | texts | the vocabulary and its weights |
| minilm | texts | nothing: the network comes with the extra `text` |
| efficientnet_lite0 | paths of images | the side of the square that the network sees |
| table | rows, a dictionary each | the columns, their scales and categories |
| function | whatever the user's function takes | its name, "package.module:function": calling it needs trust |
| vectors | vectors | nothing: the user computes them |

Adding a vectoriser is adding its class here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from cusal._import_name import import_name
from cusal._types import Indices
from cusal.errors import DataError, InvalidInput
from cusal.features import TableFeatures, TextFeatures, sentence_vectors
from cusal.features._states import table_features, table_state, text_features, text_state


@dataclass(frozen=True)
class Vectorised:
    """The vectors of those items that could be read, by position: rows (some,), matrix (some, columns).

    broken: why an item could not be read, in a sentence, by its position.
    """

    rows: Indices
    matrix: Any
    broken: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def whole(cls, matrix: Any) -> Self:
        """Return vectors of all items."""
        return cls(np.arange(matrix.shape[0]), matrix)


class Vectoriser(Protocol):
    """What turns items into vectors."""

    name: ClassVar[str]
    items: ClassVar[str]  # what it takes, for messages

    def vectors(self, items: Sequence[Any]) -> Vectorised:
        """Return the vectors of items."""

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as plain values and arrays."""

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "Vectoriser":
        """Return the vectoriser of a state."""


@dataclass(frozen=True)
class TfIdf:
    """TF-IDF rows of texts."""

    features: TextFeatures
    name: ClassVar[str] = "tfidf"
    items: ClassVar[str] = "texts"

    def vectors(self, items: Sequence[Any]) -> Vectorised:
        """Return sparse rows, (n, terms)."""
        return Vectorised.whole(self.features.transform(items))

    def state(self) -> dict[str, Any]:
        """Return the vocabulary and its weights."""
        return text_state(self.features)

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "TfIdf":
        """Return the vectoriser of a state."""
        return cls(text_features(state))


@dataclass(frozen=True)
class Sentences:
    """Vectors of texts by MiniLM."""

    name: ClassVar[str] = "minilm"
    items: ClassVar[str] = "texts"

    def vectors(self, items: Sequence[Any]) -> Vectorised:
        """Return vectors of unit length, (n, 384)."""
        return Vectorised.whole(sentence_vectors(items))

    def state(self) -> dict[str, Any]:
        """Return nothing: the network is not part of a model file."""
        return {}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "Sentences":
        """Return the vectoriser."""
        return cls()


@dataclass(frozen=True)
class ImageNetwork:
    """Vectors of image files by EfficientNet-Lite0, which sees squares of `side` pixels."""

    side: int
    name: ClassVar[str] = "efficientnet_lite0"
    items: ClassVar[str] = "paths of images"

    def vectors(self, items: Sequence[Any]) -> Vectorised:
        """Return vectors (n, 1280); broken and missing files are set aside."""
        from cusal.features.image_files import stream_image_vectors

        rows, parts, broken = [], [], dict[int, str]()
        for chunk in stream_image_vectors([str(path) for path in items], side=self.side):
            rows.append(chunk.rows)
            parts.append(chunk.vectors)
            broken |= chunk.broken | dict.fromkeys(chunk.missing, "The file is missing.")
        if not rows:
            return Vectorised(np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.float32))
        return Vectorised(np.concatenate(rows), np.concatenate(parts), broken)

    def state(self) -> dict[str, Any]:
        """Return the side."""
        return {"side": self.side}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "ImageNetwork":
        """Return the vectoriser of a state."""
        return cls(int(state["side"]))


@dataclass(frozen=True)
class Table:
    """Rows of a table, scaled and encoded; a row is a dictionary of its `columns`, of which some may be missing."""

    columns: tuple[str, ...]
    features: TableFeatures
    name: ClassVar[str] = "table"
    items: ClassVar[str] = "rows"

    def vectors(self, items: Sequence[Any]) -> Vectorised:
        """Return vectors (n, features)."""
        absent = [name for name in self.columns if not any(name in row for row in items)]
        if absent and len(items):
            raise InvalidInput(
                f"the rows have no column {absent[0]!r}, which the model was fitted with; give a table with the "
                f"columns {', '.join(self.columns)}."
            )
        cells = np.empty((len(items), len(self.columns)), dtype=object)
        for place, name in enumerate(self.columns):
            cells[:, place] = [row.get(name) for row in items]
        return Vectorised.whole(self.features.transform(cells))

    def state(self) -> dict[str, Any]:
        """Return the columns and what was learned of each."""
        return {"columns": list(self.columns), "features": table_state(self.features)}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "Table":
        """Return the vectoriser of a state."""
        return cls(tuple(state["columns"]), table_features(state["features"]))


@dataclass(frozen=True)
class OwnFunction:
    """Vectors by a function of the user's, "package.module:function"."""

    function: str
    name: ClassVar[str] = "function"
    items: ClassVar[str] = "items"

    def vectors(self, items: Sequence[Any]) -> Vectorised:
        """Return what the function says, (n, columns)."""
        found = import_name(self.function, "features")(list(items))
        matrix = found if hasattr(found, "tocsr") else np.asarray(found)
        if matrix.ndim != 2 or matrix.shape[0] != len(items):
            raise InvalidInput(
                f"{self.function} returned shape {matrix.shape} of {len(items)} items; expected (items, columns): "
                "return one row for each."
            )
        return Vectorised.whole(matrix)

    def state(self) -> dict[str, Any]:
        """Return the name of the function."""
        return {"function": self.function}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "OwnFunction":
        """Return the vectoriser of a state."""
        return cls(str(state["function"]))


@dataclass(frozen=True)
class Given:
    """Vectors that the user computed."""

    name: ClassVar[str] = "vectors"
    items: ClassVar[str] = "vectors"

    def vectors(self, items: Sequence[Any]) -> Vectorised:
        """Return the items as a matrix."""
        matrix: Any = items if hasattr(items, "tocsr") else np.asarray(items)
        if matrix.dtype.kind not in "fiu" or matrix.ndim != 2:
            raise InvalidInput(
                f"items have shape {matrix.shape} and type {matrix.dtype}, but this model was fitted on vectors from a "
                "file; give the vectors of the new items, (items, columns)."
            )
        return Vectorised.whole(matrix)

    def state(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "Given":
        """Return the vectoriser."""
        return cls()


VECTORISERS: dict[str, type[Vectoriser]] = {
    kind.name: kind for kind in (TfIdf, Sentences, ImageNetwork, Table, OwnFunction, Given)
}


def restore_vectoriser(name: str, state: Mapping[str, Any], *, trusted: bool) -> Vectoriser:
    """Return a vectoriser by its name and state; one that calls the user's code needs trust."""
    if name not in VECTORISERS:
        raise DataError(f"the model needs the features {name!r}, which this version does not have; update cusal.")
    if name == OwnFunction.name and not trusted:
        raise DataError(
            f"the model's features come from the function {state['function']}, and calling it runs code; if you trust "
            "where the file comes from, load it with trusted=True (--trust)."
        )
    return VECTORISERS[name].restore(state)
