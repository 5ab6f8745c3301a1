"""Pools in tables: CSV and JSON lines, classes by name, lists as BigQuery exports them, and every form of output."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pools import make_pool

import cusal
from cusal.errors import DataError, InvalidInput
from cusal.scale import PoolColumns
from cusal.scale.formats import _records, delimited
from cusal.scale.parts import IDS, Column
from cusal.scale.pool_files import cut_into_chunks, iterate_tiles, open_pool

NAMES = ("cat", "dog", "emu", "fox")
POOL, COUNT = make_pool(dtype="float64"), 25


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    return cusal.query(POOL.probs, POOL.reference, POOL.labels, batch_size=COUNT, strategy="cusal").indices


def lines(probs: np.ndarray, labels: np.ndarray | None = None) -> list[dict[str, object]]:
    """Return a row for each item, classes by name, with an id and perhaps a label of text."""
    rows: list[dict[str, object]] = []
    for number, row in enumerate(probs.tolist()):
        rows.append({"file": f'a, "b"\n{number}', **dict(zip(NAMES, row, strict=True))})
        if labels is not None:
            rows[-1]["truth"] = NAMES[labels[number]]
    return rows


def as_csv(path: Path, rows: list[dict[str, object]], delimiter: str = ",") -> Path:
    opening = gzip.open if path.suffix == ".gz" else open
    with opening(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_json(path: Path, rows: list[dict[str, object]]) -> Path:
    opening = gzip.open if path.suffix == ".gz" else open
    with opening(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def read_all(path: Path, column: Column = IDS) -> None:
    for chunk in cut_into_chunks(open_pool(path, column)):
        list(iterate_tiles(chunk))


def picked(pool: Path, labelled: Path, columns: PoolColumns | None = None) -> cusal.scale.Picks:
    return cusal.score_files(
        pool, labelled, batch_size=COUNT, out=pool.with_name("picks.csv"), columns=columns, strategy="cusal"
    )


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "jsonl", "jsonl.gz", "parquet"])
def test_classes_by_name_give_the_picks_of_the_arrays(
    tmp_path: Path, suffix: str, expected: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_records, "NUMBERS", 400)  # seven units of a hundred rows
    monkeypatch.setattr(_records, "BLOCK", 1000)
    rows, known = lines(POOL.probs), lines(POOL.reference, POOL.labels)
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "pool.parquet")
        pq.write_table(pa.Table.from_pylist(known), tmp_path / "known.parquet")
    else:
        write = as_json if "json" in suffix else as_csv
        more = {"delimiter": "\t"} if suffix == "tsv" else {}
        write(tmp_path / f"pool.{suffix}", rows, **more)  # type: ignore[arg-type]
        write(tmp_path / f"known.{suffix}", known, **more)  # type: ignore[arg-type]
        assert len(open_pool(tmp_path / f"pool.{suffix}", IDS._replace(probs=NAMES))[0].units) == 7
    columns = PoolColumns(NAMES, id="file", label="truth")
    picks = picked(tmp_path / f"pool.{suffix}", tmp_path / f"known.{suffix}", columns)
    np.testing.assert_array_equal(picks.indices, expected)
    assert picks.ids.tolist() == [rows[i]["file"] for i in expected]


def wrapped(values: list[object]) -> dict[str, object]:
    return {"list": [{"element": value} for value in values]}


def bigquery(probs: np.ndarray, labels: np.ndarray | None = None, *, wrap: bool) -> list[dict[str, object]]:
    """Return rows as BigQuery exports predictions: classes with their probabilities, the most probable first."""
    rows: list[dict[str, object]] = []
    for number, row in enumerate(probs):
        order = np.argsort(-row, kind="stable")
        held: list[object] = [{"label": NAMES[k], "prob": float(row[k])} for k in order]
        rows.append({"id": number, "predicted_kind_probs": wrapped(held) if wrap else held})
        if labels is not None:
            rows[-1]["label"] = NAMES[labels[number]]
    return rows


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_lists_of_structs_are_put_into_the_columns_of_their_classes(
    tmp_path: Path, suffix: str, wrap: bool, expected: np.ndarray
) -> None:
    pool, known = tmp_path / f"pool.{suffix}", tmp_path / f"known.{suffix}"
    for path, rows in (
        (pool, bigquery(POOL.probs, wrap=wrap)),
        (known, bigquery(POOL.reference, POOL.labels, wrap=wrap)),
    ):
        if suffix == "jsonl":
            as_json(path, rows)
        else:
            pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=150)
    picks = picked(pool, known)
    np.testing.assert_array_equal(picks.indices, expected)
    assert picks.ids.tolist() == [str(i) for i in expected]


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_lists_of_numbers_may_be_wrapped(tmp_path: Path, suffix: str, wrap: bool, expected: np.ndarray) -> None:
    held = [wrapped(row) if wrap else row for row in POOL.probs.tolist()]
    rows = [{"scores": value} for value in held]
    pool = tmp_path / f"pool.{suffix}"
    if suffix == "jsonl":
        as_json(pool, rows)
    else:
        pq.write_table(pa.Table.from_pylist(rows), pool)
    np.savez(tmp_path / "known.npz", probs=POOL.reference, labels=POOL.labels)
    np.testing.assert_array_equal(picked(pool, tmp_path / "known.npz", PoolColumns(["scores"])).indices, expected)


def test_an_object_of_classes_is_a_list_too(tmp_path: Path, expected: np.ndarray) -> None:
    rows = [{"probs": dict(zip(NAMES, row, strict=True))} for row in POOL.probs.tolist()]
    known = [
        {"probs": dict(zip(NAMES, row, strict=True)), "label": NAMES[label]}
        for row, label in zip(POOL.reference.tolist(), POOL.labels, strict=True)
    ]
    picks = picked(as_json(tmp_path / "pool.jsonl", rows), as_json(tmp_path / "known.jsonl", known))
    np.testing.assert_array_equal(picks.indices, expected)


def test_names_given_for_arrays_say_what_text_labels_are(tmp_path: Path, expected: np.ndarray) -> None:
    np.save(tmp_path / "pool.npy", POOL.probs)
    np.savez(tmp_path / "known.npz", probs=POOL.reference, labels=np.array(NAMES)[POOL.labels])
    picks = picked(tmp_path / "pool.npy", tmp_path / "known.npz", PoolColumns(NAMES))
    np.testing.assert_array_equal(picks.indices, expected)
    with pytest.raises(DataError, match=r"known.npz: the label of row 0 is '\w+', but the classes have no names"):
        picked(tmp_path / "pool.npy", tmp_path / "known.npz")


def test_numbers_as_labels_of_a_csv_are_class_numbers(tmp_path: Path, expected: np.ndarray) -> None:
    for name, probs in (("pool", POOL.probs), ("known", POOL.reference)):
        rows = [{f"p{k}": value for k, value in enumerate(row)} for row in probs.tolist()]
        if name == "known":
            rows = [row | {"label": int(label)} for row, label in zip(rows, POOL.labels, strict=True)]
        as_csv(tmp_path / f"{name}.csv", rows)  # type: ignore[arg-type]
    picks = picked(tmp_path / "pool.csv", tmp_path / "known.csv")
    np.testing.assert_array_equal(picks.indices, expected)
    assert picks.ids.tolist() == [str(i) for i in expected]


def test_tables_of_text_beside_other_parts_are_no_parts(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", POOL.probs)
    (tmp_path / "notes.csv").write_text("note\nhello\n")
    assert [part.path.name for part in open_pool(tmp_path)] == ["a.npy"]
    (tmp_path / "a.npy").unlink()
    with pytest.raises(DataError, match=r"notes.csv has neither a list column probs nor columns p0"):
        open_pool(tmp_path)


def test_the_file_of_picks_is_written_by_its_suffix(tmp_path: Path) -> None:
    np.save(tmp_path / "pool.npy", POOL.probs)
    np.savez(tmp_path / "known.npz", probs=POOL.reference, labels=POOL.labels)
    for strategy in ("cusal", "margin"):
        known = tmp_path / "known.npz" if strategy == "cusal" else None
        found = {}
        for suffix in ("csv", "jsonl", "parquet", "npy"):
            out = tmp_path / f"{strategy}.{suffix}"
            picks = cusal.score_files(tmp_path / "pool.npy", known, batch_size=9, out=out, strategy=strategy)
            found[suffix] = out
        rows = [json.loads(line) for line in found["jsonl"].read_text().splitlines()]
        assert rows == pq.read_table(found["parquet"]).to_pylist()
        with found["csv"].open(newline="") as file:
            texts = [{name: "" if v is None else str(v) for name, v in row.items()} for row in rows]
            assert list(csv.DictReader(file)) == texts
        np.testing.assert_array_equal(np.load(found["npy"]), picks.indices)
        assert [row["id"] for row in rows] == picks.ids.tolist()
        assert (rows[0]["error"] is None) == (strategy == "margin")
    with pytest.raises(InvalidInput, match=r"picks.txt ends in .txt; expected a name that ends in .csv"):
        cusal.score_files(tmp_path / "pool.npy", batch_size=9, out=tmp_path / "picks.txt", strategy="margin")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cat,dog\n.5,.5\n.4,none\n", r"dog: row 1 is 'none'; expected a number"),
        ("cat,dog\n.5,.5\n.4\n", r"dog: row 1 has no such cell"),
        ("cat,dog\n.5,.5\n.4,.9\n", r"probs: row 1 "),
        ("cat,bird\n.5,.5\n", r"has no column dog; it has cat, bird"),
        ('cat,dog,id\n.5,.5,a\n.4,.6,5" disk\n.4,.6,b\n', r"a quote stands in a cell that is not quoted"),
        ("", "is empty"),
        ("cat,dog\n.5,\r.5\n", "line 2: new-line character seen in unquoted field|row 0 is"),
    ],
)
def test_a_csv_that_is_not_whole_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "pool.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        read_all(tmp_path / "pool.csv", IDS._replace(probs=("cat", "dog")))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"probs": [0.5, 0.5]}\n{"probs": [0.5]}\n', "row 1 has 1 numbers, expected 2"),
        ('{"probs": [0.5, 0.5]}\n{"probs": [0.5, "x"]}\n', "row 1 has 'x' for a class"),
        ('{"probs": [0.5, 0.5]}\n{"probs"\n', "row 1 is no JSON"),
        ('{"probs": [0.5, 0.5]}\n[1]\n', "row 1 is a list; expected an object"),
        ('{"probs": {"a": 0.5, "b": 0.5}}\n{"probs": {"a": 1}}\n', "row 1 has None for a class"),
        ('{"probs": [0.5, 0.5], "id": 1}\n{"probs": [0.5, 0.5]}\n', "id: row 1 is None"),
        ("\n\n", "has no rows"),
    ],
)
def test_json_lines_that_are_not_whole_are_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "pool.jsonl").write_text(text)
    with pytest.raises(DataError, match=words):
        read_all(tmp_path / "pool.jsonl")


def test_structs_without_a_class_are_named(tmp_path: Path) -> None:
    rows = bigquery(POOL.probs[:3], wrap=False)
    rows[2]["predicted_kind_probs"][0]["label"] = "yak"  # type: ignore[index]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "pool.parquet")
    with pytest.raises(DataError, match=r"row 2 \(row group 0\) has no number for the class"):
        read_all(tmp_path / "pool.parquet")


def test_classes_in_another_order_are_refused(tmp_path: Path) -> None:
    one = as_json(tmp_path / "pool.jsonl", [{"probs": {"a": 0.5, "b": 0.5}}])
    two = as_json(tmp_path / "known.jsonl", [{"probs": {"a": 0.5, "c": 0.5}, "label": "a"}])
    with pytest.raises(DataError, match=r"has the classes a, c, but .* has a, b"):
        cusal.score_files(one, two, batch_size=1, out=tmp_path / "picks.csv", strategy="cusal")
    with pytest.raises(InvalidInput, match="'a' is named twice"):
        PoolColumns(("a", "b", "a"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    texts=st.lists(st.text(st.sampled_from('ab,"\n\r ;é'), min_size=1, max_size=8), min_size=1, max_size=40),
    block=st.integers(1, 60),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_every_row_of_any_csv_is_found_in_its_unit(
    tmp_path: Path, texts: list[str], block: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pool.csv"
    texts = [f"x{text}x" for text in texts]  # cells are stripped
    if end == "\n":  # Python's writer quotes only the breaks that it writes itself
        texts = [text.replace("\r", "") for text in texts]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator=end)
        writer.writerow(["id", "p0", "p1"])
        writer.writerows([text, 0.25, 0.75] for text in texts)
    with monkeypatch.context() as patch:
        patch.setattr(_records, "BLOCK", block)
        patch.setattr(_records, "NUMBERS", 6)  # three rows in a unit
        (part,) = open_pool(path)
    assert part.rows == len(texts)
    found = [
        text
        for chunk in cut_into_chunks([part], 5)
        for tile in delimited.read(chunk)
        for text in tile.beside.tolist()  # type: ignore[union-attr]
    ]
    assert found == texts
