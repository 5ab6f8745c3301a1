"""Items of any kind as vectors: what a session learns from, an exported model is given, and a model file holds.

| name | items | learned by `fit`, and held by a model file |
|---|---|---|
| tfidf | texts | the vocabulary and its weights |
| minilm | texts | nothing: the network comes with the extra `text` |
| efficientnet_lite0 | paths of images | the side of the square that the network sees |
| table | rows, a dictionary each | the columns, their scales and categories |
| function | whatever the user's function takes | its name, "package.module:function": calling it needs trust |
| vectors | vectors | nothing: the user computes them |

Vectors of networks are kept on disk one by one (`vector_cache`). Adding a vectoriser is adding its class here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
from scipy.sparse import issparse, vstack

from cusal._arguments import as_flag, is_whole
from cusal._checks import as_array, import_name
from cusal._stored import expect, stored_array, stored_number
from cusal._types import Indices
from cusal.errors import DataError, InvalidInput, NotReady
from cusal.features.sentences import WIDTH, stream_sentence_vectors
from cusal.features.tables import TableFeatures, _Categories, _Numbers, _Texts
from cusal.features.texts import TextFeatures, vectorizers
from cusal.tables import Notation

CHUNK = 256  # items that a function of the user is called with
MOST_NAMED = 10  # columns that a message names
Advance = Callable[[int], None]  # called with how many more items are done


@dataclass(frozen=True)
class VectorisedItems:
    """The vectors of those items that could be read.

    Attributes
    ----------
    rows : (some,) int64 array
        Positions of the items that have a vector, ascending.
    matrix : (some, columns) array or sparse matrix
        Their vectors.
    broken : mapping of int to str
        Why an item could not be read, in a sentence, by its position.
    missing : tuple of int
        Positions of files that are not there; they are `broken` too.

    Examples
    --------
    >>> GivenVectors().transform(np.eye(2)).rows
    array([0, 1])
    """

    rows: Indices
    matrix: Any
    broken: Mapping[int, str] = field(default_factory=dict)
    missing: tuple[int, ...] = ()

    @classmethod
    def whole(cls, matrix: Any) -> Self:
        """Return vectors of all items."""
        return cls(np.arange(matrix.shape[0]), matrix)


class Vectoriser(Protocol):
    """What turns items into vectors: `fit` on the first items, then `transform` these and any others.

    Attributes
    ----------
    name : str
        What a model file calls it.
    items : str
        What it takes, for messages.
    in_parts : bool
        Whether vectors take long and each depends on its item alone, so that they are better made part by part.

    Examples
    --------
    >>> words = WordVectors().fit(["see you at lunch", "call me after lunch"])
    >>> again = WordVectors.restore(words.state())
    >>> again.transform(["lunch?"]).matrix.shape == words.transform(["lunch?"]).matrix.shape
    True
    """

    name: ClassVar[str]
    items: ClassVar[str]
    in_parts: ClassVar[bool]

    @property
    def key(self) -> str:
        """What tells these vectors from others that do not mix with them."""

    def fit(self, items: Sequence[Any]) -> Self:
        """Learn from items what the vectors depend on."""

    def transform(self, items: Sequence[Any], advance: Advance = ...) -> VectorisedItems:
        """Return the vectors of items; `advance` is called with how many more are done."""

    def fit_transform(self, items: Sequence[Any], advance: Advance = ...) -> VectorisedItems:
        """Learn from items and return their vectors; both at once may take half the time."""

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as plain values and arrays."""

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Return the vectoriser of a state."""


def _ignore(count: int) -> None:
    """Report progress to nobody."""


class _Vectoriser:
    """What a vectoriser is where it learns nothing and is called by its name."""

    name: ClassVar[str]
    items: ClassVar[str]
    in_parts: ClassVar[bool] = False
    transform: Callable[..., VectorisedItems]

    @property
    def key(self) -> str:
        """What tells these vectors from others that do not mix with them."""
        return self.name

    def fit(self, items: Sequence[Any]) -> Self:
        """Return the vectoriser: it learns nothing."""
        return self

    def fit_transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Learn from items and return their vectors."""
        return self.fit(items).transform(items, advance)

    def state(self) -> dict[str, Any]:
        """Return nothing: there is nothing to restore."""
        return {}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Return the vectoriser of a state."""
        return cls(**state)


@dataclass
class WordVectors(_Vectoriser):
    """TF-IDF rows of texts, by `TextFeatures`.

    Parameters
    ----------
    features : TextFeatures, optional
        Fitted ones; by default `fit` makes them.

    Examples
    --------
    >>> WordVectors().fit(["see you at lunch", "call me"]).transform(["lunch"]).rows
    array([0])
    """

    features: TextFeatures | None = None
    name: ClassVar[str] = "tfidf"
    items: ClassVar[str] = "texts"

    def fit(self, items: Sequence[Any]) -> Self:
        """Learn the words."""
        self.features = TextFeatures().fit(items)
        return self

    def fit_transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Learn the words and return sparse rows, (n, terms), in half the time of both."""
        features = TextFeatures()
        matrix = features.fit_transform(items)
        self.features = features
        advance(len(items))
        return VectorisedItems.whole(matrix)

    def transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Return sparse rows, (n, terms)."""
        matrix = _fitted(self.features, self).transform(items)
        advance(len(items))
        return VectorisedItems.whole(matrix)

    def state(self) -> dict[str, Any]:
        """Return the vocabulary and its weights."""
        return text_state(_fitted(self.features, self))

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Return the vectoriser of a state."""
        return cls(text_features(state))


