"""Tables as numbers: numeric columns scaled, categories one-hot, missing values filled in and marked."""

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cusal._checks import as_count
from cusal.errors import CusalWarning, InvalidInput

Column = NDArray[Any]
MISSING, OTHER = "missing", "other"
MISSING_KINDS = ("NAType", "NaTType")  # of pandas
FEWEST_TEXTS, WORDS_OF_A_TEXT = 20, 3  # rows, and words in the mean, from which on a column may be one of texts


class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a table with columns of any kind into numbers of one scale.

    Numbers, dates and truth values get mean 0 and standard deviation 1; a missing one becomes the median and is marked
    in a column of its own. Anything else is a category and becomes one column for each value, missing being one of
    them. Frames of pandas and polars and two-dimensional arrays are taken as they are.

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
        if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.columns_: list[_Numbers | _Categories] = [
            _Numbers.learn(name, values) if _is_numeric(values) else _Categories.learn(name, values, most)
            for name, values in zip(names, columns, strict=True)
        ]
        for learned, values in zip(self.columns_, columns, strict=True):
            if isinstance(learned, _Categories):
                _warn_of_texts(learned.name, values)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the features of a table with the same columns, (n, features).

        A category that `fit` did not meet counts among the rarer ones, or as none at all.
        """
        check_is_fitted(self)
        names, columns = _columns(X)
        own = list(getattr(self, "feature_names_in_", ()))
        named = hasattr(X, "columns") and bool(own)
        if len(columns) != self.n_features_in_ or (named and names != own):
            raise InvalidInput(
                f"X has {len(columns)} features, but TableFeatures is expecting {self.n_features_in_} features as input"
                + (f", named {', '.join(own)}; found {', '.join(names)}" if named else "")
                + "; give the same columns in the same order."
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

    @classmethod
    def learn(cls, name: str, values: Column) -> Self:
        numbers = _as_numbers(name, values)
        missing = np.isnan(numbers)
        median = 0.0 if missing.all() else float(np.median(numbers[~missing]))
        filled = np.where(missing, median, numbers)
        deviation = float(filled.std())
        constant = deviation <= 1e-9 * float(np.abs(filled).max())  # what rounding leaves of no deviation
        return cls(name, median, float(filled.mean()), 1.0 if constant else deviation, bool(missing.any()))

    @property
    def names(self) -> list[str]:
        return [self.name, f"{self.name}={MISSING}"] if self.marked else [self.name]

    def encode(self, values: Column) -> NDArray[np.float64]:
        numbers = _as_numbers(self.name, values)
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
        return np.eye(len(self.place) + 1)[columns][:, : len(self.place) + self.other]


def _columns(X: Any) -> tuple[list[str], list[Column]]:
    """Return the names and the values of a table's columns."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
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


def _series(frame: Any, position: int) -> Column:
    column = frame.iloc[:, position] if hasattr(frame, "iloc") else frame[:, position]
    return np.asarray(column.to_numpy())


def _is_numeric(values: Column) -> bool:
    if values.dtype.kind != "O":
        return values.dtype.kind in "fiubMm"
    kinds = {type(value) for value in values if not _is_missing(value)}
    return all(issubclass(kind, int | float | np.number | np.bool_) for kind in kinds)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in MISSING_KINDS or (isinstance(value, float) and value != value)


def _as_numbers(name: str, values: Column) -> NDArray[np.float64]:
    if values.dtype.kind in "Mm":  # days, of which NaT is no number
        unit = np.timedelta64(1, "D")
        days = (values - np.datetime64(0, "D")) / unit if values.dtype.kind == "M" else values / unit
        return np.asarray(days, dtype=np.float64)
    try:
        plain = [np.nan if _is_missing(value) else value for value in values] if values.dtype.kind == "O" else values
        numbers = np.asarray(plain, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"column {name} was numeric when the features were fitted, and now holds something else ({error}); give "
            "numbers there."
        ) from error
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise InvalidInput(f"column {name} is infinity in row {row}; expected finite numbers: replace inf, or drop it.")
    return numbers


def _warn_of_texts(name: str, values: Column) -> None:
    """Warn of a column that seems to hold sentences: most differ, and as categories all but a few are one."""
    words = _as_words(values)
    different = set(words)
    long = sum(len(word.split()) for word in different) >= WORDS_OF_A_TEXT * len(different)
    if long and len(words) >= FEWEST_TEXTS and 2 * len(different) > len(words):
        warnings.warn(
            f"column {name} has {len(different)} different texts in {len(words)} rows, and is taken as categories. "
            "Give the texts alone, as a list or a Series, or turn them into numbers first.",
            CusalWarning,
            stacklevel=3,
        )


def _as_words(values: Column) -> list[str]:
    return [MISSING if _is_missing(value) else str(value) for value in values.tolist()]
