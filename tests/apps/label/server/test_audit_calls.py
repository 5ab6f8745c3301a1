"""The calls of an audit: predictions with the items, figures on request, classes that keep their names, images."""

import numpy as np
import pytest

pytest.importorskip("fastapi")

from PIL import Image

from cusal.apps.label.server.refill import LENGTH
from cusal.apps.label.sources import SourceOptions
from cusal.apps.label.start import Options, start_project
from cusal.apps.label.worker.auditing import AuditWorker


def begin(path):
    return start_project(Options(str(path), source=SourceOptions(audit=True))).project


@pytest.fixture
def audit(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"a{row},Some words of row {row}.,{('cat', 'dog')[row % 2]},{rng.uniform(0.5, 1)}" for row in range(900)]
    (tmp_path / "p.csv").write_text("\n".join(["id,text,label,confidence", *lines]))
    with begin(tmp_path / "p.csv") as project:
        yield project


def test_the_project_says_that_it_is_an_audit(audit, app_of):
    found = app_of(audit).get("/api/project").json()
    assert (found["task"], found["wrong"]) == ("verdicts", 2)
    assert [one["name"] for one in found["classes"]] == ["cat", "dog", "(wrong)"]


def test_items_come_with_their_prediction(audit, app_of):
    [item] = app_of(audit).get("/api/next", params={"count": 1, "guess": True}).json()["items"]
    assert item["origin"] == "audit"
    assert item["guess"]["class"] == item["id"] % 2
    assert 0.5 <= item["guess"]["confidence"] <= 1


def test_the_queue_is_lengthened_in_the_order_of_the_audit(audit, app_of):
    client, asked = app_of(audit), []
    while len(asked) < 900:
        items = client.get("/api/next", params={"count": 100, "exclude": ""}).json()["items"]
        answers = [{"id": f"answer-{one['id']:06d}", "item": one["id"], "kind": "label", "class": 0} for one in items]
        client.post("/api/answers", json={"person": "me", "answers": answers}).raise_for_status()
        asked += [one["id"] for one in items]
    found = audit.rounds.predictions()
    assert LENGTH < 900
    assert asked == np.argsort(found.margin).tolist()
    assert client.get("/api/next").json()["items"] == []


def test_the_report_is_what_the_worker_wrote(audit, app_of):
    client = app_of(audit)
    assert client.get("/api/report").json()["report"] is None
    items = client.get("/api/next", params={"count": 20}).json()["items"]
    answers = [{"id": f"answer-{one['id']:06d}", "item": one["id"], "kind": "label", "class": 0} for one in items]
    client.post("/api/answers", json={"person": "me", "answers": answers}).raise_for_status()
    AuditWorker(audit).step()
    found = client.get("/api/report").json()
    assert found["report"]["checks"] == 20
    assert found["curves"][-1]["labels"] == 20
    assert 0 <= found["report"]["anytime"]["low"] < found["report"]["anytime"]["high"] <= 1


def test_predicted_classes_keep_their_names(audit, app_of):
    client = app_of(audit)
    change = {"id": "change-0001", "person": "me", "class": 1}
    for more in ({"action": "delete"}, {"action": "merge", "into": 0}, {"action": "edit", "name": "hound"}):
        found = client.post("/api/classes", json=change | more)
        assert 400 <= found.status_code < 500
        assert "keep their names" in found.json()["error"]
    assert client.post("/api/classes", json=change | {"action": "edit", "key": "d"}).status_code == 200
    added = client.post("/api/classes", json={"id": "change-0002", "action": "add", "name": "bird"}).json()["classes"]
    gone = {"id": "change-0003", "action": "delete", "class": added[-1]["id"]}
    assert client.post("/api/classes", json=gone).status_code == 200


def test_the_pages_of_an_audit_are_drawn(audit, app_of):
    client = app_of(audit)
    for path in ("/", "/progress", "/browse", "/classes", "/export"):
        assert 'data-task="verdicts"' in client.get(path).text
    assert "Is the prediction right?" in client.get("/").text
    assert "labelstudio" not in client.get("/export").text
    assert client.get("/api/browse", params={"order": "confidence"}).json()["total"] == 900


def test_images_are_found_by_their_paths_and_never_outside_the_folder(tmp_path, app_of):
    folder = tmp_path / "data"
    (folder / "photos").mkdir(parents=True)
    for place in (folder / "photos" / "a.png", tmp_path / "secret.png"):
        Image.fromarray(np.zeros((4, 4), np.uint8)).save(place)
    rows = ["id,image,label,score", "1,photos/a.png,cat,0.9", "2,../secret.png,cat,0.8", "3,photos/gone.png,cat,"]
    (folder / "p.csv").write_text("\n".join(rows))
    with begin(folder / "p.csv") as project:
        client = app_of(project)
        assert client.get("/media/0").status_code == 200
        assert client.get("/media/1").status_code == 409
        assert client.get("/media/2").status_code == 409
        items = client.get("/api/next", params={"guess": True}).json()["items"]
        assert [one["id"] for one in items] == [0]
        assert client.get("/api/items/2").json()["prediction"]["confidence"] is None
