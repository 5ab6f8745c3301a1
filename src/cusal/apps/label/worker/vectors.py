"""The vectors of a project's items, by its kind and settings.

| name | items | made by |
|---|---|---|
| tfidf | texts | `WordVectors`, in seconds |
| minilm | texts | `SentenceVectors`, in minutes; the session starts on tfidf and moves |
| efficientnet_lite0-SIDE | images | `ImageVectors` |
| table | rows of a table | `TableVectors` |
| FILE.npy | any | the user: a row for each item, in order |
| package.module:function | any | `OwnVectors`: called with a list of paths, texts or rows (dictionaries) |

Adding vectors is adding a class to `cusal.features` and its line in `makers_of`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cusal._files import load_array
from cusal._types import Indices
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.records import Settings
from cusal.apps.label.store.trusted_imports import require_named
from cusal.errors import DataError, UnknownName
from cusal.features import (
    GivenVectors,
    ImageVectors,
    OwnVectors,
    SentenceVectors,
    TableVectors,
    VectorisedItems,
    Vectoriser,
    WordVectors,
    as_vectors,
    has_sentence_network,
)

Note = Callable[[int], None]  # called with how many more items are done


class Maker:
    """Makes vectors of a project's items; what they depend on is learned from the items of the first call."""

    def __init__(self, project: Project, kind: str, vectoriser: Vectoriser) -> None:
        self.project, self.kind, self.vectoriser = project, kind, vectoriser
        self.in_parts = vectoriser.in_parts
        self._fitted = False

    @property
    def name(self) -> str:
        """What the vectors are called."""
        return self.vectoriser.key

    def vectors(self, ids: Indices, note: Note) -> VectorisedItems:
        """Return the vectors of items; those that cannot be read are marked in the project."""
        items = given_items(self.project, ids, self.kind)
        if isinstance(self.vectoriser, TableVectors):  # rows that came in later may lack columns
            items = [dict.fromkeys(self.vectoriser.columns) | row for row in items]
        found = (self.vectoriser.transform if self._fitted else self.vectoriser.fit_transform)(items, note)
        self._fitted = True
        for row, reason in found.broken.items():
            if row not in found.missing:
                self.project.items.mark(int(ids[row]), "broken", reason)
        if found.missing:
            self.project.items.mark_many([int(ids[row]) for row in found.missing], "missing", "The file is missing.")
        return found


class FileMaker(Maker):
    """Vectors that the user computed: row i of a .npy file is item i."""

    def __init__(self, project: Project, kind: str, path: str) -> None:
        super().__init__(project, kind, GivenVectors())
        self.path = path

    @property
    def name(self) -> str:
        """The path of the file."""
        return self.path

    def vectors(self, ids: Indices, note: Note) -> VectorisedItems:
        """Return rows of the file."""
        rows = load_array(Path(self.path).expanduser(), mapped=True)
        items = self.project.items.count()
        if rows.ndim != 2 or rows.shape[0] < items:
            raise DataError(f"{self.path} has shape {rows.shape}, but there are {items} items; give a row for each.")
        return self.vectoriser.transform(as_vectors(rows[ids], len(ids), self.path), note)


def makers_of(project: Project, settings: Settings) -> list[Maker]:
    """Return what makes the vectors of a project, the quickest first; the session moves from each to the next."""
    named, kind = settings.features, settings.kind
    if named and named.lower().endswith(".npy"):
        return [FileMaker(project, kind, named)]
    if named and ":" in named:
        require_named(settings)
        return [Maker(project, kind, OwnVectors(named))]
    known: dict[str, dict[str, list[Vectoriser]]] = {
        "text": {"tfidf": [WordVectors()], "minilm": [WordVectors(), SentenceVectors()]},
        "image": {ImageVectors.name: [ImageVectors(remembered=True)]},
        "table": {"table": [TableVectors()]},
    }
    if named in (None, "auto"):
        named = "tfidf" if kind == "text" and not has_sentence_network() else list(known[kind])[-1]
    if named not in known[kind]:
        raise UnknownName(f"features of {kind} items", named, [*known[kind], "FILE.npy", "package.module:function"])
    return [Maker(project, kind, vectoriser) for vectoriser in known[kind][named]]


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
