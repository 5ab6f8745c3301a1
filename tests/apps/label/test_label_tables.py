"""Tables as items: formats, delimiters, encodings, which column is the text, keys and labels."""

import datetime
import gzip
import json
import os
from itertools import islice
from pathlib import Path

import pytest

from cusal.apps.label import Project
from cusal.apps.label.sources import SourceOptions, default_place, open_source, read_in, source_of
from cusal.errors import DataError, InvalidInput, UnknownName

REVIEWS = ["It is a long story.", "Short, but good.", "What a film; I laughed."]


def rows(path, **options):
    return list(open_source(path, SourceOptions(**options)).rows())


def write(path, text, encoding="utf-8"):
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("name", "sign"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.csv", "|"), ("a.tsv", "\t")], ids=str
)
def test_the_delimiter_is_found(tmp_path, name, sign):
    lines = [sign.join(["place", "review"]), *(sign.join([str(i), f'"{text}"']) for i, text in enumerate(REVIEWS))]
    source = open_source(write(tmp_path / name, "\n".join(lines)))
    assert source.kind == "text"
    assert [row.text for row in source.rows()] == REVIEWS
    assert len({row.key for row in source.rows()}) == 3
    assert [row.extra for row in source.rows()] == [{"place": str(i)} for i in range(3)]


def test_a_file_of_one_column_may_hold_any_sign(tmp_path):
    source = open_source(write(tmp_path / "a.csv", "review\n" + "\n".join(REVIEWS)))
    assert [row.text for row in source.rows()] == REVIEWS
    assert [row.extra for row in source.rows()] == [None] * 3


def test_quoted_line_breaks_delimiters_and_empty_lines(tmp_path):
    text = 'id,text\r\nx,"first\nsecond, ""third"""\r\n\r\ny,plain words\r\n'
    first, second = rows(write(tmp_path / "a.csv", text))
    assert (first.key, first.text) == ("x", 'first\nsecond, "third"')
    assert (second.key, second.text) == ("y", "plain words")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_is_found(tmp_path, encoding):
    source = open_source(write(tmp_path / "a.csv", "text,n\nÄpfel und Birnen,1\ncafé au lait,2\n", encoding))
    assert [row.text for row in source.rows()] == ["Äpfel und Birnen", "café au lait"]
    assert bool(source.notes()) == (encoding == "cp1252")


