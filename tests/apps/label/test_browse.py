"""Browsing: every filter by itself and with others, orders, pages."""

import numpy as np
import pytest
from projects import fill, label, pass_over

from cusal.apps.label import Filter, NewItem, Predictions, Round
from cusal.errors import ProjectError, UnknownName


@pytest.fixture
def browsed(project):
    """Items 0 to 5, the last of them broken, and 6 (cat) and 7 (dog) with labels of the data; predictions of 1 to 4."""
    fill(project)
    project.answers.store([label(0, 1), label(1, 0), label(1, 1, "ann"), pass_over(2), pass_over(3, "unsure", "ann")])
    numbers = np.array([4, 1, 2, 3])
    confidence = np.array([0.4, 0.9, 0.6, 0.5], np.float32)
    made = Predictions(numbers, np.array([1, 0, 0, 1]), np.array([0, 1, 1, 0]), confidence, confidence)
    project.rounds.add(Round(1, 4, {}, made.to_bytes(), b""))
    project.items.mark(5, "broken", "The file is damaged or incomplete.")
    return project


def found(project, after=0, count=50, **conditions):
    rows, total = project.browse.rows(Filter(**conditions), after=after, count=count)
    assert total >= len(rows)
    return [row.item.id for row in rows]


def test_every_item_is_listed_a_page_at_a_time(browsed):
    rows, total = browsed.browse.rows(Filter(), after=6, count=5)
    assert ([row.item.id for row in rows], total) == ([6, 7], 8)
    assert found(browsed, after=2, count=3) == [2, 3, 4]
    assert found(browsed, after=99) == []


def test_a_row_says_what_is_known_of_an_item(browsed):
    row = browsed.browse.rows(Filter(), after=1, count=1)[0][0]
    assert (row.item.key, row.item.text, row.label, row.prediction) == ("row 1", "text 1", 1, 0)
    assert (row.confidence, row.people, row.disagree) == (pytest.approx(0.9), ("me", "ann"), True)
    row = browsed.browse.rows(Filter(), after=5, count=1)[0][0]
    assert (row.label, row.prediction, row.confidence, row.people, row.disagree) == (None, None, None, (), False)
    assert (row.kind, row.item.note) == (None, "The file is damaged or incomplete.")
    assert [row.kind for row in browsed.browse.rows(Filter(), count=4)[0]] == ["label", "label", "skip", "unsure"]


@pytest.mark.parametrize(
    ("conditions", "items"),
    [
        ({"label": 1}, [0, 1, 7]),
        ({"label": 5}, []),
        ({"labelled": True}, [0, 1, 6, 7]),
        ({"labelled": False}, [2, 3, 4, 5]),
        ({"disagree": True}, [1]),
        ({"disagree": False}, [0, 2, 3, 4, 5, 6, 7]),
        ({"person": "ann"}, [1, 3]),
        ({"person": "nobody"}, []),
        ({"kind": "unsure"}, [3]),
        ({"kind": "skip", "person": "ann"}, []),
        ({"aside": True}, [5]),
        ({"aside": True, "labelled": True}, []),
        ({"aside": False, "label": 1}, [0, 1, 7]),
        ({"aside": False, "labelled": False}, [2, 3, 4]),
        ({"text": "5"}, [5]),
        ({"text": "TEXT row"}, [0, 1, 2, 3, 4, 5]),
        ({"text": "%"}, []),
        ({"text": "\0"}, []),
        ({"text": "\udc80"}, []),
        ({"text": "text", "labelled": True}, [0, 1]),
        ({"text": "row", "labelled": False, "person": "ann"}, [3]),
        ({"label": 1, "disagree": False}, [0, 7]),
        ({"label": 1, "labelled": False}, []),
        ({"label": 1, "text": "dog"}, [7]),
        ({"label": 1, "prediction": 0}, [1]),
        ({"prediction": 0}, [1, 2]),
        ({"prediction": 0, "labelled": False}, [2]),
        ({"confidence_low": 0.5}, [1, 2, 3]),
        ({"confidence_low": 0.45, "confidence_high": 0.7}, [2, 3]),
        ({"order": "confidence"}, [4, 3, 2, 1]),
        ({"order": "confidence", "labelled": False, "text": "text"}, [4, 3, 2]),
        ({"order": "recent", "person": "me"}, [1, 0]),
        ({"order": "disagree"}, [1, 0, 6, 7]),
        ({"order": "disagree", "prediction": 0}, [1]),
    ],
    ids=str,
)
def test_a_filter_finds_what_meets_it(browsed, conditions, items):
    assert found(browsed, **conditions) == items
    assert browsed.browse.rows(Filter(**conditions))[1] == len(items)
    assert found(browsed, after=1, count=2, **conditions) == items[1:3]


def test_letters_that_mean_something_to_the_database_are_found_as_they_are(project):
    project.items.add([NewItem("a", "100 % sure"), NewItem("b", "a_b\\c"), NewItem("c", "axb")])
    assert found(project, text="%") == [0]
    assert found(project, text="a_b") == [1]
    assert found(project, text="b\\c") == [1]


def test_the_number_of_many_is_estimated(project):
    project.items.add(NewItem(str(i), "even" if i % 2 == 0 else "odd") for i in range(9_000))
    rows, total = project.browse.rows(Filter(text="even"), count=10)
    assert len(rows) == 10
    assert total == pytest.approx(4_500, rel=0.01)
    assert project.browse.rows(Filter(text="even"), after=4_495, count=10)[1] == 4_500


def test_there_is_nothing_by_prediction_before_the_first_round(project):
    fill(project)
    assert found(project, prediction=0) == []
    assert project.rounds.predictions() is None


def test_predictions_are_those_of_the_last_round(browsed):
    assert browsed.rounds.predictions().items.tolist() == [1, 2, 3, 4]
    one = Predictions(*(np.array([value]) for value in (5, 1, 0, 0.5, 0.1)))
    browsed.rounds.add(Round(2, 4, {}, one.to_bytes()))
    assert browsed.rounds.predictions().items.tolist() == [5]
    browsed.rounds.add(Round(3, 4, {}))
    assert browsed.rounds.predictions().items.tolist() == [5]
    assert browsed.rounds.predictions() is browsed.rounds.predictions()
    browsed.rounds.add(Round(4, 4, {}, b"nonsense"))
    with pytest.raises(ProjectError, match="what the last round predicted is damaged"):
        browsed.rounds.predictions()


def test_an_order_that_is_none_is_named(project):
    with pytest.raises(UnknownName, match="order of items"):
        project.browse.rows(Filter(order="recnt"))
