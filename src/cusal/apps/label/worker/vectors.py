"""The vectors of a project's items, by its kind and settings.

| name | items | made by |
|---|---|---|
| tfidf | texts | `TextFeatures`, in seconds |
| minilm | texts | `sentence_vectors`, in minutes; the session starts on tfidf and moves |
| efficientnet_lite0-SIDE | images | `image_vectors` |
| table | rows of a table | `TableFeatures` |
| FILE.npy | any | the user: a row for each item, in order |
| package.module:function | any | the user: called with a list of paths, texts or rows (dictionaries) |

Adding vectors is adding a class here and its line in `makers_of`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from cusal._arrays import load_array
from cusal._import_name import import_name
from cusal._types import Indices
from cusal.apps.label.store.own_code import require_named
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.records import Settings
from cusal.errors import DataError, InvalidInput, UnknownName
from cusal.features import TableFeatures, TextFeatures
from cusal.features.image_files import choose_side, stream_image_vectors
from cusal.features.images import NETWORKS, WIDTH
from cusal.features.sentences import WIDTH as SENTENCE_WIDTH
from cusal.features.sentences import has_sentence_network, stream_sentence_vectors

CHUNK = 256  # items that a function of the user is called with
NETWORK = NETWORKS[0]
Note = Callable[[int], None]  # called with how many more items are done


@dataclass(frozen=True)
class Made:
    """The vectors of some items: which have one, (n,), and their matrix (those, columns), dense or sparse."""

    has: NDArray[np.bool_]
    matrix: Any

    @classmethod
    def whole(cls, matrix: Any) -> "Made":
        """Return vectors of all items."""
        return cls(np.ones(matrix.shape[0], dtype=np.bool_), matrix)

    def filled(self) -> Any:
        """Return the matrix of all items, with zeros for those that have none."""
        if self.has.all():
            return self.matrix
        filled = np.zeros((len(self.has), self.matrix.shape[1]), dtype=self.matrix.dtype)
        filled[self.has] = self.matrix
        return filled


class Maker(Protocol):
    """What turns items of a project into vectors; what it learns, it learns from those of the first call."""

    in_parts: bool  # whether vectors take long and do not depend on the others of a call

    @property
    def name(self) -> str:
        """What the vectors are called."""

    def vectors(self, ids: Indices, note: Note) -> Made:
        """Return the vectors of items."""


class TextMaker:
    """TF-IDF rows of texts; `features` are fitted by the first call."""

    in_parts = False
    name = "tfidf"

    def __init__(self, project: Project) -> None:
        self.project = project
        self.features: TextFeatures | None = None

    def vectors(self, ids: Indices, note: Note) -> Made:
        """Return sparse rows."""
        texts = self.project.items.texts(ids.tolist())
        if self.features is None:
            features = TextFeatures()
            matrix = features.fit_transform(texts)
            self.features = features
        else:
            matrix = self.features.transform(texts)
        note(len(texts))
        return Made.whole(matrix)


class SentenceMaker:
    """Vectors of texts by MiniLM."""

    in_parts = True
    name = "minilm"

    def __init__(self, project: Project) -> None:
        self.project = project

    def vectors(self, ids: Indices, note: Note) -> Made:
        """Return vectors of unit length; what is on disk is not computed."""
        matrix = np.empty((len(ids), SENTENCE_WIDTH), dtype=np.float32)
        for rows, found in stream_sentence_vectors(self.project.items.texts(ids.tolist())):
            matrix[rows] = found
            note(len(rows))
        return Made.whole(matrix)


class ImageMaker:
    """Vectors of image files by EfficientNet-Lite0; `side` is chosen by the first call if it is not given."""

    in_parts = True

    def __init__(self, project: Project, side: int | None = None) -> None:
        self.project, self.side = project, side

    @property
    def name(self) -> str:
        """What the vectors are called: those of another side are others."""
        return NETWORK if self.side is None else f"{NETWORK}-{self.side}"

    def vectors(self, ids: Indices, note: Note) -> Made:
        """Return the vectors of the files that are images; the others are marked in the project."""
        paths = paths_of(self.project, ids)
        side = self.side or choose_side(paths)
        self.side = side
        has = np.zeros(len(ids), dtype=np.bool_)
        matrix = np.zeros((len(ids), WIDTH), dtype=np.float32)
        for chunk in stream_image_vectors(paths, side=side, remembered=True):
            has[chunk.rows] = True
            matrix[chunk.rows] = chunk.vectors
            for row, reason in chunk.broken.items():
                self.project.items.mark(int(ids[row]), "broken", reason)
            if chunk.missing:
                self.project.items.mark_many(
                    [int(ids[row]) for row in chunk.missing], "missing", "The file is missing."
                )
            note(len(set(chunk.rows.tolist()) | set(chunk.broken) | set(chunk.missing)))
        return Made(has, matrix if has.all() else matrix[has])


class TableMaker:
    """Rows of a table, scaled and encoded; `columns` and `features` are those of the first call."""

    in_parts = False
    name = "table"

    def __init__(self, project: Project) -> None:
        self.project = project
        self.columns: tuple[str, ...] = ()
        self.features: TableFeatures | None = None

    def vectors(self, ids: Indices, note: Note) -> Made:
        """Return dense rows."""
        rows = rows_of(self.project, ids)
        if self.features is None:
            self.columns = tuple(dict.fromkeys(name for row in rows for name in row))
            if not self.columns:
                raise DataError("the rows of the table have no columns to learn from; name features by --features.")
            self.features = TableFeatures().fit(cells_of(rows, self.columns))
        matrix = self.features.transform(cells_of(rows, self.columns))
        note(len(rows))
        return Made.whole(matrix)


class FileMaker:
    """Vectors that the user computed: row i of a .npy file is item i."""

    in_parts = False

    def __init__(self, project: Project, path: str) -> None:
        self.project, self.name = project, path

    def vectors(self, ids: Indices, note: Note) -> Made:
        """Return rows of the file."""
        rows = load_array(Path(self.name).expanduser(), mapped=True)
        items = self.project.items.count()
        if rows.ndim != 2 or rows.shape[0] < items:
            raise DataError(f"{self.name} has shape {rows.shape}, but there are {items} items; give a row for each.")
        matrix = checked(np.asarray(rows[ids]), len(ids), self.name)
        note(len(ids))
        return Made.whole(matrix)


class FunctionMaker:
    """Vectors by a function of the user's, "package.module:function"."""

    in_parts = True

    def __init__(self, project: Project, name: str, kind: str) -> None:
        self.project, self.name, self.kind = project, name, kind

    def vectors(self, ids: Indices, note: Note) -> Made:
        """Return what the function says of chunks of the items."""
        function, parts = import_name(self.name, "function of features"), []
        for start in range(0, len(ids), CHUNK):
            some = ids[start : start + CHUNK]
            parts.append(checked(function(given_items(self.project, some, self.kind)), len(some), self.name))
            note(len(some))
        return Made.whole(stacked(parts))


