"""Tables as numbers: numbers and dates scaled, categories one-hot, texts by their words, missing values marked."""

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cusal._checks import as_count
from cusal.errors import CusalWarning, InvalidInput
from cusal.features.texts import TextFeatures
from cusal.tables import Notation, find_numbers, is_missing

Column = NDArray[Any]
MISSING, OTHER = "missing", "other"
FEWEST_TEXTS, WORDS_OF_A_TEXT = 20, 3  # rows, and words in the mean, from which on a column is one of texts
TEXT_COLUMNS = 100  # of one column of texts
TEXT_SCALE = 4.0  # beside numbers of deviation 1; from 3 to 6, texts and numbers were found alike where they decide


class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a table with columns of any kind into numbers of one scale.

    Numbers, dates and truth values get mean 0 and standard deviation 1; a missing one becomes the median and is marked
    in a column of its own. Numbers and dates may be written as text, with a decimal comma, thousands or a currency, if
    that is certain; where it is only likely, a warning says so. Texts, which differ and have several words, become the
    first components of their TF-IDF rows. Anything else is a category and becomes one column for each value, missing
    being one of them. Frames of pandas and polars, dictionaries of columns, and
    two-dimensional arrays are taken as they are.

    Parameters
    ----------
    max_categories : int, default=50
        Most columns for one categorical column; the rarer values then share one.

    Attributes
    ----------
    columns_ : list
        What was learned of each column.
    n_features_in_ : int
        Columns of the table.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame({"age": [20, 40, None], "town": ["Bern", "Rome", "Bern"]})
    >>> features = TableFeatures().fit(table)
    >>> features.get_feature_names_out().tolist()
    ['age', 'age=missing', 'town=Bern', 'town=Rome']
    >>> features.transform(table).round(2).tolist()
    [[-1.22, 0.0, 1.0, 0.0], [1.22, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]
    """

    def __init__(self, *, max_categories: int = 50) -> None:
        self.max_categories = max_categories

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the scale, the median and the categories of each column, best from the whole pool.

        Parameters
        ----------
        X : DataFrame or array of shape (n, columns)
        y : ignored

        Returns
        -------
        TableFeatures
            The transformer itself.

        Raises
        ------
        InvalidInput
            If the table has no rows or columns, is not two-dimensional, or holds infinite numbers.
        """
        most = as_count(self.max_categories, "max_categories", least=2)
        names, columns = _columns(X)
        self.n_features_in_ = len(columns)
        if _is_named(X) and all(isinstance(name, str) for name in getattr(X, "columns", X)):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        chosen = [_is_category(X, i) for i in range(len(columns))]
        self.columns_: list[_Numbers | _Categories | _Texts] = [
            _Categories.learn(name, values, most) if category else _learn(name, values, most)
            for name, values, category in zip(names, columns, chosen, strict=True)
        ]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the features of a table, (n, features).

        Columns of a frame are found by their names, in any order, and others are left out; those of an array are the
        same. A category that `fit` did not meet counts among the rarer ones, or as none at all.
        """
        check_is_fitted(self)
        names, columns = _columns(X)
        own = list(getattr(self, "feature_names_in_", ()))
        if _is_named(X) and own:
            missing = [name for name in own if name not in names]
            if missing:
                raise InvalidInput(
                    f"X has no column {', '.join(missing)}, of those that TableFeatures was fitted with; it has "
                    f"{', '.join(names)}: give the same columns, in any order."
                )
            columns = [columns[names.index(name)] for name in own]
        elif len(columns) != self.n_features_in_:
            raise InvalidInput(
                f"X has {len(columns)} features, but TableFeatures is expecting {self.n_features_in_} features as "
                "input; give the same columns in the same order."
            )
        return np.hstack([learned.encode(values) for learned, values in zip(self.columns_, columns, strict=True)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the name of each feature: a column, or a column and one of its values."""
        check_is_fitted(self)
        return np.array([name for learned in self.columns_ for name in learned.names], dtype=object)


@dataclass(frozen=True)
class _Numbers:
    """A numeric column: its median, then mean and standard deviation of the column filled with it."""

    name: str
    median: float
    mean: float
    deviation: float
    marked: bool  # whether missing values have a column
    notation: str = str(Notation())

    @classmethod
    def learn(cls, name: str, values: Column, notation: Notation) -> Self:
        numbers = _as_numbers(name, values, notation)
        missing = np.isnan(numbers)
        median = 0.0 if missing.all() else float(np.median(numbers[~missing]))
        filled = np.where(missing, median, numbers)
        deviation = float(filled.std())
        constant = deviation <= 1e-9 * float(np.abs(filled).max())  # what rounding leaves of no deviation
        return cls(
            name, median, float(filled.mean()), 1.0 if constant else deviation, bool(missing.any()), str(notation)
        )

    @property
    def names(self) -> list[str]:
        return [self.name, f"{self.name}={MISSING}"] if self.marked else [self.name]

    def encode(self, values: Column) -> NDArray[np.float64]:
        numbers = _as_numbers(self.name, values, Notation.parse(self.notation))
        missing = np.isnan(numbers)
        scaled = (np.where(missing, self.median, numbers) - self.mean) / self.deviation
        return np.column_stack([scaled, missing] if self.marked else [scaled]).astype(np.float64)


@dataclass(frozen=True)
class _Categories:
    """A categorical column: its values in the order of their columns, the rarer ones in the last."""

    name: str
    place: dict[str, int]
    other: bool

    @classmethod
    def learn(cls, name: str, values: Column, most: int) -> Self:
        counts = Counter(_as_words(values))
        if len(counts) <= most:
            return cls(name, {word: i for i, word in enumerate(sorted(counts))}, other=False)
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[: most - 1]
        return cls(name, {word: i for i, word in enumerate(sorted(frequent))}, other=True)

    @property
    def names(self) -> list[str]:
        return [f"{self.name}={word}" for word in [*self.place, *([OTHER] if self.other else [])]]

    def encode(self, values: Column) -> NDArray[np.float64]:
        columns = np.array([self.place.get(word, len(self.place)) for word in _as_words(values)], dtype=np.int64)
        found = np.zeros((len(columns), len(self.place) + 1))
        found[np.arange(len(columns)), columns] = 1
        return found[:, : len(self.place) + self.other]


@dataclass(frozen=True, eq=False)
class _Texts:
    """A column of texts: the first components of their TF-IDF rows."""

    name: str
    features: TextFeatures

    @classmethod
    def learn(cls, name: str, values: Column) -> Self:
        texts = _as_texts(values)
        features = TextFeatures(dense=True, components=TEXT_COLUMNS).fit(texts)
        made = cls(name, features)
        different = list(dict.fromkeys(texts))
        _KNOWN_TEXTS[made] = (
            {text: row for row, text in enumerate(different)},
            TEXT_SCALE * features.transform(different),
        )
        return made

    @property
    def names(self) -> list[str]:
        return [f"{self.name}={name}" for name in self.features.get_feature_names_out()]

    def encode(self, values: Column) -> NDArray[np.float64]:
        texts = _as_texts(values)
        if self in _KNOWN_TEXTS:  # to look texts up is faster than to count their words
            places, rows = _KNOWN_TEXTS[self]
            found = [places.get(text, -1) for text in texts]
            if min(found, default=0) >= 0:
                return rows[found]
        return np.asarray(TEXT_SCALE * self.features.transform(texts), dtype=np.float64)


_KNOWN_TEXTS: "WeakKeyDictionary[_Texts, tuple[dict[str, int], NDArray[np.float64]]]" = WeakKeyDictionary()


def _learn(name: str, values: Column, most: int) -> _Numbers | _Categories | _Texts:
    """Return what a column holds: numbers or dates, if that is certain, else texts or categories."""
    if values.dtype.kind in "fiubMm":
        kinds = {"M": "date", "m": "duration"}
        return _Numbers.learn(name, values, Notation(kinds.get(values.dtype.kind, "number")))
    found = find_numbers(name, list(values))
    if found.notation is not None:
        return _Numbers.learn(name, values, found.notation)
    if found.remark:
        warnings.warn(found.remark, CusalWarning, stacklevel=4)
    return _Texts.learn(name, values) if _holds_texts(values) else _Categories.learn(name, values, most)


def _columns(X: Any) -> tuple[list[str], list[Column]]:
    """Return the names and the values of a table's columns."""
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):
        names, columns = [str(name) for name in X], [_as_objects(values) for values in X.values()]
    elif hasattr(X, "columns") and hasattr(X, "to_numpy"):
        names, columns = [str(name) for name in X.columns], [_series(X, i) for i in range(X.shape[1])]
    elif hasattr(X, "tocsr"):
        raise InvalidInput("X is a sparse matrix; expected a table: use its rows as they are, or X.toarray().")
    else:
        array = X if hasattr(X, "dtype") else np.array(X, dtype=object)
        array = np.asarray(array)
        if array.dtype.kind == "c":
            raise InvalidInput("Complex data not supported: the table has complex numbers; give real ones.")
        if array.ndim != 2:
            raise InvalidInput(
                f"the table has shape {array.shape}; expected 2D, (rows, columns): Reshape your data, for instance "
                "with X.reshape(-1, 1)."
            )
        names, columns = [f"x{i}" for i in range(array.shape[1])], list(array.T)
    if not columns or not len(columns[0]):
        rows = len(columns[0]) if columns else len(X)
        raise InvalidInput(
            f"Found array with {rows} sample(s) and {len(columns)} feature(s) (shape=({rows}, {len(columns)})) while a "
            "minimum of 1 is required; give a table with rows and columns."
        )
    return names, columns


