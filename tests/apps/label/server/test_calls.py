"""The JSON calls: what each takes, answers and changes."""

import io
import time

import numpy as np
import pytest

from cusal.apps.label.store import NewItem, Pick, Round


def answers(*given, person="me"):
    """Return the body of a call with answers (item, class id or kind), each with an id of its own."""
    list_ = [
        {"id": f"{person}-answer-{number}-{item}", "item": item}
        | ({"kind": what} if isinstance(what, str) else {"kind": "label", "class": what})
        for number, (item, what) in enumerate(given)
    ]
    return {"person": person, "answers": list_}


def npz(items, top, confidence):
    buffer = io.BytesIO()
    count = len(items)
    np.savez(
        buffer,
        items=np.asarray(items, np.int64),
        top=np.asarray(top, np.int32),
        second=np.zeros(count, np.int32),
        confidence=np.asarray(confidence, np.float32),
        margin=np.asarray(confidence, np.float32),
    )
    return buffer.getvalue()


def test_the_project_is_all_that_a_page_needs(texts, app_of):
    reply = app_of(texts).get("/api/project").json()
    assert reply["title"] == "Texts"
    assert reply["kind"] == "text"
    assert (reply["task"], reply["wrong"]) == ("classes", None)
    assert reply["items"] == 40
    assert [(one["id"], one["name"], one["labels"]) for one in reply["classes"]] == [
        (0, "cat", 0),
        (1, "dog", 0),
        (2, "bird", 0),
    ]
    assert all(one["colour"].startswith("#") for one in reply["classes"])
    assert reply["progress"]["labelled"] == 0
    assert reply["settings"] == {"batch": 10, "budget": None, "overlap": 1}
    assert reply["status"]["worker"]["state"] == "starting"


def test_a_project_is_known_by_an_id_that_stays(texts, app_of):
    first, second = (app_of(texts).get("/api/project").json()["id"] for _ in range(2))
    assert first == second
    assert len(first) >= 8


def test_next_gives_items_in_the_order_of_the_queue_and_to_one_person(texts, app_of):
    client = app_of(texts)
    first = client.get("/api/next", params={"person": "ann", "count": 5}).json()["items"]
    assert [item["id"] for item in first] == [0, 1, 2, 3, 4]
    assert first[0] | {"round": 0} == {
        "id": 0,
        "key": "0",
        "kind": "text",
        "text": "text number 0",
        "image": None,
        "extra": {"row": 0},
        "state": "ok",
        "note": None,
        "origin": "random",
        "round": 0,
        "reason": "Random check",
        "guess": None,
    }
    second = client.get("/api/next", params={"person": "bob", "count": 5}).json()["items"]
    assert [item["id"] for item in second] == [5, 6, 7, 8, 9]
    more = client.get("/api/next", params={"person": "ann", "count": 5, "exclude": "0,1,2,3,4"}).json()["items"]
    assert [item["id"] for item in more] == [10, 11, 12, 13, 14]


def test_an_image_item_says_where_its_image_is(photos, app_of):
    item = app_of(photos).get("/api/next?count=1").json()["items"][0]
    assert item["image"] == "/media/0"
    assert item["text"] is None


def test_the_guess_is_shown_on_request_alone(texts, app_of):
    texts.rounds.add(Round(1, 10, {}, npz([0, 1], [2, 99], [0.75, 0.5])))
    client = app_of(texts)
    assert client.get("/api/next?count=1").json()["items"][0]["guess"] is None
    items = client.get("/api/next?count=2&guess=1").json()["items"]
    assert items[0]["guess"] == {"class": 2, "confidence": 0.75}
    assert items[1]["guess"] is None  # of a class that is gone


def test_reasons_are_told_with_the_names_of_the_classes(texts, app_of):
    texts.queue.put(
        [
            Pick(7, "pick", {"kind": "between", "classes": [0, 1]}),
            Pick(8, "pick", {"kind": "between", "classes": [0, 99]}),
            Pick(9, "pick", {"kind": "new"}),
            Pick(10, "cold", {"kind": "typical"}),
            Pick(11, "reserve", {"kind": "reserve"}),
            Pick(12, "pick", {"kind": "something new"}),
        ],
        round=3,
    )
    items = app_of(texts).get("/api/next?count=6").json()["items"]
    assert [item["reason"] for item in items] == [
        "Between cat and dog",
        "The model cannot decide between two classes",
        "Nothing like it labelled yet",
        "Typical of many items",
        "Next in line while the model learns",
        None,
    ]
    assert items[0]["round"] == 3


