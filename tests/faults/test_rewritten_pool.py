"""A part of a pool that is rewritten while it is scored: an error that says so, and no picks."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from cusal.errors import DataError
from cusal.scale import Files, LocalEngine, Request, score
from cusal.scale.engines._engine import Advance, Results, Work
from cusal.scale.parts import Chunk
from cusal.scale.pool_files import cut_into_chunks, iterate_tiles, open_pool
from cusal.strategies import Margin

PROBS = np.random.default_rng(0).dirichlet(np.ones(3), 400_000).astype(np.float32)
OTHER = PROBS[::-1].copy()


class Meanwhile(LocalEngine):
    """Does something after the first chunk was scored."""

    def __init__(self, event: Callable[[], None]) -> None:
        super().__init__()
        self.event = event

    def map(self, chunks: Sequence[Chunk], work: Work, advance: Advance) -> Results:
        for i, chunk in enumerate(chunks):
            found = work(chunk, advance)
            if i == 0:
                self.event()
            yield chunk, found


def rewrite(path: Path, way: str) -> None:
    if way == "in place":
        with path.open("r+b") as file:
            file.seek(-OTHER.nbytes, os.SEEK_END)
            file.write(OTHER.tobytes())
    elif way == "another file":
        np.save(path.with_name("new.npy"), OTHER)
        os.replace(path.with_name("new.npy"), path)
    elif way == "shorter":
        np.save(path, OTHER[:1000])
    else:
        path.unlink()


@pytest.mark.parametrize("way", ["in place", "another file", "shorter", "removed"])
def test_a_rewritten_part_is_noticed(tmp_path: Path, way: str) -> None:
    path = tmp_path / "pool.npy"
    np.save(path, PROBS)
    files, out = Files(path, tmp_path / "picks.csv"), tmp_path / "picks.csv"
    engine = Meanwhile(lambda: rewrite(path, way))
    with pytest.raises(DataError, match=r"pool\.npy was changed while it was scored|there is no file .*pool\.npy"):
        score(files, Request(5, Margin()), engine=engine, quiet=True, chunk_rows=100_000)
    assert not out.exists()
    np.save(path, OTHER)
    again = score(files, Request(5, Margin()), quiet=True, chunk_rows=100_000)  # nothing of the first start is used
    margins = np.diff(np.sort(OTHER.astype(float), axis=1)[:, -2:], axis=1).ravel()
    np.testing.assert_allclose(margins[again.indices], np.sort(margins)[:5], atol=1e-6)


@pytest.mark.parametrize("way", ["in place", "another file", "shorter"])
def test_a_part_that_is_rewritten_between_two_tiles_is_noticed(tmp_path: Path, way: str) -> None:
    path = tmp_path / "pool.npy"
    np.save(path, PROBS)
    (chunk,) = cut_into_chunks(open_pool(path))
    tiles = iterate_tiles(chunk)
    next(tiles)
    rewrite(path, way)
    with pytest.raises(DataError, match="was changed while it was scored"):
        list(tiles)


def test_a_copy_of_a_part_on_another_node_may_have_another_time(tmp_path: Path) -> None:
    path = tmp_path / "pool.npy"
    np.save(path, PROBS[:100])
    (chunk,) = cut_into_chunks(open_pool(path))
    os.utime(path, (1, 1))
    assert sum(len(tile.probs) for tile in iterate_tiles(chunk)) == 100
