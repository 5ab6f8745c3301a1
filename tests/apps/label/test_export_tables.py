"""Tables in files: the three formats hold the same, and nothing is left of one that failed."""

import csv
import json

import numpy as np
import pandas
import pytest

from cusal.errors import CusalError
from cusal.tables import open_writer, plain_cell

SCHEMA = {"item": "integer", "key": "text", "p_=x": "number", "right": "truth", "at": "time"}
FIRST = {
    "item": [0, 1],
    "key": ["=1+1", 'a,"b"\n"c"'],
    "p_=x": np.array([0.25, 1 / 3], dtype=np.float32),
    "right": [True, None],
    "at": [1.7e9, None],
}
SECOND = {"item": np.array([2]), "key": [None], "p_=x": [None], "right": [False], "at": [0.0]}


def written(path):
    with open_writer(path, SCHEMA) as table:
        table.write(FIRST)
        table.write(SECOND)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_csv_escapes_formulas_and_quotes(tmp_path):
    written(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["item", "key", "p_=x", "right", "at"],
        ["0", "'=1+1", "0.25", "true", "2023-11-14T22:13:20Z"],
        ["1", 'a,"b"\n"c"', "0.333333", "", ""],
        ["2", "", "", "false", "1970-01-01T00:00:00Z"],
    ]
    assert plain_cell(rows[1][1]) == "=1+1"


def test_json_lines_hold_plain_values(tmp_path):
    written(tmp_path / "t.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == {"item": 0, "key": "=1+1", "p_=x": 0.25, "right": True, "at": "2023-11-14T22:13:20Z"}
    assert rows[2] == {"item": 2, "key": None, "p_=x": None, "right": False, "at": "1970-01-01T00:00:00Z"}


@pytest.mark.needs("pyarrow")
def test_parquet_has_types(tmp_path):
    written(tmp_path / "t.parquet")
    table = pandas.read_parquet(tmp_path / "t.parquet")
    assert table["key"].tolist()[:2] == ["=1+1", 'a,"b"\n"c"']
    assert table["item"].dtype == np.int64
    assert table["p_=x"].dtype == np.float64
    assert table["at"][0] == pandas.Timestamp("2023-11-14 22:13:20", tz="UTC")
    assert pandas.isna(table["at"][1])


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("at", [1.7e9 - 0.0004, 1.7e9 - 4e-7])  # half a millisecond and half a microsecond before
def test_a_moment_just_before_a_second_is_the_same_in_every_format(at, tmp_path):
    for suffix in ("jsonl", "parquet"):
        with open_writer(tmp_path / f"t.{suffix}", {"at": "time"}) as table:
            table.write({"at": [at]})
    said = json.loads((tmp_path / "t.jsonl").read_text())["at"]
    assert said == "2023-11-14T22:13:19Z"
    assert pandas.read_parquet(tmp_path / "t.parquet")["at"][0].strftime("%Y-%m-%dT%H:%M:%SZ") == said


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_key_that_is_no_unicode_is_written_all_the_same(suffix, tmp_path):
    with open_writer(tmp_path / f"t.{suffix}", {"key": "text"}) as table:
        table.write({"key": ["caf\udce9.png"]})
    assert rb"caf\udce9.png" in (tmp_path / f"t.{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_nothing_is_left_of_a_table_that_failed(suffix, tmp_path):
    path = tmp_path / f"t.{suffix}"
    path.write_text("before")

    def fail():
        with open_writer(path, SCHEMA) as table:
            table.write(FIRST)
            raise KeyError("stopped")

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_suffix_that_is_not_known_is_named(tmp_path):
    with (
        pytest.raises(CusalError, match=r"ends in \.xlsx; expected \.csv, \.jsonl, \.parquet"),
        open_writer(tmp_path / "t.xlsx", SCHEMA),
    ):
        pass
