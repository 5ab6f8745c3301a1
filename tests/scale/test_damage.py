"""Files with one byte changed, or cut short: rows, or an error that names the file, and never anything else."""

from pathlib import Path

import numpy as np
import pytest
from pools import make_pool

from cusal.errors import DataError
from cusal.scale.parts import LABELS, Column
from cusal.scale.pool_files import cut_into_chunks, iterate_tiles, open_pool

CHANGES = 2000


def read_all(path: Path, column: Column) -> None:
    for chunk in cut_into_chunks(open_pool(path, column)):
        for tile in iterate_tiles(chunk):
            assert np.isfinite(tile.probs).all()


def refusals(path: Path, *, seed: int) -> int:
    """Return how many of the damaged copies of a file were refused."""
    whole, rng, refused = path.read_bytes(), np.random.default_rng(seed), 0
    column = Column("ids", "id", required=False) if path.suffix == ".npy" else LABELS
    with path.open("r+b", buffering=0) as file:  # kept open: emptying a file to write it again takes milliseconds
        for _ in range(CHANGES):
            content = bytearray(whole)
            content[rng.integers(len(whole))] = rng.integers(256)
            content = content if rng.random() < 0.8 else content[: rng.integers(len(whole))]
            file.seek(0)
            file.truncate(file.write(content))
            try:
                read_all(path, column)
            except DataError:
                refused += 1
    return refused


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_damaged_npy_gives_rows_or_an_error(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "pool.npy", make_pool(rows=12, classes=3, dtype=dtype).probs)
    assert refusals(tmp_path / "pool.npy", seed=0) > CHANGES // 4


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_a_damaged_npz_gives_rows_or_an_error(tmp_path: Path, write: object) -> None:
    pool = make_pool(rows=12, classes=3)
    write(tmp_path / "pool.npz", probs=pool.probs, labels=pool.labels[:12])  # type: ignore[operator]
    assert refusals(tmp_path / "pool.npz", seed=1) > CHANGES // 4
