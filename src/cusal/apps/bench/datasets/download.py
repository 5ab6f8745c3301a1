"""Downloads of the publishers' files: pooch checks them, and what was cut short resumes where it stopped."""

import http.client
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cusal.apps.bench.datasets.catalogue import find_source
from cusal.apps.bench.datasets.dataset import Source
from cusal.apps.bench.datasets.files import data_folder, missing
from cusal.errors import DataError, MissingExtra

CHUNK = 1 << 18
PATIENCE = 30.0  # seconds without a byte

OnProgress = Callable[[str, int, int], None]


def print_progress(file: str, done: int, total: int) -> None:
    """Write one line on the error stream that follows a download, when a person can see it."""
    if sys.stderr.isatty():
        end = "\n" if done >= total else ""
        print(f"\r{file}: {done / 1e6:.1f} of {total / 1e6:.1f} MB", end=end, file=sys.stderr, flush=True)


def get(name: str, folder: str | Path | None = None, *, progress: OnProgress = print_progress) -> Path:
    """Download what a data set lacks and return the folder that holds it.

    Files that are there already are checked and kept. A download that was stopped resumes where it was.

    Parameters
    ----------
    name : str
        One of `names()`.
    folder : str or Path, optional
        The folder of all data sets, as in `load`.
    progress : callable
        Called with the file's name, the bytes that are there and the bytes in all. By default a line on the error
        stream, when a person can see it.

    Returns
    -------
    Path
        The folder that holds the files.

    Raises
    ------
    DataError
        If a file cannot be downloaded or written; the message says what to do instead.

    Examples
    --------
    >>> get("digits", "anywhere").name  # it comes with scikit-learn: there is nothing to download
    'anywhere'
    """
    source = find_source(name)
    return get_source(name, source, data_folder(folder) / source.folder, progress=progress)


def get_source(name: str, source: Source, folder: Path, *, progress: OnProgress = print_progress) -> Path:
    """Download the files that a source names into `folder`; each is tried at every address in turn."""
    unchecked = [form for form in source.forms if not set(form) & {file for file, _ in source.checksums}]
    if any(not missing(replace(source, forms=(form,)), folder) for form in unchecked):
        return folder  # it is there in a form that has no checksum, such as unpacked
    if not source.checksums:
        raise DataError(f"{name} cannot be downloaded: {source.advice}; expected in {folder}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make {folder} for {name}: {error.strerror}; name another in CUSAL_DATA.") from error
    for file, checksum in source.checksums:
        _get_file(folder / file, checksum, addresses=source.addresses, progress=progress)
    return folder


def _get_file(path: Path, checksum: str, *, addresses: tuple[str, ...], progress: OnProgress) -> None:
    try:
        import pooch
    except ImportError as error:
        raise MissingExtra("downloading data sets", "bench") from error
    failures = []
    for address in addresses:
        try:
            pooch.retrieve(
                address + path.name,
                checksum,
                fname=path.name,
                path=path.parent,
                downloader=_Resume(path.with_name(path.name + ".part"), progress),
            )
        except (OSError, http.client.HTTPException, ValueError) as error:
            failures.append(f"{address}: {str(error).splitlines()[0]}")
        else:
            return
    raise DataError(
        f"{path.name} could not be downloaded ({'; '.join(failures)}); run the command again to resume where "
        f"it stopped, or put the file into {path.parent} yourself."
    )


@dataclass(frozen=True)
class _Resume:
    """A downloader for pooch that keeps what has arrived in `part` until the file is whole."""

    part: Path
    progress: OnProgress

    def __call__(self, url: str, output_file: str, _pooch: object) -> None:
        there = self.part.stat().st_size if self.part.exists() else 0
        request = urllib.request.Request(url, headers={"Range": f"bytes={there}-"} if there else {})
        try:
            reply = urllib.request.urlopen(request, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                self.part.unlink()  # it is as long as the file or longer: not a beginning of it
            raise
        with reply:
            resumed = reply.status == http.HTTPStatus.PARTIAL_CONTENT
            there = there if resumed else 0
            total = there + int(reply.headers.get("Content-Length", 0))
            with self.part.open("ab" if resumed else "wb") as target:
                while chunk := reply.read(CHUNK):
                    target.write(chunk)
                    there += len(chunk)
                    self.progress(self.part.stem, there, total)
        if there < total:
            raise OSError(f"the connection ended after {there} of {total} bytes")
        os.replace(self.part, output_file)