@dataclass
class SentenceVectors(_Vectoriser):
    """Vectors of texts by MiniLM, as `sentence_vectors` makes them.

    Examples
    --------
    >>> SentenceVectors().name
    'minilm'
    """

    name: ClassVar[str] = "minilm"
    items: ClassVar[str] = "texts"
    in_parts: ClassVar[bool] = True

    def transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Return vectors of unit length, (n, 384); what is on disk is not computed."""
        matrix = np.empty((len(items), WIDTH), dtype=np.float32)
        for rows, found in stream_sentence_vectors(items):
            matrix[rows] = found
            advance(len(rows))
        return VectorisedItems.whole(matrix)


@dataclass
class ImageVectors(_Vectoriser):
    """Vectors of image files by EfficientNet-Lite0, as `image_vectors` makes them.

    Parameters
    ----------
    side : int, optional
        Pixels of the square that the network sees; by default `fit` chooses it by the size of the images.
    remembered : bool
        Whether a file that is missing now has the vector of the time when it was there.

    Examples
    --------
    >>> ImageVectors(160).key
    'efficientnet_lite0-160'
    """

    side: int | None = None
    remembered: bool = False
    name: ClassVar[str] = "efficientnet_lite0"
    items: ClassVar[str] = "paths of images"
    in_parts: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """The network and the side: vectors of another side are others."""
        return self.name if self.side is None else f"{self.name}-{self.side}"

    def fit(self, items: Sequence[Any]) -> Self:
        """Choose the side, where it was not given."""
        from cusal.features.image_files import choose_side  # loads what decodes images

        self.side = self.side or choose_side([str(path) for path in items])
        return self

    def transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Return vectors (some, 1280) of the files that are images."""
        from cusal.features.image_files import stream_image_vectors
        from cusal.features.images import WIDTH as COLUMNS

        has, matrix = np.zeros(len(items), dtype=np.bool_), np.zeros((len(items), COLUMNS), dtype=np.float32)
        broken: dict[int, str] = {}
        missing: list[int] = []
        side = _fitted(self.side, self)
        for chunk in stream_image_vectors([str(path) for path in items], side=side, remembered=self.remembered):
            has[chunk.rows] = True
            matrix[chunk.rows] = chunk.vectors
            missing += chunk.missing
            broken |= chunk.broken | dict.fromkeys(chunk.missing, "The file is missing.")
            advance(len(set(chunk.rows.tolist()) | set(chunk.broken) | set(chunk.missing)))
        return VectorisedItems(np.flatnonzero(has), matrix if has.all() else matrix[has], broken, tuple(missing))

    def state(self) -> dict[str, Any]:
        """Return the side."""
        return {"side": _fitted(self.side, self)}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Return the vectoriser of a state."""
        return cls(int(state["side"]))


@dataclass
class TableVectors(_Vectoriser):
    """Rows of a table, scaled and encoded by `TableFeatures`; a row is a dictionary, which may lack some columns.

    Parameters
    ----------
    columns : tuple of str
        The names of the columns; by default those of the rows that `fit` is given.
    features : TableFeatures, optional
        Fitted ones; by default `fit` makes them.

    Examples
    --------
    >>> TableVectors().fit([{"size": 1}, {"size": 3}]).transform([{"size": 2}]).matrix
    array([[0.]])
    """

    columns: tuple[str, ...] = ()
    features: TableFeatures | None = None
    name: ClassVar[str] = "table"
    items: ClassVar[str] = "rows"

    def fit(self, items: Sequence[Any]) -> Self:
        """Learn the columns, their scales and categories."""
        self.columns = self.columns or tuple(dict.fromkeys(name for row in items for name in row))
        if not self.columns:
            raise DataError("the rows of the table have no columns to learn from; name features by --features.")
        self.features = TableFeatures().fit(self._cells(items))
        return self

    def transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Return dense rows, (n, features)."""
        features, items = _fitted(self.features, self), _as_rows(items, self.columns)
        absent = [name for name in self.columns if not any(name in row for row in items)]
        if absent and len(items):
            raise InvalidInput(
                f"the rows have no column {_some(absent)}, which the model was fitted with; give a table with all "
                f"{len(self.columns)} columns, in any order."
            )
        matrix = features.transform(self._cells(items))
        advance(len(items))
        return VectorisedItems.whole(matrix)

    def state(self) -> dict[str, Any]:
        """Return the columns and what was learned of each."""
        return {"columns": list(self.columns), "features": table_state(_fitted(self.features, self))}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Return the vectoriser of a state."""
        columns, features = tuple(state["columns"]), table_features(state["features"])
        expect(_are_names(list(columns), None), "the names of columns")
        return cls(columns, features)

    def _cells(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        """Return the cells of each column; what a row lacks is None."""
        return {name: [row.get(name) for row in rows] for name in self.columns}


@dataclass
class OwnVectors(_Vectoriser):
    """Vectors by a function of the user's, called with lists of up to 256 items.

    Parameters
    ----------
    function : str
        "package.module:function": it takes a list of items and returns numbers, (items, columns).

    Examples
    --------
    >>> OwnVectors("numpy:atleast_2d").transform([[1.0, 2.0]]).matrix
    array([[1., 2.]])
    """

    function: str
    name: ClassVar[str] = "function"
    items: ClassVar[str] = "items"
    in_parts: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """The name of the function."""
        return self.function

    def transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Return what the function says, (n, columns)."""
        function, parts = import_name(self.function, "function of features"), []
        for start in range(0, len(items), CHUNK):
            some = list(items[start : start + CHUNK])
            parts.append(as_vectors(function(some), len(some), self.function))
            advance(len(some))
        return VectorisedItems.whole(stacked(parts) if parts else np.empty((0, 0)))

    def state(self) -> dict[str, Any]:
        """Return the name of the function."""
        return {"function": self.function}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Return the vectoriser of a state."""
        return cls(str(state["function"]))


@dataclass
class GivenVectors(_Vectoriser):
    """Vectors that the user computed.

    Examples
    --------
    >>> GivenVectors().transform([[1, 2], [3, 4]]).matrix.shape
    (2, 2)
    """

    name: ClassVar[str] = "vectors"
    items: ClassVar[str] = "vectors"

    def transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Return the items as a matrix."""
        matrix: Any = items if hasattr(items, "tocsr") else np.asarray(items)
        if matrix.dtype.kind not in "fiub" or matrix.ndim < 2:
            raise InvalidInput(
                f"items have shape {matrix.shape} and type {matrix.dtype}, but this model was fitted on vectors from a "
                "file; give the vectors of the new items, (items, columns)."
            )
        advance(matrix.shape[0])
        return VectorisedItems.whole(matrix)


