"""The vectors of the texts and images of a Label Studio project, as `cusal label` makes them."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._progress import Progress
from cusal.adapters._label_studio_server import LabelStudioServer
from cusal.errors import DataError, UnknownName
from cusal.features.sentences import has_sentence_network
from cusal.features.vectorisers import ImageVectors, SentenceVectors, Vectoriser, WordVectors

FEATURES = {"text": ("tfidf", "minilm"), "image": ("efficientnet_lite0",)}


def check_features(features: str | None, kind: str) -> str:
    """Return the name of the features, or of the best that are installed.

    Raises
    ------
    UnknownName
        If there are no such features of this kind.
    """
    if features is None:
        return ("minilm" if has_sentence_network() else "tfidf") if kind == "text" else FEATURES[kind][0]
    if features not in FEATURES[kind]:
        raise UnknownName(f"features of {kind} tasks", features, FEATURES[kind])
    return features


def text_vectors(values: Sequence[Any], features: str) -> Any:
    """Return the vectors of texts, dense or sparse; what is missing is an empty text."""
    texts = ["" if value is None else str(value) for value in values]
    vectoriser: Vectoriser = SentenceVectors() if features == SentenceVectors.name else WordVectors()
    with Progress(len(texts), title="features of texts", unit="texts", always=False) as progress:
        return vectoriser.fit_transform(texts, progress.advance).matrix


class FetchedImages:
    """Vectors of images by their addresses; an image is fetched once."""

    def __init__(self, server: LabelStudioServer) -> None:
        self.server = server
        self.vectoriser = ImageVectors()  # its side is chosen by the first images
        self._known: dict[str, NDArray[np.float32]] = {}

    def vectors(self, values: Sequence[Any]) -> tuple[NDArray[np.float32], dict[int, str]]:
        """Return the vectors of those that are images (some, 1280), and why the others are not, by position."""
        places = ["" if value is None else str(value) for value in values]
        troubles = self._fetch([place for place in dict.fromkeys(places) if place not in self._known])
        found = [self._known[place] for place in places if place in self._known]
        broken = {row: troubles.get(place, "it has none") for row, place in enumerate(places) if place in troubles}
        return np.stack(found) if found else np.empty((0, 0), dtype=np.float32), broken

    def _fetch(self, places: Sequence[str]) -> dict[str, str]:
        """Compute what is not known yet; return why some of it cannot be used."""
        troubles: dict[str, str] = {}
        with tempfile.TemporaryDirectory() as folder:
            paths: dict[str, str] = {}
            with Progress(len(places), title="fetching images", unit="images", always=False) as progress:
                for number, place in enumerate(places):
                    try:
                        content = self.server.fetch(place)
                    except DataError as error:
                        troubles[place] = str(error)
                    else:
                        path = Path(folder, str(number))
                        path.write_bytes(content)
                        paths[str(path)] = place
                    progress.advance(1)
            return troubles | self._compute(paths)

    def _compute(self, paths: dict[str, str]) -> dict[str, str]:
        files = list(paths)
        if not files:
            return {}
        found = self.vectoriser.fit_transform(files)
        for row, vector in zip(found.rows.tolist(), found.matrix, strict=True):
            self._known[paths[files[row]]] = vector
        return {paths[files[row]]: reason for row, reason in found.broken.items()}
