"""Numbers and dates in columns, however they are written: read for certain, or not at all and said where likely."""

import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cusal.tables import Notation, find_numbers

CET = ZoneInfo("Europe/Berlin")
DAY = datetime.date(2024, 3, 1)
NUMBERS = [
    ([3, 1.5, None], [3, 1.5, None]),
    ([Decimal("1.5"), Decimal("2")], [1.5, 2]),
    ([True, False, None], [1, 0, None]),
    (["3", " 1.5", "-2e3", ".5"], [3, 1.5, -2000, 0.5]),
    (["3", "n/a", "", "NaN", "-"], [3, None, None, None, None]),
    ([3.5, "n/a", 2.0, "4"], [3.5, None, 2, 4]),
    (["1,5", "12", "0,125"], [1.5, 12, 0.125]),
    (["1,234,567", "1,234", "12"], [1234567, 1234, 12]),
    (["1,234.5", "1,234"], [1234.5, 1234]),
    (["1.234,5", "1.234"], [1234.5, 1234]),
    (["1.234.567", "1.234"], [1234567, 1234]),
    (["1 234", "12", "1\u202f234,5"], [1234, 12, 1234.5]),
    (["1'234.50", "99"], [1234.5, 99]),
    ([f"{number:,}" for number in (5, 12, *range(1001, 1012))], [5, 12, *range(1001, 1012)]),
    (["$5", "-$1,234.50", "$ 7"], [5, -1234.5, 7]),
    (["5,20 €", "1.000,00 €"], [5.2, 1000]),
    (["5 %", "12.5%"], [5, 12.5]),
    (["\u22125", "4"], [-5, 4]),
]
DATES = [
    [DAY, datetime.date(2024, 3, 3), None],
    [datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 3), None],
    [pandas.Timestamp("2024-03-01", tz="UTC"), pandas.Timestamp("2024-03-03", tz="UTC"), pandas.NaT],
    [datetime.datetime(2024, 3, 1, 1, tzinfo=CET), datetime.datetime(2024, 3, 3, 1, tzinfo=CET), None],
    [np.datetime64("2024-03-01"), np.datetime64("2024-03-03"), np.datetime64("NaT")],
    [pandas.Period("2024-03-01", "D"), pandas.Period("2024-03-03", "D"), pandas.NaT],
    ["2024-03-01", "2024-03-03", "n/a"],
    ["2024-03-01T00:00:00Z", "2024-03-03T01:00:00+01:00", ""],
    ["2024/3/1", "2024/3/3", None],
    ["1.3.2024", "03.03.2024", None],
    ["01/03/2024", "03/03/2024", None, "31/12/2024"],
    ["03/01/2024", "03/03/2024", None, "12/31/2024"],
]
WORDS = [
    ["red", "blue"],
    ["007", "011", "123"],  # codes
    ["1.2.3", "1.2.4"],  # versions
    ["3", "many"],
    ["1,234", "5,678"],  # thousands or three decimals
    ["$5", "€5"],
    ["01/02/2024", "03/04/2024"],  # two orders of day and month
    [DAY, 3],
    [datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 1, tzinfo=CET)],
    ["2024-03-01", "2024-03-01T00:00Z"],  # one of them has a zone
    ["2024-02-30", "2024-02-29"],
    ["10:30", "11:45"],
    ["1-2", "3-4"],
    ["192.168.0.1", "10.0.0.1"],
    [[1], [2]],
    ["e5", "."],
    ["12 34", "56 78"],
]


@pytest.mark.parametrize(("cells", "expected"), NUMBERS)
def test_numbers_are_read_however_they_are_written(cells, expected):
    found = find_numbers("x", cells)
    assert found.remark == ""
    np.testing.assert_allclose(found.notation.values(cells), np.array(expected, dtype=float))
    assert Notation.parse(str(found.notation)) == found.notation


@pytest.mark.parametrize("cells", DATES)
def test_dates_are_days_however_they_are_written(cells):
    found = find_numbers("x", cells)
    assert (found.notation.kind, found.remark) == ("date", "")
    days = found.notation.values(cells)
    assert days[:2].tolist() == [(DAY - datetime.date(1970, 1, 1)).days, (DAY - datetime.date(1970, 1, 1)).days + 2]
    assert np.isnan(days[2])


def test_durations_are_days():
    cells = [datetime.timedelta(hours=12), pandas.Timedelta(days=2), None]
    np.testing.assert_allclose(find_numbers("x", cells).notation.values(cells), [0.5, 2, np.nan])


@pytest.mark.parametrize("cells", WORDS)
def test_what_is_not_certain_is_not_read(cells):
    found = find_numbers("x", cells)
    assert found.notation is None


def test_what_is_likely_is_said_with_figures():
    cells = [f"{number / 10:.1f}".replace(".", ",") for number in range(5_900)] + ["wide"] * 100
    found = find_numbers("Perimeter", cells)
    assert found.notation is None
    assert found.remark.startswith(
        "column Perimeter: 5,900 of 6,000 values read as numbers with a decimal comma; 5,900 differ. Others, such "
        "as 'wide'"
    )


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([f"{number},{number}" for number in range(100, 120)], "as that is not certain"),
        ([f"0{number % 9 + 1}/0{number % 8 + 1}/2024" for number in range(40)], "day and month cannot be told apart"),
        ([str(number) for number in range(30)] + ["thirty"], "30 of 31 values read as numbers"),
        ([f"2024-01-{number:02}" for number in range(1, 29)] + ["soon"], "28 of 29 values read as dates"),
    ],
)
def test_doubts_are_said(cells, words):
    assert words.lower() in find_numbers("x", cells).remark.lower()


@pytest.mark.parametrize(
    "cells", [["1", "2", "3", "A"] * 20, [f"{number:04}" for number in range(50)], ["B12", "C7"] * 20]
)
def test_grades_and_codes_are_categories_without_a_word(cells):
    found = find_numbers("x", cells)
    assert (found.notation, found.remark) == (None, "")


def test_a_value_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match="'old' is none"):
        Notation().values(["3", "old"])


@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=1), st.sampled_from(["{}", "{:.2f}", "{:e}"]))
def test_any_numbers_as_text_are_read_as_python_reads_them(numbers, form):
    cells = [form.format(number) for number in numbers]
    np.testing.assert_array_equal(find_numbers("x", cells).notation.values(cells), [float(cell) for cell in cells])


@given(
    st.lists(st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: f"{number:,.2f}"), min_size=1),
    st.sampled_from([".,", ",.", "| ", "|'"]),
)
def test_thousands_and_decimals_of_any_country_come_back_or_are_not_read(cells, signs):
    decimal, group = (signs[1], signs[0]) if "|" not in signs else (",", signs[1])
    written = [cell.replace(",", "\0").replace(".", decimal).replace("\0", group) for cell in cells]
    found = find_numbers("x", written)
    assert found.notation is not None
    np.testing.assert_allclose(found.notation.values(written), [float(cell.replace(",", "")) for cell in cells])
