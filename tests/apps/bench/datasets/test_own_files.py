import csv
import gzip
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from cusal.apps.bench import datasets
from cusal.apps.bench.datasets import formats
from cusal.errors import DataError, UnknownName

TABULAR = Path(os.environ.get("CUSAL_DATA", ""), "tabular")


def write_table(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as target:
        csv.writer(target).writerows([header, *rows])
    return f"csv:{path}"


def rows(count):
    rng = np.random.default_rng(0)
    return [[*rng.normal(5, 3, 2).tolist(), "ab"[number % 2]] for number in range(count)]


def test_a_table_is_standardised_and_split_by_class(tmp_path):
    loaded = datasets.load(write_table(tmp_path / "a.csv", ["x", "y", "label"], rows(50)))
    assert loaded.train.shape == (40, 2)
    assert loaded.test.shape == (10, 2)
    assert loaded.train.dtype == np.float32
    assert loaded.classes == ("a", "b")
    assert np.bincount(loaded.test_labels).tolist() == [5, 5]
    np.testing.assert_allclose(loaded.train.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(loaded.train.std(0), 1, atol=1e-6)


def test_the_split_is_the_same_every_time(tmp_path):
    name = write_table(tmp_path / "a.csv", ["x", "y", "label"], rows(50))
    assert np.array_equal(datasets.load(name).train, datasets.load(name).train)


def test_the_last_column_is_the_label_when_none_is_named_so(tmp_path):
    name = write_table(tmp_path / "a.csv", ["x", "y", "kind"], rows(20))
    assert datasets.load(name).classes == ("a", "b")


def test_the_label_may_stand_anywhere_and_the_split_be_given(tmp_path):
    lines = [["b", "train", 1.0], ["a", "train", 3.0], ["a", "test", 2.0]]
    loaded = datasets.load(write_table(tmp_path / "a.csv", ["label", "split", "x"], lines))
    assert loaded.train_labels.tolist() == [1, 0]
    assert loaded.train.tolist() == [[-1.0], [1.0]]
    assert loaded.test.tolist() == [[0.0]]


def test_a_constant_column_stays_at_zero(tmp_path):
    lines = [[7, value, "ab"[value % 2]] for value in range(20)]
    loaded = datasets.load(write_table(tmp_path / "a.csv", ["x", "y", "label"], lines))
    assert not loaded.train[:, 0].any()


def test_a_packed_table_is_read_and_a_truncated_one_named(tmp_path):
    name = write_table(tmp_path / "a.csv", ["x", "y", "label"], rows(50))
    packed = gzip.compress((tmp_path / "a.csv").read_bytes())
    (tmp_path / "a.csv.gz").write_bytes(packed)
    assert np.array_equal(datasets.load(f"{name}.gz").train, datasets.load(name).train)
    (tmp_path / "a.csv.gz").write_bytes(packed[:-20])
    with pytest.raises(DataError, match=r"a\.csv\.gz cannot be read"):
        datasets.load(f"{name}.gz")


@pytest.mark.parametrize(
    ("header", "lines", "message"),
    [
        (["x", "label"], [["1", "a"], ["2", ""]], "column 'label' is empty in row 3"),
        (["x", "label"], [["1", "a"], ["2"]], "row 3 has 1 fields, but there are 2 columns"),
        (["x", "split", "label"], [["1", "trian", "a"]], "row 2 has split 'trian'; expected train or test"),
        (["x", "split", "label"], [["1", "train", "a"]], "the test split is empty"),
        (["x", "split", "label"], [["1", "test", "a"]], "the train split is empty"),
        (["label"], [["a"]], "has no column beside 'label'"),
        (["x", "label"], [], "has no rows; expected a header row"),
    ],
)
def test_names_what_is_wrong_with_a_table(tmp_path, header, lines, message):
    name = write_table(tmp_path / "a.csv", header, lines)
    with pytest.raises(DataError) as caught:
        datasets.load(name)
    assert message in str(caught.value)
    assert "a.csv" in str(caught.value)


@pytest.mark.parametrize("name", ["csv:nowhere.csv", "npz:nowhere.npz"])
def test_names_a_file_that_is_not_there(name):
    with pytest.raises(DataError, match=r"nowhere\.\w+ not found"):
        datasets.load(name)


@pytest.mark.skipif(
    "CUSAL_DATA" not in os.environ or not TABULAR.is_dir(),
    reason="CUSAL_DATA names no folder that holds tabular/",
)
def test_a_real_table_loads():
    loaded = datasets.load(f"csv:{TABULAR / 'letter.csv.gz'}")
    assert len(loaded.classes) == 26
    assert len(loaded.train) + len(loaded.test) == 20_000


def test_arrays_with_their_own_split_are_taken_as_they_are(tmp_path):
    train, test = np.arange(12.0).reshape(4, 3), np.ones((2, 3))
    np.savez(tmp_path / "a.npz", train=train, train_labels=[7, 3, 3, 7], test=test, test_labels=[3, 9])
    loaded = datasets.load(f"npz:{tmp_path / 'a.npz'}")
    assert loaded.train.dtype == np.float32
    assert np.array_equal(loaded.train, train)
    assert loaded.classes == ("3", "7", "9")
    assert loaded.train_labels.tolist() == [1, 0, 0, 1]
    assert loaded.test_labels.tolist() == [0, 2]


def test_arrays_without_a_split_are_split_by_class(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.zeros((50, 1, 4, 4), np.uint8), y=np.arange(50) % 5)
    loaded = datasets.load(f"npz:{tmp_path / 'a.npz'}")
    assert loaded.train.shape == (40, 1, 4, 4)
    assert np.bincount(loaded.test_labels).tolist() == [2] * 5


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.zeros((3, 2))}, "expected the arrays train, train_labels, test, test_labels, or X and y"),
        ({"X": np.zeros((3, 2)), "y": np.zeros(2, int)}, r"X has shape (3, 2) and y (2,)"),
        ({"X": np.full((9, 2), np.nan), "y": np.zeros(9, int)}, "not finite"),
        ({"X": np.zeros((9, 2)), "y": np.zeros(9)}, "y holds float64; expected whole numbers or text"),
        ({"X": np.zeros((0, 2)), "y": np.zeros(0, int)}, "X is empty"),
    ],
)
def test_names_what_is_wrong_with_arrays(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError) as caught:
        datasets.load(f"npz:{tmp_path / 'a.npz'}")
    assert message in str(caught.value)


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.95])
def test_names_truncated_arrays(tmp_path, share):
    np.savez_compressed(tmp_path / "a.npz", X=np.random.default_rng(0).normal(size=(99, 5)), y=np.arange(99) % 3)
    raw = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(DataError, match=r"a\.npz is damaged"):
        datasets.load(f"npz:{tmp_path / 'a.npz'}")


