"""Texts as the vectors of a pretrained network, computed once and kept on disk."""

import hashlib
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal._damage import DAMAGED
from cusal._files import write_whole
from cusal._folders import cache_folder
from cusal._progress import Progress
from cusal.errors import DataError, MissingExtra
from cusal.features.texts import as_texts

FORMAT = 1  # part of the digest: a change of how vectors are computed gives them other names
WIDTH = 384
TILE = 32  # texts of similar length that go through the network together

Vectors = NDArray[np.float32]


def sentence_vectors(texts: Iterable[str]) -> Vectors:
    """Return the vectors of texts by all-MiniLM-L6-v2, which was trained on more than a billion English sentences.

    They know synonyms, which TF-IDF does not. A text of fifty words takes some hundredths of a second, once:
    `CUSAL_CACHE` names the folder that keeps the vectors. They need the extras `text` and `torch`, and no network.

    Parameters
    ----------
    texts : list, array or series of str
        Of each the first 256 tokens are read.

    Returns
    -------
    ndarray of shape (n, 384), float32
        Of unit length: their products are cosines.

    Raises
    ------
    InvalidInput
        If an item is no text.
    MissingExtra
        If the vectors are not on disk and the packages that compute them are not installed.

    Examples
    --------
    ::

        X = cusal.features.sentence_vectors(["Where is my card?", "My card has not arrived."])
        session = cusal.Session(X, cusal.models.PoolClassifier())
    """
    checked = as_texts(texts)
    path = _place(checked)
    found = _read(path, len(checked))
    if found is None:
        found = _compute(checked)
        _write(path, found)
    return found


def _place(texts: list[str]) -> Path:
    digest = hashlib.blake2b(f"{FORMAT} {len(texts)}".encode(), digest_size=12)
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little") + content)  # so that no two lists run together alike
    return cache_folder() / "features" / f"texts-minilm-{digest.hexdigest()}.npy"


def _read(path: Path, rows: int) -> Vectors | None:
    """Return the vectors on disk; None if there are none, or a damaged file, which is then written again."""
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, *DAMAGED):
        return None
    return found if found.shape == (rows, WIDTH) and found.dtype == np.float32 else None


def _write(path: Path, vectors: Vectors) -> None:
    content = BytesIO()
    np.save(content, vectors, allow_pickle=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.getvalue())
    except OSError as error:
        raise DataError(
            f"cannot keep features in {path.parent}: {error}; make room there, or name a folder in CUSAL_CACHE."
        ) from error


def _compute(texts: list[str]) -> Vectors:
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("computing features of texts with MiniLM", "text,torch") from error
    from cusal.features.minilm import load_pretrained

    network, tokenizer = load_pretrained()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network.to(device)
    vectors = np.empty((len(texts), WIDTH), dtype=np.float32)
    # Texts of one length need no padding.
    order = np.argsort([len(text) for text in texts], kind="stable")
    with Progress(len(texts), title="features of texts", unit="texts", always=False) as progress:
        for start in range(0, len(texts), TILE):
            rows = order[start : start + TILE]
            coded = tokenizer.encode_batch([texts[row] for row in rows])
            tokens = torch.tensor([text.ids for text in coded], device=device)
            seen = torch.tensor([text.attention_mask for text in coded], dtype=torch.bool, device=device)
            with torch.inference_mode():
                vectors[rows] = network(tokens, seen).cpu().numpy()
            progress.advance(len(rows))
    return vectors