def _is_named(X: Any) -> bool:
    return hasattr(X, "columns") or (isinstance(X, Mapping) and not hasattr(X, "tocsr"))  # one kind of sparse matrix


def _as_objects(values: Any) -> Column:
    if isinstance(values, np.ndarray):
        return values
    cells = np.empty(len(values), dtype=object)
    cells[:] = values
    return cells


def _series(frame: Any, position: int) -> Column:
    column = frame.iloc[:, position] if hasattr(frame, "iloc") else frame[:, position]
    return np.asarray(column.to_numpy())


def _is_category(X: Any, position: int) -> bool:
    """Return whether a column of a frame was made one of categories by the user."""
    if not hasattr(X, "dtypes"):
        return False
    kind = X.dtypes.iloc[position] if hasattr(X.dtypes, "iloc") else X.dtypes[position]
    return str(kind).lower().startswith(("category", "categorical", "enum"))


def _as_numbers(name: str, values: Column, notation: Notation) -> NDArray[np.float64]:
    if values.dtype.kind in "Mm":  # days, of which NaT is no number
        unit = np.timedelta64(1, "D")
        days = (values - np.datetime64(0, "D")) / unit if values.dtype.kind == "M" else values / unit
        return np.asarray(days, dtype=np.float64)
    try:
        plain = values.dtype.kind in "fiub" and notation.kind == "number"
        numbers = np.asarray(values, dtype=np.float64) if plain else notation.values(list(values))
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"column {name} was numeric when the features were fitted, and now holds something else ({error}); give "
            "numbers there."
        ) from error
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise InvalidInput(f"column {name} is infinity in row {row}; expected finite numbers: replace inf, or drop it.")
    return numbers


def _holds_texts(values: Column) -> bool:
    """Return whether a column holds texts: most differ, and as categories all but a few would be one."""
    words = [value for value in values.tolist() if isinstance(value, str) and not is_missing(value)]
    different = set(words)
    long = sum(len(word.split()) for word in different) >= WORDS_OF_A_TEXT * len(different)
    return long and len(words) >= FEWEST_TEXTS and 2 * len(different) > len(words)


def _as_texts(values: Column) -> list[str]:
    return ["" if is_missing(value) else str(value) for value in values.tolist()]


def _as_words(values: Column) -> list[str]:
    return [MISSING if not isinstance(value, str) and is_missing(value) else str(value) for value in values.tolist()]