def test_a_single_array_is_no_archive(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(DataError, match=r"a\.npy is damaged"):
        datasets.load(f"npz:{tmp_path / 'a.npy'}")


def test_arrays_cannot_run_code(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([{}, {}], dtype=object), y=np.arange(2))
    with pytest.raises(DataError, match=r"a\.npz"):
        datasets.load(f"npz:{tmp_path / 'a.npz'}")


def test_a_path_alone_is_recognised_by_its_suffix(tmp_path):
    named = datasets.load(write_table(tmp_path / "a.csv", ["x", "y", "label"], rows(50)))
    plain = datasets.load(str(tmp_path / "a.csv"))
    assert plain.name == named.name == f"csv:{tmp_path / 'a.csv'}"
    assert np.array_equal(plain.train, named.train)


def test_a_parquet_table_is_the_same_data_set_as_its_csv(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    expected = datasets.load(write_table(tmp_path / "a.csv", ["x", "y", "label"], rows(50)))
    x, y, label = zip(*rows(50), strict=True)
    pq.write_table(pa.table({"x": x, "y": y, "label": label}), tmp_path / "a.parquet")
    loaded = datasets.load(f"parquet:{tmp_path / 'a.parquet'}")
    assert loaded.classes == expected.classes
    assert np.array_equal(loaded.train, expected.train)
    assert np.array_equal(loaded.test_labels, expected.test_labels)


def test_a_null_in_a_parquet_table_is_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"x": [1.0, 2.0], "label": ["a", None]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="column 'label' is empty in row 1"):
        datasets.load(f"parquet:{tmp_path / 'a.parquet'}")


def test_categories_gaps_dates_and_numbers_of_any_country_are_features(tmp_path):
    lines = [
        [
            f"a{row}",
            ["red", "blue", ""][row % 3],
            "" if row % 5 == 0 else f"{row},5",
            f"2024-01-{row % 28 + 1:02}",
            "ab"[row % 2],
        ]
        for row in range(60)
    ]
    loaded = datasets.load(write_table(tmp_path / "a.csv", ["id", "colour", "width", "day", "label"], lines))
    assert loaded.train.shape == (48, 3 + 2 + 1)  # three colours, a width and whether it is there, a day
    assert np.isfinite(loaded.train).all()
    assert loaded.train.dtype == np.float32
    assert loaded.reading == "Read a.csv: the label from label, 3 columns as 6 numbers."


def test_a_text_beside_numbers_and_one_alone_are_found(tmp_path):
    texts = [f"the letter number {row} is about {['bills', 'parcels'][row % 2]}" for row in range(60)]
    lines = [[text, row, "ab"[row % 2]] for row, text in enumerate(texts)]
    beside = datasets.load(write_table(tmp_path / "a.csv", ["review", "pages", "label"], lines))
    assert beside.train.shape[0] == 48
    assert beside.train.shape[1] > 10
    alone = datasets.load(
        write_table(tmp_path / "b.csv", ["review", "label"], [[text, kind] for text, _, kind in lines])
    )
    assert set(alone.train) < set(texts)
    assert alone.reading == "Read b.csv: the label from label, the text from review."


def test_json_lines_are_a_data_set_too(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(f'{{"x": {row}, "label": "{"ab"[row % 2]}"}}\n' for row in range(20)))
    assert datasets.load(str(tmp_path / "a.jsonl")).train.shape == (16, 1)


NEW_FORMAT = """
import numpy as np
from cusal.apps.bench.datasets.dataset import Dataset

SUFFIXES = (".numbers",)


def load(path):
    values = np.loadtxt(path, dtype=np.float32)[:, None]
    labels = (values[:, 0] > 0).astype(np.int64)
    return Dataset(f"numbers:{path}", values, labels, values, labels, classes=("no", "yes"))
"""


def test_a_format_is_added_with_one_file(tmp_path, monkeypatch):
    (tmp_path / "numbers_of_a_test.py").write_text(NEW_FORMAT)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    formats.own_formats.cache_clear()
    try:
        (tmp_path / "a.numbers").write_text("-1 2 3".replace(" ", "\n"))
        assert datasets.load(str(tmp_path / "a.numbers")).train_labels.tolist() == [0, 1, 1]
        with pytest.raises(UnknownName, match="numbers:PATH"):
            datasets.load("something quite different")
    finally:
        formats.own_formats.cache_clear()
        sys.modules.pop("cusal.apps.bench.datasets.formats.numbers_of_a_test", None)


def test_every_damage_of_an_archive_is_named(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).normal(size=(20, 3)), y=np.arange(20) % 3)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    with path.open("r+b", buffering=0) as file:
        for _ in range(2000):
            damaged = bytearray(whole)
            damaged[rng.integers(len(whole))] = rng.integers(256)
            file.seek(0)
            file.truncate(file.write(damaged if rng.random() < 0.8 else whole[: rng.integers(len(whole))]))
            try:
                datasets.load(f"npz:{path}")
            except DataError:
                refused += 1
    assert refused > 1000