def test_a_table_may_be_compressed(tmp_path):
    for name, text in (("a.csv.gz", "text\nsome words\n"), ("a.jsonl.gz", '{"text": "some words"}\n')):
        with gzip.open(tmp_path / name, "wt") as file:
            file.write(text)
        assert [row.text for row in rows(tmp_path / name)] == ["some words"]
    whole = (tmp_path / "a.csv.gz").read_bytes()
    (tmp_path / "cut.csv.gz").write_bytes(whole[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        open_source(tmp_path / "cut.csv.gz")


def test_json_lines_keep_values_and_pass_over_what_is_no_object(tmp_path):
    lines = [{"text": "some words", "n": 1}, {"text": "other words", "tags": ["a"], "x": float("nan")}]
    path = write(tmp_path / "a.jsonl", "\n".join([json.dumps(lines[0]), "[1]", "", "{broken", json.dumps(lines[1])]))
    source = open_source(path)
    assert [row.extra for row in source.rows()] == [
        {"n": 1, "tags": None, "x": None},
        {"n": None, "tags": ["a"], "x": None},
    ]
    assert source.notes() == ["2 lines are no JSON objects and were left out; the first is line 2."]
    with pytest.raises(DataError, match="no JSON objects"):
        open_source(write(tmp_path / "b.jsonl", "1\n2\n"))


def test_parquet_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    when = datetime.datetime(2026, 1, 2)
    columns = {"text": [f"text no. {i}" for i in range(2_500)], "when": [when] * 2_500, "raw": [b"12"] * 2_500}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", row_group_size=700)
    source = open_source(tmp_path / "a.parquet")
    items = list(source.rows())
    assert [row.text for row in items] == columns["text"]
    assert items[0].extra == {"when": "2026-01-02T00:00:00", "raw": "2 bytes"}
    assert source.share == 1
    write(tmp_path / "b.parquet", "no parquet")
    with pytest.raises(DataError, match="no Parquet file"):
        open_source(tmp_path / "b.parquet")


def test_the_text_is_the_longest_prose_that_differs(tmp_path):
    lines = [
        "uuid,title,body,url,team,when",
        "0f8fad5b-d9cb-469f-a165-70867728950e,A film,What a good long film it is,http://x.org/1,The red team,1",
        "7c9e6679-7425-40de-944b-e07fc1f90ae7,A book,It was far too long for me,http://x.org/2,The red team,2",
        "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed,A song,Never heard it before,http://x.org/3,The red team,3",
    ]
    source = open_source(write(tmp_path / "a.csv", "\n".join(lines)))
    assert source.settings().columns["text"] == "body"
    assert next(source.rows()).key == "0f8fad5b-d9cb-469f-a165-70867728950e"
    named = open_source(tmp_path / "a.csv", SourceOptions(text="title", label="team"))
    assert next(named.rows()).text == "A film"
    assert next(named.rows()).label == "The red team"
    for options, reason in (
        ({"text": "txt"}, "no column \\(--text\\) named 'txt'"),
        ({"text": "body", "label": "body"}, "same column"),
        ({"folders_are_labels": True}, "has no sub-folders"),
    ):
        with pytest.raises((InvalidInput, UnknownName), match=reason):
            open_source(tmp_path / "a.csv", SourceOptions(**options))


def test_words_are_the_text_of_a_table_without_numbers(tmp_path):
    assert [row.text for row in rows(write(tmp_path / "a.csv", "word\nrun\nwalk\n"))] == ["run", "walk"]
    assert [row.text for row in rows(write(tmp_path / "b.csv", "文\n一二三\n四五六\n"))] == ["一二三", "四五六"]


def test_a_table_without_text_is_one_of_features(tmp_path):
    path = write(tmp_path / "a.csv", "id,size,colour,label\n7,1.5,red,a\n8,,blue,b\n9,x,,a\n")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], *(f"{100 + i},{i},red,a" for i in range(1_000)), *lines[2:]]))
    source = open_source(path)
    assert source.kind == "table"
    assert "label" not in next(source.rows()).extra
    assert "Column label: not used and not shown" in source.reading()[1].replace(" 1,002 values,", "")
    source = open_source(path, SourceOptions(label="label"))
    items = list(source.rows())
    assert (items[0].key, items[0].extra, items[0].label) == ("7", {"size": 1.5, "colour": "red"}, "a")
    assert items[1].extra == {"size": 0, "colour": "red"}
    assert [row.extra for row in items[-2:]] == [{"size": None, "colour": "blue"}, {"size": "x", "colour": None}]
    assert source.notes() == []


def test_ids_that_repeat_are_told_apart_or_not_used(tmp_path):
    path = write(
        tmp_path / "a.csv", "id,text\n" + "".join(f"{i},text of {i}\n" for i in range(1_200)) + "5,once more\n"
    )
    source = open_source(path)
    keys = [row.key for row in source.rows()]
    assert keys[:2] == ["0", "1"]
    assert keys[-1] not in keys[:-1]
    assert "go by their content" in source.notes()[0]
    write(path, "id,text\n1,some words\n1,other words\n")
    assert not {"1", "2"} & {row.key for row in rows(path)}


def test_rows_without_text_or_with_too_many_cells_are_said(tmp_path):
    path = write(tmp_path / "a.csv", "text,n\nsome words,1\n,2\nmore words,3,4\nlast words\n")
    source = open_source(path)
    assert [(row.text, row.extra) for row in source.rows()] == [
        ("some words", {"n": "1"}),
        ("more words", {"n": "3"}),
        ("last words", {"n": None}),
    ]
    assert source.notes() == [
        "1 rows have more cells than there are columns, and the rest was left out; the first is row 3.",
        "1 rows have no text and were left out; the first is row 2.",
    ]


def test_characters_that_no_database_takes_are_replaced_and_said(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "one\0 two \ud800"}))
    source = open_source(path)
    assert [row.text for row in source.rows()] == ["one\ufffd two ?"]
    assert "were replaced" in source.notes()[0]


def test_bytes_that_are_no_letters_are_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text\n" + b"some words of a text\n" * 60_000 + b"caf\xe9 au lait\n")
    source = open_source(path, SourceOptions(text="text"))
    assert list(source.rows())[-1].text == "caf\ufffd au lait"
    assert source.notes() == ["1 rows hold bytes that are no letters of the file's encoding; the first is row 60001."]


