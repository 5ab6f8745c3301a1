"""Published tables and texts in CSV files, and one's own texts and image folders."""

import os
from pathlib import Path

import numpy as np
import pytest

from cusal.apps.bench import datasets
from cusal.errors import DataError

DATA = Path(os.environ.get("CUSAL_DATA", "") or "nowhere")
TABLES = ["dna", "image_segment", "letter", "pendigits", "shuttle", "vowel"]
TEXTS = ["ag_news", "banking77", "clinc150", "sms_spam"]


def present(name):
    if not next(row.present for row in datasets.describe() if row.name == name):
        pytest.skip(f"CUSAL_DATA names no folder that holds {name}")
    return datasets.load(name)


@pytest.mark.parametrize("name", [*TABLES, *TEXTS])
def test_the_real_data_are_what_their_source_says(name):
    source, loaded = datasets.find_source(name), present(name)
    assert (loaded.name, len(loaded.classes)) == (name, source.classes)
    assert (len(loaded.train), len(loaded.test)) == (source.train, source.test)
    assert loaded.train.shape[1:] == loaded.test.shape[1:] == source.shape
    assert set(loaded.train_labels.tolist()) == set(range(source.classes))


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_kept_as_they_are(name):
    loaded = present(name)
    assert all(isinstance(text, str) and text for text in loaded.train[:100])


def test_a_table_may_be_unpacked_and_the_error_says_how_to_write_one(tmp_path):
    (tmp_path / "tabular").mkdir()
    with pytest.raises(DataError, match=r"vowel\.csv\.gz not found in .*10 numbers and a label"):
        datasets.load("vowel", tmp_path)
    lines = [f"{number},{'ab'[number % 2]}" for number in range(20)]
    (tmp_path / "tabular" / "vowel.csv").write_text("\n".join(["x,label", *lines]))
    assert datasets.load("vowel", tmp_path).train.shape == (16, 1)


def test_a_column_named_text_makes_texts_the_items(tmp_path):
    path = tmp_path / "mails.csv"
    path.write_text("text,age,label\n" + "".join(f'"Hello, {i}",{i},{"ab"[i % 2]}\n' for i in range(20)))
    loaded = datasets.load(str(path))
    assert loaded.train.shape == (16,)
    assert all(text.startswith("Hello, ") for text in loaded.train)


def test_texts_may_come_from_parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": [f"item {i}" for i in range(20)], "label": ["a", "b"] * 10})
    pq.write_table(table, tmp_path / "a.parquet")
    loaded = datasets.load(str(tmp_path / "a.parquet"))
    assert sorted([*loaded.train, *loaded.test]) == sorted(f"item {i}" for i in range(20))


def write_images(folder, counts):
    image = pytest.importorskip("PIL.Image")
    for name, count in counts.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            pixels = np.full((8, 8, 3), 200 if name.endswith("bright") else 20, np.uint8)
            image.fromarray(pixels).save(folder / name / f"{number}.png")


@pytest.mark.parametrize("prefix", ["images:", ""])
def test_a_folder_of_images_is_split_by_class(prefix, tmp_path):
    write_images(tmp_path / "mine", {"bright": 10, "dark": 5})
    loaded = datasets.load(f"{prefix}{tmp_path / 'mine'}")
    assert (len(loaded.train), len(loaded.test), loaded.classes) == (12, 3, ("bright", "dark"))
    assert loaded.train[np.arange(2)].shape == (2, 3, 224, 224)


def test_a_folder_of_images_may_have_a_split_of_its_own(tmp_path):
    write_images(tmp_path, {"train/bright": 3, "train/dark": 2, "test/bright": 1, "test/dark": 1})
    loaded = datasets.load(f"{tmp_path}/")
    assert (loaded.train_labels.tolist(), loaded.test_labels.tolist()) == ([0, 0, 0, 1, 1], [0, 1])


def test_a_folder_without_classes_is_named(tmp_path):
    with pytest.raises(DataError, match="holds 0 folders; expected one for each class"):
        datasets.load(f"images:{tmp_path}")
    with pytest.raises(DataError, match="give the path of a folder"):
        datasets.load("images:nowhere")
    write_images(tmp_path, {"a": 1, "b": 1})
    with pytest.raises(DataError, match="add images"):
        datasets.load(f"images:{tmp_path}")
