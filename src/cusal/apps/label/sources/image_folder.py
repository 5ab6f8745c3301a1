"""A folder of images: every image file in it and its sub-folders is an item, its relative path the key."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cusal.apps.label.sources.source import SourceOptions
from cusal.apps.label.sources.tables import read_labels
from cusal.apps.label.store.records import Item, NewItem, Settings
from cusal.apps.label.store.validation import is_unicode
from cusal.errors import DataError, InvalidInput
from cusal.tables import Notes

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".gif", ".bmp")

OUTSIDE = "{count} links lead out of the folder and were left out; the first is {first}."
NOT_UTF8 = "{count} files have names that are not UTF-8 and were left out; the first is {first}."
UNREADABLE = "{count} folders cannot be read and were left out; the first is {first}."
NO_FILE = "{count} known labels are of files that are not in the folder; the first is {first}."


class ImageFolder:
    """The images below a folder, sorted by path; hidden files, and links that leave the folder, are left out.

    Parameters
    ----------
    folder : Path
        The folder.
    options : SourceOptions
        `folders_are_labels` and `labels` apply.
    """

    kind = "image"
    share: float | None = None

    def __init__(self, folder: Path, options: SourceOptions) -> None:
        if options.text is not None or options.label is not None:
            raise InvalidInput(
                f"{folder} is a folder of images, which has no columns; leave out --text and --label, or give a table."
            )
        self._folder, self._options, self._notes = folder, options, Notes()
        self._root = folder.resolve()
        if next(self._files(), None) is None:
            raise DataError(
                f"{folder} holds no images ({', '.join(suffix[1:] for suffix in SUFFIXES)}); "
                "give a folder of images, or a table (CSV, TSV, JSONL, Parquet)."
            )

    def settings(self) -> Settings:
        """Return the settings of a project on these images."""
        labels = self._options.labels and str(Path(self._options.labels).resolve())
        options = {"folders_are_labels": self._options.folders_are_labels, "labels": labels}
        return Settings(self._root.name or "Images", self.kind, str(self._root), options=options)

    def rows(self) -> Iterator[NewItem]:
        """Yield the images in the order of their paths."""
        self._notes = Notes()
        for key in self._files():
            folder, _, _ = key.rpartition("/")
            yield NewItem(key, label=(folder or None) if self._options.folders_are_labels else None)

    @property
    def known_labels(self) -> Iterator[tuple[str, str]]:
        """Keys and class names of the file of labels: paths below the folder, or names that only one file has."""
        if self._options.labels is None:
            return
        by_name: dict[str, str | None] | None = None
        for name, label in read_labels(Path(self._options.labels)):
            key = self._key_of(name)
            if key is None:
                by_name = self._by_name() if by_name is None else by_name
                key = by_name.get(name.rpartition("/")[2])
            if key is None:
                self._notes.add(NO_FILE, name)
            else:
                yield key, label

    def is_changed(self, item: Item, row: NewItem) -> bool:
        """Return False: an image is known by its path."""
        return False

    def reading(self) -> list[str]:
        """Return where known labels come from."""
        return ["The names of folders are known labels."] if self._options.folders_are_labels else []

    def notes(self) -> list[str]:
        """Return what was left out."""
        return self._notes.sentences()

    def fingerprint(self) -> list[Any] | None:
        """Return None: new files are found by looking."""
        return None

    def _files(self) -> Iterator[str]:
        """Yield the keys of all images, sorted."""
        waiting = [""]
        while waiting:
            place = waiting.pop()
            if place and not place.endswith("/"):
                yield place
                continue
            # Files and folders in one order, folders with their stroke, so that the whole is sorted as text.
            waiting += sorted(self._entries(place), reverse=True)

    def _entries(self, place: str) -> Iterator[str]:
        try:
            with os.scandir(self._root / place) as entries:
                for entry in entries:
                    found = f"{place}{entry.name}"
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        yield found + "/"
                    elif entry.name.lower().endswith(SUFFIXES) and self._is_ours(entry, found):
                        yield found
        except OSError as error:
            if not place:
                raise DataError(
                    f"the folder {self._folder} cannot be read ({error.strerror}); check the path."
                ) from None
            self._notes.add(UNREADABLE, place)

    def _is_ours(self, entry: os.DirEntry[str], found: str) -> bool:
        if not is_unicode(entry.name) or not is_unicode(found):
            self._notes.add(NOT_UTF8, os.fsencode(found).decode(errors="replace"))
            return False
        if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(self._root):
            self._notes.add(OUTSIDE, found)
            return False
        return entry.is_file()

    def _key_of(self, name: str) -> str | None:
        """Return the key of a path relative to the folder, or inside of it; None where there is no such file."""
        try:
            path = (self._root / name).resolve()
            if path.is_file() and path.is_relative_to(self._root):
                return Path(os.path.normpath(self._root / name)).relative_to(self._root).as_posix()
        except (OSError, ValueError):  # a name that no file can have, or one that leaves the folder and returns
            return None
        return None

    def _by_name(self) -> dict[str, str | None]:
        """Return the keys by name of the file; None for a name that several files have."""
        names: dict[str, str | None] = {}
        for key in self._files():
            name = key.rpartition("/")[2]
            names[name] = None if name in names else key
        return names
