"""Tables in files: which first line names the columns, texts by line, and what is written comes back."""

import gzip

import numpy as np
import pytest

from cusal.errors import DataError
from cusal.tables import read, write


def table(tmp_path, text, name="a.csv", **options):
    path = tmp_path / name
    path.write_text(text)
    return read(path, **options)


@pytest.mark.parametrize(
    "text",
    [
        "1.5,2\n3.5,4\n",  # a number over numbers
        "ham,Go until jurong point\nham,Ok lar\nspam,Free entry\nham,U dun say\n",  # a category over itself
        "7,red\n8,blue\n",
    ],
)
def test_a_first_line_that_is_a_row_is_read_and_said(tmp_path, text):
    found = table(tmp_path, text)
    assert len(list(found.records())) == text.count("\n")
    assert found.columns == ["column 1", "column 2"]
    assert "was read as a row" in found.notes()[0]


@pytest.mark.parametrize(
    "text",
    [
        "0,1,2\n1.5,2,3\n3.5,4,5\n",  # counted columns
        "2019,2020\n1.5,2\n3.5,4\n",
        "spam,text\nspam,Free entry\nspam,Call now\nham,Ok\n",  # a usual name
        "a,b\n1,2\na,b\n3,4\na,b\n5,6\n",  # files put together
        "x,kind\n1,red\n2,blue\n",
        "How did you like it?\nNot at all\nA lot\n",
    ],
)
def test_a_first_line_that_may_name_columns_does(tmp_path, text):
    found = table(tmp_path, text)
    assert ",".join(found.columns) == text.partition("\n")[0]
    assert len(list(found.records())) == text.count("\n") - 1


def test_one_can_say_whether_there_is_a_header(tmp_path):
    found = table(tmp_path, "How did you like it?\nNot at all\n", header=False)
    assert [row["text"] for row in found.records()] == ["How did you like it?", "Not at all"]
    assert table(tmp_path, "1,2\n3,4\n", header=True).columns == ["1", "2"]
    unsure = table(tmp_path, "How did you like it?\nNot at all\n")
    list(unsure.records())
    assert "--no-header" in unsure.notes()[0]


def test_texts_by_line_are_a_table_of_texts(tmp_path):
    found = table(tmp_path, "What a film!\n\n  Too long, by half. \n", "a.txt")
    assert [row["text"] for row in found.records()] == ["What a film!", "Too long, by half."]
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("Größe".encode()))
    assert list(read(tmp_path / "b.txt.gz").records()) == [{"text": "Größe"}]


@pytest.mark.parametrize(("name", "reason"), [("a.xlsx", "save its sheet as CSV"), ("a.docx", "is no table")])
def test_other_files_are_refused_with_what_to_do(tmp_path, name, reason):
    with pytest.raises(DataError, match=reason):
        table(tmp_path, "x", name)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_what_is_written_comes_back(tmp_path, suffix):
    columns = {"id": np.arange(3), "text": ['a, "b"\nc', None, "=1"], "p": [0.5, float("nan"), 1.0]}
    write(tmp_path / f"a.{suffix}", columns)
    rows = list(read(tmp_path / f"a.{suffix}").records())
    assert [str(row["id"]) for row in rows] == ["0", "1", "2"]
    assert [float(row["p"]) if row["p"] not in ("", None) else None for row in rows] == [0.5, None, 1.0]
    assert [row["text"] or None for row in rows] == [columns["text"][0], None, "'=1" if suffix == "csv" else "=1"]