def test_answers_are_stored_in_order_and_once(texts, app_of):
    client = app_of(texts)
    body = answers((0, 1), (1, "skip"), (2, "unsure"), (3, 2))
    for _ in range(3):
        reply = client.post("/api/answers", json=body).json()
        assert [one["stored"] for one in reply["outcomes"]] == [True] * 4
        assert [one["id"] for one in reply["outcomes"]] == [one["id"] for one in body["answers"]]
    assert reply["progress"]["labelled"] == 2
    assert reply["progress"]["skipped"] == 1
    assert reply["progress"]["unsure"] == 1
    assert texts.answers.labels() == {0: 1, 3: 2}
    history = client.get("/api/history").json()["answers"]
    assert [(one["item"], one["kind"], one["class"]) for one in history] == [
        (3, "label", 2),
        (2, "unsure", None),
        (1, "skip", None),
        (0, "label", 1),
    ]


def test_an_answer_that_cannot_be_stored_says_why_and_keeps_no_other_back(texts, app_of):
    reply = app_of(texts).post("/api/answers", json=answers((99, 1), (0, 77), (1, 1))).json()
    assert [one["stored"] for one in reply["outcomes"]] == [False, False, True]
    assert all(one["reason"] for one in reply["outcomes"][:2])
    assert texts.answers.labels() == {1: 1}


def test_a_label_needs_a_class(texts, app_of):
    body = {"answers": [{"id": "answer-without-class", "item": 0, "kind": "label"}]}
    outcome = app_of(texts).post("/api/answers", json=body).json()["outcomes"][0]
    assert not outcome["stored"]
    assert outcome["reason"]


def test_undo_takes_back_step_by_step_and_once_for_each_id(texts, app_of):
    client = app_of(texts)
    client.post("/api/answers", json=answers((0, 1), (1, 2)))
    for _ in range(2):
        reply = client.post("/api/undo", json={"id": "undo-0001"}).json()
        assert [item["id"] for item in reply["undone"]["items"]] == [1]
        assert texts.answers.labels() == {0: 1}
    client.post("/api/undo", json={"id": "undo-0002"})
    assert texts.answers.labels() == {}
    assert client.post("/api/undo", json={"id": "undo-0003", "person": "nobody"}).json()["undone"] is None


def test_an_item_tells_all_that_is_known(texts, app_of):
    client = app_of(texts)
    client.post("/api/answers", json=answers((4, 1), person="ann"))
    client.post("/api/answers", json=answers((4, 2), person="bob"))
    texts.rounds.add(Round(1, 10, {}, npz([4], [0], [0.5])))
    reply = client.get("/api/items/4").json()
    assert reply["label"] == 2
    assert reply["prediction"] == {"class": 0, "confidence": 0.5}
    assert [(one["person"], one["class"]) for one in reply["answers"]] == [("ann", 1), ("bob", 2)]
    assert reply["reason"] == "Random check"
    assert client.get("/api/items/40").status_code == 404
    assert "40" in client.get("/api/items/40").json()["error"]


def test_classes_are_added_edited_merged_ordered_and_deleted(texts, app_of):
    client = app_of(texts)

    def change(number, **call):
        reply = client.post("/api/classes", json={"id": f"change-{number}", **call})
        assert reply.status_code == 200, reply.text
        return {one["id"]: one for one in reply.json()["classes"]}

    client.post("/api/answers", json=answers((0, 0), (1, 1), (2, 2)))
    assert change(1, action="add", name="fish", key="f", colour="#112233", description="wet")[3]["name"] == "fish"
    now = change(2, action="edit", **{"class": 3}, name="fishes")
    assert (now[3]["name"], now[3]["key"], now[3]["description"]) == ("fishes", "f", "wet")
    assert change(3, action="edit", **{"class": 3}, key="")[3]["key"] is None
    assert list(change(4, action="reorder", order=[3, 2, 1, 0])) == [3, 2, 1, 0]
    now = change(5, action="merge", **{"class": 0}, into=1)
    assert list(now) == [3, 2, 1]
    assert now[1]["labels"] == 2
    assert list(change(6, action="delete", **{"class": 2}, labels_to=None)) == [3, 1]
    assert texts.answers.labels() == {0: 1, 1: 1}
    client.post("/api/undo", json={"id": "undo-0001"})
    assert texts.answers.labels() == {0: 1, 1: 1, 2: 2}


