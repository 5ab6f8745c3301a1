"""Dense vectors of sparse items, such as TF-IDF rows: latent semantic analysis (Deerwester et al. 1990).

Texts are vectors by the TF-IDF of their words, data frames by `cusal.features.TableFeatures`.

    S ~ U_r D_r V_r'   (truncated singular value decomposition, r = 100)
    z_i = row i of U_r D_r, divided by its length

Distances between sparse rows say little: most pairs of short texts share no word. Rows of unit length make the
squared distance twice one minus the cosine, whatever the length of a text.

| symbol | name |
|---|---|
| S | rows, (n, features) |
| r | RANK |
| z | what `dense_vectors` returns |
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._items import are_texts, is_frame, is_sparse
from cusal.errors import InvalidInput

RANK = 100


def item_vectors(items: Any) -> NDArray[np.float64] | None:
    """Return vectors (n, features) of items that are no numbers by themselves: sparse rows, texts, data frames.

    None of anything else, and of texts without a single word.
    """
    if is_sparse(items):
        return dense_vectors(items)
    if are_texts(items):
        return text_vectors(items)
    if is_frame(items):
        from cusal.features.tables import TableFeatures  # loads scikit-learn

        return np.asarray(TableFeatures().fit_transform(items))
    return None


def text_vectors(texts: Any) -> NDArray[np.float64] | None:
    """Return vectors (n, at most 100) of texts; None if there is no word in any of them, or an item is no text."""
    if not all(isinstance(text, str) for text in texts):
        return None
    from sklearn.feature_extraction.text import TfidfVectorizer  # here, since other items have no use for it

    if not any(any(letter.isalnum() for letter in text) for text in texts):
        return None
    # Single letters are words too: without them a vocabulary can be empty.
    return dense_vectors(TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+").fit_transform(texts))


def dense_vectors(rows: Any) -> NDArray[np.float64]:
    """Return vectors (n, at most 100) of unit length for the rows of a sparse matrix; empty rows stay at zero.

    A matrix of at most 100 columns is not decomposed.

    Raises
    ------
    InvalidInput
        If a row holds NaN or infinity.
    """
    rows = rows.tocsr().astype(np.float64)
    bad = ~np.isfinite(rows.data)
    if bad.any():
        row = int(np.searchsorted(rows.indptr, np.argmax(bad), side="right")) - 1
        raise InvalidInput(f"item {row} holds NaN or infinity; fill or drop missing values first.")
    vectors = rows.toarray() if rows.shape[1] <= RANK else _decomposed(rows)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def _decomposed(rows: Any) -> NDArray[np.float64]:
    from sklearn.decomposition import TruncatedSVD  # here, since dense items have no use for it

    rank = min(RANK, rows.shape[1] - 1, rows.shape[0] - 1)
    if rank < 1 or rows.nnz == 0:
        return np.full((rows.shape[0], 1), float(rows.nnz > 0))
    return np.asarray(TruncatedSVD(rank, random_state=0).fit(rows).transform(rows))
