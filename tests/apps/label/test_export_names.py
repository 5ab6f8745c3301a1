"""Names that every file system accepts, and cells that no spreadsheet computes."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cusal.apps.label.export.formats.imagefolder import MOST_BYTES, UniqueNames, safe_name
from cusal.tables import plain_cell, safe_cell


def is_number(text):
    try:
        return text.isascii() and text.strip() == text and float(text) is not None
    except ValueError:
        return False


@given(st.text())
@example("-0")
@example("+1e5")
@example("-1+1")
@example("\t=x")
def test_every_text_comes_back_from_its_cell(text):
    assert plain_cell(safe_cell(text)) == text
    assert not safe_cell(text).startswith(("=", "+", "-", "@", "\t", "\r")) or is_number(text)


@pytest.mark.parametrize("text", ["-0", "-0.0", "+5", "-.5", "-1e-3"])
def test_a_signed_number_is_no_formula_and_stays_as_it_is(text):
    assert safe_cell(text) == text


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_cells_come_back_through_a_file(texts):
    file = io.StringIO(newline="")
    csv.writer(file).writerow([safe_cell(text) for text in texts])
    file.seek(0)
    assert [plain_cell(cell) for cell in next(csv.reader(file))] == texts or texts == [""]


@pytest.mark.parametrize("name", ["../x", "..", ".", "", "CON", "con.png", "a/b", "a\\b", "x" * 300, "é" * 300, "🐈‍⬛"])
def test_hard_names_can_be_folders(name, tmp_path):
    (tmp_path / safe_name(name)).mkdir()
    assert [path.parent for path in tmp_path.iterdir()] == [tmp_path]


@given(st.text())
def test_any_text_is_a_name_inside_its_folder(text):
    name = safe_name(text)
    assert name not in ("", ".", "..")
    assert not set(name) & set('/\\<>:"|?*\0')
    assert len(name.encode()) <= MOST_BYTES + 1


@given(st.lists(st.text(max_size=3), max_size=20))
def test_no_name_is_taken_twice(texts):
    names = UniqueNames()
    taken = [names.take(text).casefold() for text in texts]
    assert len(set(taken)) == len(taken)
