"""The queue never runs dry while there are open items."""

import io

import numpy as np

from cusal.apps.label.server.predictions import Predictions
from cusal.apps.label.server.refill import Refill
from cusal.apps.label.store import Answer, Pick, Round


def predictions(items, margin):
    count, buffer = len(items), io.BytesIO()
    columns = {"items": items, "top": np.zeros(count), "second": np.ones(count), "confidence": margin, "margin": margin}
    np.savez(buffer, **{name: np.asarray(column) for name, column in columns.items()})
    return Predictions(buffer.getvalue())


def ids(picks):
    return [pick.item for pick in picks]


def test_picks_join_at_the_end_and_none_goes(texts):
    texts.queue.put([Pick(3, "pick"), Pick(1, "pick")], round=1)
    texts.answers.store([Answer("answer-1", 7, "me", "skip")])
    texts.items.mark(8, "broken", "damaged")
    added = texts.queue.lengthen([Pick(item, "reserve") for item in (9, 3, 7, 8, 9, 5, 4)], round=1, most=2)
    assert added == 2
    assert ids(texts.queue.next_picks("me", 10)) == [3, 1, 9, 5]


def test_undecided_items_come_first_when_more_is_asked_than_the_worker_chose(texts):
    texts.queue.put([Pick(0, "pick", {"kind": "new"})], round=1)
    known = predictions([2, 4, 6, 8], [0.4, 0.1, 0.3, 0.2])
    picks = Refill(texts).next_picks("me", 4, [], known, 1)
    assert ids(picks) == [0, 4, 8, 6]
    assert picks[1].origin == "reserve"
    assert picks[1].reason == {"kind": "reserve", "classes": [0, 1]}
    assert picks[1].round == 1


def test_items_are_drawn_at_random_where_there_is_no_model(texts):
    texts.queue.put([], round=0)
    refill = Refill(texts)
    first = refill.next_picks("ann", 25, [], Predictions(None), 0)
    second = refill.next_picks("bob", 25, [], Predictions(None), 0)
    assert sorted(ids(first) + ids(second)) == list(range(40))
    assert ids(first) != sorted(ids(first))
    assert {pick.origin for pick in first} == {"random"}


def test_items_outside_the_sample_follow_when_the_model_has_no_more(texts):
    texts.queue.put([], round=1)
    refill = Refill(texts)
    known = predictions([5, 6], [0.2, 0.1])
    assert ids(refill.next_picks("me", 2, [], known, 1)) == [6, 5]
    rest = refill.next_picks("me", 100, [6, 5], known, 1)
    assert sorted(ids(rest)) == sorted(set(range(40)) - {5, 6})


def test_nothing_is_left_when_all_is_answered(texts):
    texts.answers.store([Answer(f"answer-{item}", item, "me", "skip") for item in range(40)])
    refill = Refill(texts)
    for _ in range(3):
        assert refill.next_picks("me", 5, [], Predictions(None), 0) == []


def test_a_call_for_more_than_the_queue_holds_gets_them(texts, app_of):
    texts.queue.put([Pick(0, "pick")], round=1)
    buffer = io.BytesIO()
    columns = {"items": [1, 2], "top": [0, 99], "second": [1, 1], "confidence": [0.6, 0.5], "margin": [0.1, 0.2]}
    np.savez(buffer, **{name: np.asarray(column) for name, column in columns.items()})
    texts.rounds.add(Round(1, 10, {}, buffer.getvalue()))
    items = app_of(texts).get("/api/next?count=3").json()["items"]
    assert [item["id"] for item in items] == [0, 1, 2]
    assert [item["reason"] for item in items[1:]] == ["Between cat and dog", "Next in line while the model learns"]
