"""Copies of the labelled images, a folder for each class: what torchvision's ImageFolder and Keras read.

images/CLASS/FILE   the file as it is; folders of the key become parts of its name
images/classes.json the class of each folder, since some names cannot be those of a folder

A file that has gone, or that lies outside of the project's folder, is left out and said.
"""

import json
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar

from cusal._files import write_whole, writing
from cusal.apps.label.export.contents import AnsweredItem, Overview, Predicted
from cusal.apps.label.export.file_names import UniqueNames
from cusal.errors import InvalidInput


class Sink:
    """The copies of an export."""

    takes_predictions: ClassVar[bool] = False

    def __init__(self, folder: Path, overview: Overview) -> None:
        if overview.settings.kind != "image":
            raise InvalidInput(
                f"the format imagefolder copies images, but the items are of the kind {overview.settings.kind}; choose "
                "csv, jsonl or parquet."
            )
        self._source = Path(overview.settings.data).resolve()
        self._folder = folder / "images"
        self._folder.mkdir()
        self._folders, self._names = UniqueNames(), defaultdict[str, UniqueNames](UniqueNames)
        self._folder_of: dict[str, str] = {}
        self._left_out: list[str] = []

    def answered(self, items: Sequence[AnsweredItem]) -> None:
        """Copy the files of labelled items."""
        for each in items:
            if each.label is not None:
                self._copy(each.item.key, each.label)

    def predicted(self, chunk: Predicted) -> None:
        """Do nothing: only what somebody labelled is copied."""

    def close(self) -> list[str]:
        """Write which folder is which class, and return what was left out."""
        classes = {folder: name for name, folder in self._folder_of.items()}
        write_whole(self._folder / "classes.json", json.dumps(classes, indent=2, ensure_ascii=False).encode())
        if not self._left_out:
            return []
        count, first = len(self._left_out), self._left_out[0]
        return [f"{count} labelled images are not in images/, for instance {first}: they are not in the folder."]

    def _copy(self, key: str, label: str) -> None:
        source = (self._source / key).resolve()
        if not source.is_relative_to(self._source) or not source.is_file():
            self._left_out.append(key)
            return
        if label not in self._folder_of:
            self._folder_of[label] = self._folders.take(label)
        folder = self._folder / self._folder_of[label]
        folder.mkdir(exist_ok=True)
        path = PurePosixPath(key.replace("\\", "/"))
        name = self._names[label].take("_".join(path.with_suffix("").parts), path.suffix)
        with writing(folder / name):
            shutil.copyfile(source, folder / name)
