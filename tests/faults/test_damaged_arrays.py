"""Damaged `.npy` and `.npz` files, for everything that reads them: arrays, or a DataError, and never anything else."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cusal._files import load_array, load_arrays
from cusal.apps.bench.datasets.formats import arrays
from cusal.apps.label.export.new_data import _vectors
from cusal.apps.label.store.predictions import Predictions
from cusal.errors import DataError, ProjectError
from cusal.scale.pool_files import cut_into_chunks, iterate_tiles, open_pool

FILES = 600
rng = np.random.default_rng(5)
PROBS = rng.dirichlet(np.ones(3), 12)


def read_pool(path: Path) -> None:
    for chunk in cut_into_chunks(open_pool(path)):
        for _ in iterate_tiles(chunk):
            pass


def save_npz(path: Path, *, compressed: bool = False) -> None:
    write = np.savez_compressed if compressed else np.savez
    write(path, X=PROBS, y=np.arange(12) % 3, probs=PROBS)


READERS: dict[str, list[Callable[[Path], object]]] = {
    ".npy": [load_array, lambda path: np.asarray(load_array(path, mapped=True)), _vectors, read_pool],
    ".npz": [load_arrays, lambda path: load_arrays(path.read_bytes()), arrays.load, read_pool],
}


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with some bytes changed, cut short, or with a piece moved; the header is hit more often."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(changed) if rng.random() < 0.5 else min(128, len(changed))))
        changed[place] = int(rng.integers(256))
    if rng.random() < 0.2:
        changed = changed[: int(rng.integers(len(changed)))]
    return bytes(changed)


@pytest.mark.parametrize("kind", ["npy", "npz", "npz compressed"])
@pytest.mark.filterwarnings("ignore")  # of NumPy, about odd headers
def test_a_damaged_file_gives_arrays_or_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"file.{kind[:3]}"
    if kind == "npy":
        np.save(path, PROBS)
    else:
        save_npz(path, compressed="compressed" in kind)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(FILES):
        path.write_bytes(damaged(whole, rng))
        for read in READERS[path.suffix]:
            try:
                read(path)
            except DataError as error:
                refused += 1
                if str(path.name) not in str(error) and "the archive" not in str(error):
                    raise AssertionError(f"the file is not named: {error}") from error
    assert refused > FILES


def test_predictions_of_a_round_that_are_damaged_are_named() -> None:
    with pytest.raises(ProjectError, match=r"what the last round predicted is damaged.*made again"):
        Predictions.from_bytes(b"PK\x03\x04 nothing")
