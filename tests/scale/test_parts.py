"""Parts that cannot be scored: each error names the file, and the row or the row group."""

import datetime
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pools import KINDS, as_table, make_pool, write_part

from cusal._checks import as_probs
from cusal.errors import DataError
from cusal.scale import parts
from cusal.scale.parts import LABELS
from cusal.scale.pool_files import cut_into_chunks, iterate_tiles, open_pool


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "TILE_ROWS", 64)


def read_all(path: Path, chunk_rows: int = 150) -> np.ndarray:
    chunks = cut_into_chunks(open_pool(path), chunk_rows)
    return np.concatenate([tile.probs for chunk in chunks for tile in iterate_tiles(chunk)])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_come_back_as_they_were_written(tmp_path: Path, kind: str) -> None:
    probs = make_pool().probs
    np.testing.assert_array_equal(read_all(write_part(tmp_path, "pool", kind, probs)), as_probs(probs))


def test_chunks_are_numbered_through_all_parts(tmp_path: Path) -> None:
    probs = make_pool().probs
    write_part(tmp_path, "a", "npz", probs[:100])
    write_part(tmp_path, "b", "list", probs[100:450])
    write_part(tmp_path, "c", "npy", probs[450:])
    chunks = cut_into_chunks(open_pool(tmp_path), 200)
    assert [(chunk.part.path.name, chunk.start, chunk.rows) for chunk in chunks] == [
        ("a.npz", 0, 100),
        ("b.parquet", 100, 200),
        ("b.parquet", 300, 150),
        ("c.npy", 450, 192),
        ("c.npy", 642, 58),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "holds NaN"), (np.inf, "infinity"), (-0.5, "never negative"), (0.9, "sums to")]
)
def test_rows_that_are_no_probabilities_are_named(tmp_path: Path, kind: str, value: float, words: str) -> None:
    probs = make_pool().probs
    probs[517, 1] = value
    path = write_part(tmp_path, "pool", kind, probs)
    where = "row 517" if kind.startswith("np") else r"row 517 \(row group 5\)"
    with pytest.raises(DataError, match=f"{path}: probs: {where} .*{words}"):
        read_all(path)


def damage(path: Path, at: float) -> None:
    content = bytearray(path.read_bytes())
    middle = int(len(content) * at)
    content[middle : middle + 40] = bytes(b ^ 0x5A for b in content[middle : middle + 40])
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["npz", "npz compressed"])
def test_a_damaged_archive_is_named(tmp_path: Path, kind: str) -> None:
    path = write_part(tmp_path, "pool", kind, make_pool().probs)
    damage(path, 0.5)
    with pytest.raises(DataError, match=str(path)):
        read_all(path)