def makers_of(project: Project, settings: Settings) -> list[Maker]:
    """Return what makes the vectors of a project, the quickest first; the session moves from each to the next."""
    named, kind = settings.features, settings.kind
    if named and named.lower().endswith(".npy"):
        return [FileMaker(project, named)]
    if named and ":" in named:
        require_named(settings)
        return [FunctionMaker(project, named, kind)]
    known: dict[str, dict[str, list[Maker]]] = {
        "text": {"tfidf": [TextMaker(project)], "minilm": [TextMaker(project), SentenceMaker(project)]},
        "image": {NETWORK: [ImageMaker(project)]},
        "table": {"table": [TableMaker(project)]},
    }
    if named in (None, "auto"):
        named = "tfidf" if kind == "text" and not has_sentence_network() else list(known[kind])[-1]
    if named not in known[kind]:
        raise UnknownName(f"features of {kind} items", named, [*known[kind], "FILE.npy", "package.module:function"])
    return known[kind][named]


def given_items(project: Project, ids: Indices, kind: str) -> Sequence[Any]:
    """Return items as users know them: paths of images, texts, or rows as dictionaries."""
    if kind == "image":
        return paths_of(project, ids)
    return project.items.texts(ids.tolist()) if kind == "text" else rows_of(project, ids)


def paths_of(project: Project, ids: Indices) -> list[str]:
    """Return the paths of image items."""
    folder = Path(project.settings.data).expanduser()
    return [str(folder / item.key) for item in project.items.of(ids.tolist())]


def rows_of(project: Project, ids: Indices) -> list[dict[str, Any]]:
    """Return the columns of rows of a table."""
    return [item.extra or {} for item in project.items.of(ids.tolist())]


def cells_of(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> NDArray[Any]:
    """Return rows as an array of objects, (n, columns); what a row lacks is None."""
    cells = np.empty((len(rows), len(columns)), dtype=object)
    for place, name in enumerate(columns):
        cells[:, place] = [row.get(name) for row in rows]
    return cells


def checked(found: Any, count: int, name: str) -> Any:
    """Return vectors that a user gave as a matrix of finite numbers, or raise an error that names their source."""
    matrix = found.tocsr() if issparse(found) else np.asarray(found)
    if matrix.ndim != 2 or matrix.shape[0] != count or matrix.dtype.kind not in "fiub":
        raise InvalidInput(
            f"{name} gave {matrix.dtype} of shape {matrix.shape} for {count} items; give numbers, (items, columns)."
        )
    matrix = matrix.astype(np.float32 if matrix.dtype != np.float64 else np.float64)
    if not np.isfinite(matrix.data if issparse(matrix) else matrix).all():
        raise InvalidInput(f"{name} gave NaN or infinity; give finite numbers.")
    return matrix


def stacked(parts: Sequence[Any]) -> Any:
    """Return matrices of one kind on top of each other."""
    widths = sorted({part.shape[1] for part in parts})
    if len(widths) > 1:
        raise InvalidInput(f"vectors have {widths[0]} columns here and {widths[1]} there; give all of them the same.")
    if any(issparse(part) for part in parts):
        return vstack(parts, format="csr")
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