@pytest.mark.parametrize("text", ["", "\n\n", "text\n", "a,b\n"])
def test_a_table_without_rows_is_refused(tmp_path, text):
    with pytest.raises(DataError, match=r"is empty|has no rows"):
        open_source(write(tmp_path / "a.csv", text))


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(DataError, match="no table that cusal reads"):
        open_source(write(tmp_path / "a.docx", "x"))


def test_rows_are_read_as_they_are_needed(tmp_path):
    path = write(tmp_path / "a.csv", "text\n" + "some words of a text\n" * 200_000)
    source = open_source(path, SourceOptions(text="text"))
    assert len(list(islice(source.rows(), 10))) == 10
    stream = source.rows()
    next(stream)
    assert source.share < 0.1


def test_a_table_is_read_in_and_again_when_it_grows(tmp_path):
    path = write(tmp_path / "films.csv", "text,label\n" + "".join(f"text of {i},{'ab'[i % 2]}\n" for i in range(30)))
    source = open_source(path, SourceOptions(label="label"))
    with Project.create(default_place(path), source.settings()) as project:
        assert read_in(project, source, limit=10).finished is False
        assert project.status.all()["items"]["total"] is not None
        assert read_in(project, source_of(project)).added == 20
        assert project.answers.label_counts() == {0: 15, 1: 15}
        with path.open("a") as file:
            file.write("one more,c\n")
        assert read_in(project, source_of(project)).added == 1
        assert [one.name for one in project.classes.all()] == ["a", "b", "c"]
        project.answers.label_many("away", "me", [0], None)
        events = project.events.latest()
        assert read_in(project, source_of(project)).added == 0
        assert project.events.latest() == events


def test_a_file_of_labels_is_taken_in_with_a_table(tmp_path):
    path = write(tmp_path / "a.csv", "id,text\nx,some words\ny,other words\n")
    labels = write(tmp_path / "labels.csv", "id,label\ny,good\nz,bad\n")
    source = open_source(path, SourceOptions(labels=str(labels)))
    with Project.create(default_place(path), source.settings()) as project:
        read_in(project, source)
        assert project.answers.labels() == {1: 0}
        labels.unlink()
        assert read_in(project, source_of(project)).added == 0


@pytest.fixture
def real_table():
    """Return the path of a real table, or skip."""

    def find(name):
        path = Path(os.environ.get("CUSAL_DATA", ""), name)
        if not path.is_file():
            pytest.skip(f"CUSAL_DATA names no folder that holds {name}")
        return path

    return find


@pytest.mark.parametrize("name", ["banking77", "sms_spam", "clinc150_full", "ag_news_test7600"])
def test_real_texts_are_found(real_table, name):
    source = open_source(real_table(f"text/{name}.csv.gz"), SourceOptions(label="label"))
    assert (source.kind, source.settings().columns["text"]) == ("text", "text")
    assert source.settings().title == name


@pytest.mark.parametrize("name", ["letter", "dna", "vowel", "shuttle", "image_segment", "pendigits"])
def test_real_features_are_found(real_table, name):
    source = open_source(real_table(f"tabular/{name}.csv.gz"), SourceOptions(label="label"))
    assert source.kind == "table"
    first = next(source.rows())
    assert first.label
    assert all(isinstance(value, int | float) for value in first.extra.values())


def test_labels_of_banking77_are_taken_in(real_table, tmp_path):
    source = open_source(real_table("text/banking77.csv.gz"), SourceOptions(label="label"))
    with Project.create(tmp_path / "banking77.cusal.db", source.settings()) as project:
        assert read_in(project, source).added == project.items.count() == 13_083
        assert project.answers.progress()["labelled"] == 13_083
        assert len(project.classes.all()) == 77


def test_numbers_that_are_only_likely_are_said(tmp_path):
    lines = [f"{number},5;{number * 3},25" for number in range(30)]
    source = open_source(write(tmp_path / "a.csv", "\n".join(["width;height", *lines, "wide;9,5"])))
    assert source.kind == "table"
    (note,) = source.notes()
    assert note.startswith("Column width: 30 of 31 values read as numbers with a decimal comma; 30 differ.")
