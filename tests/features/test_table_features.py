"""Tables as numbers of one scale."""

import datetime
from unittest import SkipTest

import numpy as np
import pandas
import polars
import pytest
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from cusal.errors import CusalError, CusalWarning
from cusal.features import TableFeatures

COLUMNS = {
    "age": [20.0, 40.0, None, 60.0],
    "town": ["Bern", None, "Rome", "Bern"],
    "member": [True, False, True, True],
    "visits": [1, 2, 3, 4],
}
NAMES = ["age", "age=missing", "town=Bern", "town=Rome", "town=missing", "member", "visits"]


CHECKS = parametrize_with_checks([TableFeatures()])


# Old versions of scikit-learn hand pytest a generator, which it no longer takes.
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_it_is_a_scikit_learn_transformer(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:
        if "SCIPY_ARRAY_API" not in str(reason):  # which the process must set before it starts
            raise


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_frames_of_any_kind_have_the_same_features(frame):
    features = TableFeatures().fit(frame(COLUMNS))
    assert features.get_feature_names_out().tolist() == NAMES
    rows = features.transform(frame(COLUMNS))
    scale = np.std([20, 40, 40, 60])
    np.testing.assert_allclose(rows[:, 0], [-20 / scale, 0, 0, 20 / scale])
    np.testing.assert_array_equal(rows[:, 1:5], [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0]])
    np.testing.assert_allclose(rows[:, 5:].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(rows[:, 5:].std(axis=0), 1)


def test_arrays_and_lists_of_mixed_values_are_tables():
    rows = [list(row) for row in zip(*COLUMNS.values(), strict=True)]
    expected = TableFeatures().fit_transform(pandas.DataFrame(COLUMNS))
    np.testing.assert_allclose(TableFeatures().fit_transform(rows), expected)
    np.testing.assert_allclose(TableFeatures().fit_transform(np.array(rows, dtype=object)), expected)


def test_extension_types_of_pandas_are_taken():
    table = pandas.DataFrame(
        {
            "count": pandas.array([1, None, 3], dtype="Int64"),
            "kind": pandas.Categorical(["a", "b", None]),
            "flag": pandas.array([True, None, False], dtype="boolean"),
            "day": pandas.to_datetime(["2024-01-01", None, "2024-01-03"]),
        }
    )
    rows = TableFeatures().fit(table).transform(table)
    assert np.isfinite(rows).all()
    names = TableFeatures().fit(table).get_feature_names_out().tolist()
    assert [name for name in names if name.endswith("missing")] == [f"{name}=missing" for name in table.columns]


def test_dates_of_polars_are_numbers():
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    rows = TableFeatures().fit_transform(polars.DataFrame({"day": days}))
    np.testing.assert_allclose(rows.ravel(), np.array([-1, 0, 1]) / np.std([-1, 0, 1]))


def test_rare_and_unknown_categories_share_a_column():
    table = pandas.DataFrame({"x": list("aaabbcd")})
    features = TableFeatures(max_categories=3).fit(table)
    assert features.get_feature_names_out().tolist() == ["x=a", "x=b", "x=other"]
    np.testing.assert_array_equal(
        features.transform(pandas.DataFrame({"x": ["a", "c", "new"]})), [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    )


def test_an_unknown_category_is_none_where_all_have_columns():
    features = TableFeatures().fit(pandas.DataFrame({"x": ["a", "b"]}))
    np.testing.assert_array_equal(features.transform(pandas.DataFrame({"x": ["c", None]})), np.zeros((2, 2)))


def test_a_constant_and_an_empty_column_are_zero():
    rows = TableFeatures().fit_transform(np.column_stack([np.full(5, 0.1), np.full(5, np.nan)]))
    np.testing.assert_allclose(rows, [[0, 0, 1]] * 5, atol=1e-9)


def test_a_value_that_is_missing_only_later_is_the_median():
    features = TableFeatures().fit([[1.0], [2.0], [30.0]])
    np.testing.assert_allclose(features.transform([[None]]), features.transform([[2.0]]))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1, 2, 3], "expected 2D"),
        (csr_matrix(np.eye(2)), "sparse"),
        (np.array([[1.0, np.inf]]), "column x1 is infinity in row 0"),
        (np.empty((0, 2)), "0 sample"),
        (polars.DataFrame(), "0 feature"),
    ],
)
def test_what_is_no_table_is_refused(table, message):
    with pytest.raises(CusalError, match=message):
        TableFeatures().fit(table)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_columns_are_found_by_name_and_missing_ones_are_named(frame):
    features = TableFeatures().fit(frame(COLUMNS))
    other = {"more": ["x"] * 4} | {name: COLUMNS[name] for name in ("town", "visits", "member", "age")}
    np.testing.assert_array_equal(features.transform(frame(other)), features.transform(frame(COLUMNS)))
    del other["town"], other["age"]
    with pytest.raises(CusalError, match=r"X has no column age, town, .* it has more, visits, member"):
        features.transform(frame(other))
    with pytest.raises(CusalError, match="column age was numeric"):
        features.transform(frame(COLUMNS | {"age": ["old"] * 4}))


def test_numbers_that_are_only_likely_are_warned_of():
    cells = [f"{number},5" for number in range(30)] + ["wide"]
    with pytest.warns(CusalWarning, match=r"column width: 30 of 31 values read as numbers with a decimal comma"):
        TableFeatures().fit(pandas.DataFrame({"width": cells}))


def test_new_numbers_are_read_as_those_that_it_was_fitted_with():
    features = TableFeatures().fit(pandas.DataFrame({"price": ["1.000,50 €", "2,5 €", "n/a"]}))
    rows = features.transform(pandas.DataFrame({"price": [1000.5, "2,50 €", None]}))
    np.testing.assert_allclose(rows, features.transform(pandas.DataFrame({"price": ["1.000,50 €", "2,5 €", "n/a"]})))


def test_what_was_made_a_category_stays_one():
    frame = pandas.DataFrame({"zone": pandas.Categorical(["1", "2", "1"])})
    assert TableFeatures().fit(frame).get_feature_names_out().tolist() == ["zone=1", "zone=2"]


def test_a_column_of_texts_is_their_words():
    kinds = ["parcel", "invoice", "password"]
    texts = [f"the {kinds[number % 3]} of customer {number} is late" for number in range(60)]
    frame = pandas.DataFrame({"text": texts, "visits": range(60)})
    features = TableFeatures().fit(frame)
    rows = features.transform(frame)
    np.testing.assert_allclose(features.transform(frame[::-1])[::-1], rows, atol=1e-9)
    new = features.transform(pandas.DataFrame({"visits": [3, 3], "text": ["a new parcel came", None]}))
    assert np.isfinite(new).all()
    likest = np.argsort(-rows[:, :-1] @ new[0, :-1])[:20]
    assert {number % 3 for number in likest.tolist()} == {0}


@pytest.mark.parametrize(
    "values",
    [
        [f"customer-{number}" for number in range(30)],  # names of rows
        ["in the north of town", "in the south of town"] * 15,  # few values
        [f"parcel {number} is late" for number in range(10)],  # few rows
    ],
)
def test_other_words_are_categories(values):
    names = TableFeatures().fit(pandas.DataFrame({"text": values})).get_feature_names_out()
    assert set(names) == {f"text={value}" for value in values}