def test_a_change_of_classes_that_makes_no_sense_is_refused(texts, app_of):
    client = app_of(texts)
    for number, call in enumerate(
        [
            {"action": "add"},
            {"action": "add", "name": "cat"},
            {"action": "edit", "class": 99, "name": "x"},
            {"action": "edit", "name": "x"},
            {"action": "merge", "class": 0, "into": 0},
            {"action": "merge", "class": 0},
            {"action": "reorder", "order": [0]},
            {"action": "reorder"},
            {"action": "delete", "class": 99},
            {"action": "delete"},
        ]
    ):
        reply = client.post("/api/classes", json={"id": f"change-{number}", **call})
        assert reply.status_code in (404, 409, 422), (call, reply.text)
        assert reply.json()["error"]
    assert [one.name for one in texts.classes.all()] == ["cat", "dog", "bird"]


def test_many_labels_are_one_step(texts, app_of):
    client = app_of(texts)
    body = {"id": "labels-0001", "items": [1, 2, 3], "class": 1}
    assert client.post("/api/labels", json=body).json()["progress"]["labelled"] == 3
    assert client.post("/api/labels", json=body).json()["progress"]["labelled"] == 3
    client.post("/api/labels", json={"id": "labels-0002", "items": [1], "class": None})
    assert texts.answers.labels() == {2: 1, 3: 1}
    client.post("/api/undo", json={"id": "undo-0001"})
    client.post("/api/undo", json={"id": "undo-0002"})
    assert texts.answers.labels() == {}
    assert client.post("/api/labels", json={"id": "labels-0003", "items": [1]}).status_code == 422


def test_settings_change_and_a_budget_of_null_is_none(texts, app_of):
    client = app_of(texts)
    assert client.post("/api/settings", json={"budget": 300, "batch": 20}).json() == {
        "batch": 20,
        "budget": 300,
        "overlap": 1,
    }
    assert client.get("/api/project").json()["progress"]["budget"] == 300
    assert client.post("/api/settings", json={"budget": None}).json()["budget"] is None
    assert client.post("/api/settings", json={"batch": None}).json()["batch"] == 20
    assert client.post("/api/settings", json={"title": "Better"}).status_code == 200
    assert client.get("/api/project").json()["title"] == "Better"
    assert client.post("/api/settings", json={"seed": 3}).status_code == 422


def test_browse_filters_and_pages(texts, app_of):
    client = app_of(texts)
    client.post("/api/answers", json=answers((0, 1), (1, 2), (2, "unsure"), person="ann"))
    client.post("/api/answers", json=answers((0, 2), person="bob"))
    texts.rounds.add(Round(1, 10, {}, npz(range(40), [row % 3 for row in range(40)], np.linspace(0.3, 0.9, 40))))

    def ids(**query):
        return [row["id"] for row in client.get("/api/browse", params=query).json()["rows"]]

    assert ids(count=3) == [0, 1, 2]
    page = client.get("/api/browse", params={"count": 15}).json()
    assert page["total"] == 40
    assert ids(count=15, after=page["next"]) == list(range(15, 30))
    assert ids(label=2) == [0, 1]
    assert ids(person="bob") == [0]
    assert ids(kind="unsure") == [2]
    assert ids(disagree=True) == [0]
    assert ids(labelled=True) == [0, 1]
    assert ids(text="number 33") == [33]
    assert ids(prediction=1) == list(range(1, 40, 3))
    assert ids(low=0.85) == [36, 37, 38, 39]
    assert ids(prediction=0, high=0.35, order="confidence") == [0, 3]
    assert ids(order="confidence", count=2) == [0, 1]
    row = client.get("/api/browse", params={"count": 1}).json()["rows"][0]
    assert row["prediction"] == 0
    assert row["confidence"] == pytest.approx(0.3)
    assert sorted(row["people"]) == ["ann", "bob"]
    assert row["disagree"]


def test_the_last_page_has_no_next(texts, app_of):
    client = app_of(texts)
    after, seen = 0, []
    while after is not None:
        page = client.get("/api/browse", params={"count": 16, "after": after}).json()
        seen += [row["id"] for row in page["rows"]]
        after = page["next"]
    assert seen == list(range(40))