@dataclass
class AsGiven(_Vectoriser):
    """Texts for a classifier that takes texts, such as a pipeline with features of its own.

    Examples
    --------
    >>> AsGiven().transform(["a", "b"]).matrix
    array(['a', 'b'], dtype=object)
    """

    name: ClassVar[str] = "items"
    items: ClassVar[str] = "texts"

    def transform(self, items: Sequence[Any], advance: Advance = _ignore) -> VectorisedItems:
        """Return the items in an array of objects, (n,)."""
        matrix = np.empty(len(items), dtype=object)
        matrix[:] = [str(item) for item in items]
        advance(len(items))
        return VectorisedItems.whole(matrix)


VECTORISERS: dict[str, type[_Vectoriser]] = {
    kind.name: kind
    for kind in (WordVectors, SentenceVectors, ImageVectors, TableVectors, OwnVectors, GivenVectors, AsGiven)
}


def restore_vectoriser(name: str, state: Mapping[str, Any], *, trusted: bool) -> Vectoriser:
    """Return a vectoriser by its name and state; one that calls the user's code needs trust."""
    if name not in VECTORISERS:
        raise DataError(f"the model needs the features {name!r}, which this version does not have; update cusal.")
    if name == OwnVectors.name and not trusted:
        raise DataError(
            f"the model's features come from the function {state['function']}, and calling it runs code; if you trust "
            "where the file comes from, load it with trusted=True (--trust)."
        )
    found: Any = VECTORISERS[name].restore(state)
    vectoriser: Vectoriser = found
    return vectoriser


