"""Texts as sparse rows of TF-IDF weights, of words and of pieces of words, and as their first singular components."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted

from cusal._arguments import as_flag
from cusal._checks import as_count
from cusal.errors import InvalidInput

PIECES = (2, 4)  # letters of the shortest and longest piece of a word


class TextFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into TF-IDF rows of words and of pieces of words with two to four letters.

    The pieces recognise inflected, compound and misspelt words, and languages that do not separate words. Sparse rows
    suit `cusal.models.FewLabelClassifier` and linear models; `dense=True` returns their first singular components, for
    models that need few columns.

    Parameters
    ----------
    dense : bool, default=False
        Return (n, components) instead of sparse rows.
    components : int, default=100
        Columns of the dense features; fewer where there are fewer texts or terms.

    Attributes
    ----------
    words_, pieces_ : TfidfVectorizer
        The vocabularies and their weights.
    directions_ : ndarray of shape (terms, components)
        The right singular vectors, where `dense`.

    Examples
    --------
    >>> texts = ["cash prize, call now", "see you at lunch", "call me after lunch"]
    >>> rows = TextFeatures().fit_transform(texts)
    >>> rows.shape[0], rows.format
    (3, 'csr')
    >>> TextFeatures(dense=True, components=2).fit(texts).transform(["lunch?"]).shape
    (1, 2)
    """

    def __init__(self, *, dense: bool = False, components: int = 100) -> None:
        self.dense = dense
        self.components = components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Learn the vocabulary of texts, best of the whole pool, and the weight of each term.

        Parameters
        ----------
        texts : list, array or series of str
        y : ignored

        Returns
        -------
        TextFeatures
            The transformer itself.

        Raises
        ------
        InvalidInput
            If an item is no text, or there is no word in any of them.
        """
        self._learn(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> Any:
        """Return the features of the texts that the vocabulary is learned from, as `fit` and `transform` do."""
        return self._shaped(self._learn(texts))

    def transform(self, texts: Iterable[str]) -> Any:
        """Return the features of texts: CSR rows of unit length (n, terms), or (n, components) where `dense`.

        A text without any known term is a row of zeros.
        """
        check_is_fitted(self)
        checked = as_texts(texts)
        return self._shaped(_joined(self.words_.transform(checked), self.pieces_.transform(checked)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the name of each column: `word:...`, `piece:...`, or `component0`, ... where `dense`."""
        check_is_fitted(self)
        if self.dense:
            return np.array([f"component{i}" for i in range(self.directions_.shape[1])], dtype=object)
        words = [f"word:{term}" for term in self.words_.get_feature_names_out()]
        pieces = [f"piece:{term}" for term in self.pieces_.get_feature_names_out()]
        return np.array(words + pieces, dtype=object)

    def _learn(self, texts: Iterable[str]) -> Any:
        checked, components = as_texts(texts), as_count(self.components, "components")
        self.words_, self.pieces_ = vectorizers()
        try:
            rows = _joined(self.words_.fit_transform(checked), self.pieces_.fit_transform(checked))
        except ValueError as error:
            raise InvalidInput(f"{len(checked)} texts without a single word; give texts that have some.") from error
        if as_flag(self.dense, "dense"):
            _, _, vectors = randomized_svd(rows, min(components, *rows.shape), n_iter=5, random_state=0)
            self.directions_ = np.ascontiguousarray(vectors.T)
        return rows

    def _shaped(self, rows: Any) -> Any:
        return rows @ self.directions_ if self.dense else rows


def vectorizers(words: Any = None, pieces: Any = None) -> tuple[TfidfVectorizer, TfidfVectorizer]:
    """Return what weighs words and pieces of words, unfitted; with a vocabulary each, if they are given."""
    return (
        TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", vocabulary=words),
        TfidfVectorizer(analyzer="char_wb", ngram_range=PIECES, vocabulary=pieces),
    )


def _joined(words: Any, pieces: Any) -> Any:
    """Return rows of unit length from two blocks of such rows."""
    return hstack([words, pieces], format="csr") / 2**0.5


def as_texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list; raise an error that names the first item that is none."""
    if isinstance(texts, str):
        raise InvalidInput("texts is a single str; expected several: give a list, [text].")
    checked = list(texts)
    for row, text in enumerate(checked):
        if not isinstance(text, str):
            raise InvalidInput(
                f"item {row} of the texts is {text!r}, a {type(text).__name__}; expected str: replace it, for instance "
                "a missing text by ''."
            )
    return checked