def test_guesses_are_open_items_of_one_class_surest_first(texts, app_of):
    client = app_of(texts)
    assert client.get("/api/guesses").json() == {"class": None, "items": []}
    texts.rounds.add(Round(1, 10, {}, npz(range(6), [0, 0, 1, 1, 1, 2], [0.9, 0.7, 0.8, 0.95, 0.6, 0.99])))
    client.post("/api/answers", json=answers((5, 2)))
    reply = client.get("/api/guesses?count=2").json()
    assert reply["class"] == 1
    assert [item["id"] for item in reply["items"]] == [3, 2]
    assert reply["items"][0]["guess"] == {"class": 1, "confidence": pytest.approx(0.95)}
    assert [item["id"] for item in client.get("/api/guesses?class=0").json()["items"]] == [0, 1]
    assert client.get("/api/guesses?class=2").json()["items"] == []


def test_the_report_has_curves_over_all_rounds(texts, app_of):
    client = app_of(texts)
    empty = client.get("/api/report").json()
    assert empty["report"] is None
    assert empty["curves"] == []
    for number in (1, 2):
        report = {
            "round": number,
            "labels": 10 * number,
            "accuracy": {"estimate": 0.5 + number / 10, "low": 0.4, "high": 0.9},
            "calibration": {"ece_after": {"value": float("nan"), "low": 0.0, "high": 0.1}},
            "stopping": None,
        }
        texts.rounds.add(Round(number, 10 * number, report))
    reply = app_of(texts).get("/api/report").json()
    assert reply["report"]["labels"] == 20
    assert [(point["labels"], point["accuracy"]) for point in reply["curves"]] == [(10, 0.6), (20, 0.7)]
    assert reply["report"]["calibration"]["ece_after"]["value"] is None
    assert reply["status"]["round"] == 2
    assert reply["status"]["labels_seen"] == 20


def test_the_status_says_what_the_worker_says(texts, app_of):
    client = app_of(texts)
    texts.status.set("worker", {"pid": 1, "state": "learning", "message": "", "beat": time.time()})
    texts.status.set("features", {"name": "MiniLM", "done": 10, "total": 40})
    texts.status.set("items", {"done": 40, "total": 40, "finished": True})
    assert client.get("/api/status").json() | {"event": 0} == {
        "worker": {"state": "learning", "message": None},
        "features": {"name": "MiniLM", "done": 10, "total": 40},
        "items": {"done": 40, "total": 40, "finished": True},
        "round": 0,
        "labels_seen": 0,
        "queue": 1,
        "event": 0,
    }


def test_released_items_go_to_the_next_who_asks(texts, app_of):
    client = app_of(texts)
    client.get("/api/next", params={"person": "ann", "count": 5})
    assert client.post("/api/release", json={"person": "ann", "items": [0, 1]}).status_code == 200
    items = client.get("/api/next", params={"person": "bob", "count": 3}).json()["items"]
    assert [item["id"] for item in items] == [0, 1, 5]


def test_an_image_is_sent_once_and_then_only_its_tag(photos, app_of):
    client = app_of(photos)
    first = client.get("/media/5?side=200")
    assert first.headers["Content-Type"] == "image/png"
    again = client.get("/media/5?side=200", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert again.content == b""
    assert client.get("/media/5?side=300").status_code == 422
    assert client.get("/media/6").status_code == 404


def test_a_missing_image_is_said_and_set_aside(photos, app_of, tmp_path):
    (tmp_path / "photos" / "b.png").unlink()
    client = app_of(photos)
    assert "b.png" in client.get("/media/1").json()["error"]
    assert photos.items.get(1).state == "missing"
    assert 1 not in [item["id"] for item in client.get("/api/next?count=10").json()["items"]]


def test_a_column_that_is_not_a_number_is_null(texts, app_of):
    texts.items.add([NewItem("odd", "text", {"price": float("nan"), "most": float("inf")})])
    assert app_of(texts).get("/api/items/40").json()["extra"] == {"price": None, "most": None}


def test_a_text_has_no_image(texts, app_of):
    assert app_of(texts).get("/media/0").status_code == 404


def test_pages_and_their_files_are_there(texts, app_of):
    client = app_of(texts)
    for path in ("/", "/progress", "/browse", "/classes", "/export"):
        reply = client.get(path)
        assert reply.headers["Content-Type"].startswith("text/html")
        assert "Texts" in reply.text
    assert client.get("/none").json() == {"error": "There is no such page."}


def test_the_calls_are_described(texts, app_of):
    description = app_of(texts).get("/api/openapi.json").json()
    assert {"/api/next", "/api/answers", "/media/{id}", "/exports/{name}"} <= set(description["paths"])
    assert "/docs" not in description["paths"]
    assert app_of(texts).get("/docs").status_code == 404