def as_vectors(found: Any, count: int, name: str) -> Any:
    """Return vectors that a user gave as a matrix of finite numbers.

    Raises
    ------
    InvalidInput
        If they are no numbers, (count, columns), or not finite; the message names their source.

    Examples
    --------
    >>> as_vectors([[1, 2]], 1, "vectors.npy").dtype
    dtype('float32')
    """
    matrix = found.tocsr() if issparse(found) else as_array(found, name)
    if matrix.ndim != 2 or matrix.shape[0] != count or matrix.dtype.kind not in "fiub":
        raise InvalidInput(
            f"{name} gave {matrix.dtype} of shape {matrix.shape} for {count} items; give numbers, (items, columns)."
        )
    matrix = matrix.astype(np.float32 if matrix.dtype != np.float64 else np.float64)
    if not np.isfinite(matrix.data if issparse(matrix) else matrix).all():
        raise InvalidInput(f"{name} gave NaN or infinity; give finite numbers.")
    return matrix


def stacked(parts: Sequence[Any]) -> Any:
    """Return matrices of one kind, dense or sparse, on top of each other.

    Raises
    ------
    InvalidInput
        If they are no matrices, or differ in their number of columns.

    Examples
    --------
    >>> stacked([np.eye(2), np.zeros((1, 2))]).shape
    (3, 2)
    """
    listed = isinstance(parts, list | tuple) and len(parts) > 0
    if not listed or not all(getattr(part, "ndim", 0) == 2 and part.dtype.kind in "fiub" for part in parts):
        raise InvalidInput(f"parts are {parts!r:.80}; expected a list of matrices of numbers, (items, columns).")
    widths = sorted({part.shape[1] for part in parts})
    if len(widths) > 1:
        raise InvalidInput(f"vectors have {widths[0]} columns here and {widths[1]} there; give all of them the same.")
    if any(issparse(part) for part in parts):
        return vstack(parts, format="csr")
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _as_rows(items: Any, columns: Sequence[str]) -> Sequence[Any]:
    """Return the rows of a data frame of pandas or polars, or rows as they are; refuse those without names."""
    if hasattr(items, "to_dicts"):
        return list(items.to_dicts())
    if hasattr(items, "to_dict") and hasattr(items, "columns"):
        return list(items.to_dict("records"))
    if hasattr(items, "to_dict"):
        raise InvalidInput(
            f"items is a {type(items).__name__}, a single row or column of a table; give a frame of one row: "
            "frame.iloc[[0]]."
        )
    if not all(isinstance(row, Mapping) for row in items):
        raise InvalidInput(
            f"items is a {type(items).__name__} of rows without the names of their columns; give a data frame or a "
            f"list of dictionaries, with the columns {_some(columns)}, in any order."
        )
    return cast(Sequence[Any], items)