@pytest.mark.parametrize("kind", ["list", "fixed list", "columns"])
@pytest.mark.parametrize("page", ["header", "content"])
def test_a_damaged_row_group_is_named(tmp_path: Path, kind: str, page: str) -> None:
    path = tmp_path / "pool.parquet"
    table = as_table(kind, make_pool().probs)
    pq.write_table(table, path, row_group_size=100, use_dictionary=False, write_page_checksum=True)
    column = pq.ParquetFile(path).metadata.row_group(3).column(0)
    content = bytearray(path.read_bytes())
    at = column.data_page_offset + (0 if page == "header" else column.total_compressed_size - 8)
    content[at : at + 8] = b"\xff" * 8
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{path}: row group 3 cannot be read"):
        read_all(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keep", [0, 3, 60, 0.5, 0.99])
def test_a_part_cut_short_is_named(tmp_path: Path, kind: str, keep: float) -> None:
    path = write_part(tmp_path, "pool", kind, make_pool().probs)
    content = path.read_bytes()
    path.write_bytes(content[: keep if isinstance(keep, int) else int(keep * len(content))])
    with pytest.raises(DataError, match=str(path)):
        read_all(path)


def test_mixed_class_counts_name_both_files(tmp_path: Path) -> None:
    one = write_part(tmp_path, "a", "npy", make_pool(classes=4).probs)
    other = write_part(tmp_path, "b", "columns", make_pool(classes=5).probs)
    with pytest.raises(DataError, match=f"{other} has 5 classes, but {one} has 4"):
        open_pool(tmp_path)


def test_lists_of_another_length_name_row_and_row_group(tmp_path: Path) -> None:
    rows = make_pool().probs.tolist()
    rows[230] = [0.5, 0.5]
    path = tmp_path / "pool.parquet"
    pq.write_table(pa.table({"probs": rows}), path, row_group_size=100)
    with pytest.raises(DataError, match=r"row 230 \(row group 2\) has 2 numbers, expected 4"):
        read_all(path)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"x": [0.5]}, "neither a list column probs nor columns p0, p1, ...; it has x"),
        ({"p0": [0.5], "p2": [0.5]}, "no column p1"),
        ({"p0": [1.0]}, "neither"),
        ({"probs": [0.5, 0.5]}, "holds double"),
        ({"probs": [["a", "b"]]}, "list<.*string"),
        ({"probs": [[0.5, 0.5], None]}, "row 1 .* is null"),
        ({"probs": [[0.5, 0.5], [0.5, None]]}, "row 1 .* has a null"),
        ({"p0": [0.5, None], "p1": [0.5, 1.0]}, "p0: row 1 .* is null"),
        ({"p0": [0.5, 0.0], "p1": [0.5, 1.0], "id": ["a", None]}, "id: row 1 .* is null"),
        ({"probs": pa.array([], pa.list_(pa.float32()))}, "no rows"),
        ({"probs": [[1.0]]}, "1 classes"),
        ({"probs": [[0.5, 0.5]], "id": [0.5]}, "ids are float"),
        ({"probs": [[0.5, 0.5]], "id": [datetime.date(2024, 1, 1)]}, "ids are date"),
    ],
)
def test_parquet_without_the_right_columns_is_refused(tmp_path: Path, table: dict[str, object], words: str) -> None:
    path = tmp_path / "pool.parquet"
    pq.write_table(pa.table(table), path)
    with pytest.raises(DataError, match=words) as met:
        read_all(path)
    assert str(path) in str(met.value)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.zeros((3, 2))}, "no array probs; it holds x"),
        ({"probs": np.zeros(3)}, r"shape \(3,\)"),
        ({"probs": np.zeros((3, 2), dtype=int)}, "int64"),
        ({"probs": np.asfortranarray(np.full((3, 2), 0.5))}, "column by column"),
        ({"probs": np.full((3, 2), 0.5), "ids": np.arange(2)}, r"ids has shape \(2,\)"),
        ({"probs": np.full((3, 2), 0.5), "ids": np.array([1, "a", None])}, "Python objects"),
    ],
)
def test_archives_without_the_right_arrays_are_refused(tmp_path: Path, arrays: dict[str, object], words: str) -> None:
    np.savez(tmp_path / "pool.npz", **arrays)
    with pytest.raises(DataError, match=words):
        read_all(tmp_path / "pool.npz")


def test_what_is_no_pool_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file or folder"):
        open_pool(tmp_path / "none")
    with pytest.raises(DataError, match="holds no part"):
        open_pool(tmp_path)
    (tmp_path / "pool.txt").touch()
    with pytest.raises(DataError, match="unknown kind"):
        open_pool(tmp_path / "pool.txt")


def test_labelled_points_need_labels(tmp_path: Path) -> None:
    probs = make_pool().probs
    with pytest.raises(DataError, match="holds no labels"):
        open_pool(write_part(tmp_path, "a", "npy", probs), LABELS)
    with pytest.raises(DataError, match="no array labels"):
        open_pool(write_part(tmp_path, "b", "npz", probs), LABELS)
    with pytest.raises(DataError, match="no column label"):
        open_pool(write_part(tmp_path, "c", "columns", probs), LABELS)


def test_a_file_that_shrinks_while_it_is_read_is_named(tmp_path: Path) -> None:
    path = write_part(tmp_path, "pool", "npy", make_pool().probs)
    chunks = cut_into_chunks(open_pool(path), 150)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(DataError, match=str(path)):
        list(iterate_tiles(chunks[-1]))


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path) -> None:
    path = write_part(tmp_path, "pool", "list", make_pool().probs)
    hidden = "import sys; sys.modules['pyarrow'] = None; "
    program = hidden + "from cusal.scale.pool_files import open_pool; open_pool(sys.argv[1])"
    run = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert "pip install 'cusal[parquet]'" in run.stderr
