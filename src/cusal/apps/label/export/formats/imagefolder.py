"""Copies of the labelled images, a folder for each class: what torchvision's ImageFolder and Keras read.

images/CLASS/FILE   the file as it is; folders of the key become parts of its name
images/classes.json the class of each folder, since some names cannot be those of a folder

A file that has gone, or that lies outside of the project's folder, is left out and said.
"""

import json
import re
import shutil
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar

from cusal._files import write_whole, writing
from cusal.apps.label.export.contents import AnsweredItem, Overview, Predicted
from cusal.errors import InvalidInput

MOST_BYTES = 120  # of a name in UTF-8; file systems allow 255, and paths on Windows 260 letters in all
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE)


def safe_name(name: str) -> str:
    """Return a name that can be that of a folder or file on any system.

    >>> [safe_name(name) for name in ("cat", "../x", "CON", "a/b", "nul.txt", " . ")]
    ['cat', '_x', 'CON_', 'a_b', 'nul_.txt', '_']
    """
    plain = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", name)).strip(". ")
    stem, dot, rest = plain.partition(".")
    if _DEVICE.fullmatch(stem.strip()):
        plain = f"{stem}_{dot}{rest}"
    return _cut(plain, MOST_BYTES).rstrip(". ") or "_"


class UniqueNames:
    """Safe names, each of them once, also where a file system does not tell small letters from capitals.

    >>> names = UniqueNames()
    >>> names.take("a/b"), names.take("a?b"), names.take("A_B", suffix=".png")
    ('a_b', 'a_b (2)', 'A_B.png')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str, suffix: str = "") -> str:
        """Return a safe name that was not taken before, with a number where that is needed."""
        stem = safe_name(name)
        number, unique = 1, f"{stem}{suffix}"
        while unique.casefold() in self._taken:
            number += 1
            unique = f"{stem} ({number}){suffix}"
        self._taken.add(unique.casefold())
        return unique


def _cut(text: str, most: int) -> str:
    """Return the longest beginning of a text that has at most so many bytes."""
    return text.encode("utf-8")[:most].decode("utf-8", "ignore")


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