def _some(names: Sequence[str]) -> str:
    """Return the first ten of the names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _fitted(learned: Any, vectoriser: _Vectoriser) -> Any:
    if learned is None:
        raise NotReady(f"{type(vectoriser).__name__} has not been fitted; call fit(items) first.")
    return learned


def text_state(features: TextFeatures) -> dict[str, Any]:
    """Return the vocabularies and weights of fitted `TextFeatures`.

    >>> features = TextFeatures().fit(["see you at lunch", "call me after lunch"])
    >>> restored = text_features(text_state(features))
    >>> bool((restored.transform(["lunch?"]) != features.transform(["lunch?"])).nnz)
    False
    """
    return {
        "settings": features.get_params(),
        "words": features.words_.get_feature_names_out().tolist(),
        "word_weights": features.words_.idf_,
        "pieces": features.pieces_.get_feature_names_out().tolist(),
        "piece_weights": features.pieces_.idf_,
        "directions": features.directions_ if features.dense else None,
    }


def text_features(state: Mapping[str, Any]) -> TextFeatures:
    """Return the fitted features of `text_state`."""
    features, terms = TextFeatures(**state["settings"]), 0
    for words, weights in (("words", "word_weights"), ("pieces", "piece_weights")):
        listed = state[words]
        expect(_are_names(listed, None), f"the {words}")
        stored_array(state[weights], f"the weights of {words}", len(listed))
        terms += len(listed)
    features.words_, features.pieces_ = vectorizers(state["words"], state["pieces"])
    features.words_.idf_, features.pieces_.idf_ = state["word_weights"], state["piece_weights"]
    if as_flag(features.dense, "dense"):
        features.directions_ = stored_array(state["directions"], "the directions", terms, None)
    return features


def table_state(features: TableFeatures) -> dict[str, Any]:
    """Return what fitted `TableFeatures` learned of each column.

    >>> features = TableFeatures().fit(np.array([[1, "a"], [3, "b"]], dtype=object))
    >>> table_features(table_state(features)).transform(np.array([[2, "b"]], dtype=object)).tolist()
    [[0.0, 0.0, 1.0]]
    """
    names = getattr(features, "feature_names_in_", None)
    return {
        "settings": features.get_params(),
        "names": None if names is None else names.tolist(),
        "columns": [
            asdict(one) if not isinstance(one, _Texts) else {"name": one.name, "texts": text_state(one.features)}
            for one in features.columns_
        ],
    }


def table_features(state: Mapping[str, Any]) -> TableFeatures:
    """Return the fitted features of `table_state`."""
    features = TableFeatures(**state["settings"])
    features.columns_ = [_restored(one) for one in state["columns"]]
    features.n_features_in_ = len(features.columns_)
    expect(features.columns_, "the list of columns")
    if state["names"] is not None:
        expect(_are_names(state["names"], len(features.columns_)), "the names of columns")
        features.feature_names_in_ = np.array(state["names"], dtype=object)
    return features


def _are_names(value: Any, count: int | None) -> bool:
    """Return whether a value is a list of texts, so many of them or at least one."""
    found = isinstance(value, list) and len(value) == (count or len(value)) > 0
    return found and all(isinstance(name, str) for name in value)


def _restored(column: Mapping[str, Any]) -> _Numbers | _Categories | _Texts:
    expect(isinstance(column["name"], str), "the name of a column")
    if "texts" in column:
        return _Texts(column["name"], text_features(column["texts"]))
    if "place" in column:
        found = _Categories(**column)
        expect(all(isinstance(word, str) for word in found.place) and isinstance(found.other, bool), "a category")
        expect(all(map(is_whole, found.place.values())), "a category")
        expect(sorted(found.place.values()) == list(range(len(found.place))), "a category")
        return found
    numbers = _Numbers(**column)
    for value in (numbers.median, numbers.mean):
        stored_number(value, "a mean", -np.inf, np.inf)
    stored_number(numbers.deviation, "a deviation", np.finfo(np.float64).tiny, np.inf)
    expect(isinstance(numbers.marked, bool), "a column")
    Notation.parse(numbers.notation)
    return numbers
