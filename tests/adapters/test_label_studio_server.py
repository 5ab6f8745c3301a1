"""`cusal labelstudio` against a real Label Studio server, in an environment of its own: `make test-labelstudio`.

The program is that of `.venv-labelstudio`, of the variable CUSAL_LABEL_STUDIO, or of the path.
"""

import base64
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cusal.adapters import LabelStudioProject
from cusal.errors import ServerError

ROOT = Path(__file__).parents[2]
OWN = ROOT / ".venv-labelstudio" / "bin" / "label-studio"
PROGRAM = os.environ.get("CUSAL_LABEL_STUDIO") or (str(OWN) if OWN.exists() else shutil.which("label-studio"))
TOKEN = "0123456789abcdef0123456789abcdef01234567"
PATIENCE = 1800  # seconds for the first start, in which the database is made: half a minute of processor time

pytestmark = [
    pytest.mark.labelstudio,
    pytest.mark.skipif(PROGRAM is None, reason="Label Studio is not installed: make test-labelstudio"),
]


class Server:
    """A running server, and calls to it that do not go through cusal."""

    def __init__(self, url):
        self.url = url

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers, method=method)) as reply:
            content = reply.read()
        return json.loads(content) if content else None

    def project(self, shown, tasks, classes):
        """Create a project with tasks; return its number and the ids of the tasks."""
        choices = "".join(f'<Choice value="{name}"/>' for name in classes)
        config = f'<View>{shown}<Choices name="label" toName="item">{choices}</Choices></View>'
        number = self.call("POST", "/api/projects/", {"title": "Trial", "label_config": config})["id"]
        self.call("POST", f"/api/projects/{number}/import", tasks)
        found = self.call("GET", f"/api/tasks?project={number}&page_size=1000")["tasks"]
        return number, sorted(task["id"] for task in found)

    def annotate(self, task, choice, **parts):
        result = [{"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [choice]}}]
        return self.call("POST", f"/api/tasks/{task}/annotations/", {"result": result, **parts})["id"]

    def next_task(self, number):
        return self.call("GET", f"/api/projects/{number}/next")["id"]

    def versions(self, number):
        return self.call("GET", f"/api/projects/{number}/model-versions")

    def by_score(self, number):
        """Return the ids of the tasks with a score, as the data manager orders them."""
        query = urllib.request.quote('{"ordering": ["tasks:predictions_score"]}')
        found = self.call("GET", f"/api/tasks?project={number}&page_size=1000&fields=all&query={query}")["tasks"]
        return [task["id"] for task in found if task["predictions_score"] is not None]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("label-studio")
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_USERNAME": "ann@example.org",
        "LABEL_STUDIO_PASSWORD": "a long password",
        "LABEL_STUDIO_USER_TOKEN": TOKEN,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
    }
    environment.pop("PYTHONPATH", None)  # it has an environment of its own
    options = ["--no-browser", "--port", str(port), "--internal-host", "127.0.0.1", "--host", url]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen([PROGRAM, "start", *options], env=environment, stdout=log, stderr=log, cwd=folder)
        try:
            _await(url, process, folder / "log.txt")
            yield Server(url)
        finally:
            process.terminate()
            process.wait(30)


def _await(url, process, log):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/health", timeout=10).close()
        except OSError:
            time.sleep(1)
        else:
            return
    raise AssertionError(f"Label Studio did not start: {log.read_text()[-2000:]}")


@pytest.fixture
def texts(server):
    """A project of 60 texts of two classes; its number, and the class of each task by its id."""
    things, places = ["phone", "prize", "loan", "watch", "trip"], ["home", "school", "work", "lunch", "town"]
    offers = ["Win a {} now, call free", "Cheap {} offer, text stop", "Claim your {} today, urgent"]
    notes = ["See you at {} later", "I am at {}, love you", "Are you coming to {} tonight"]
    spam = [f"{text.format(thing)} {n}" for n in range(2) for text in offers for thing in things]
    ham = [f"{text.format(place)} {n}" for n in range(2) for text in notes for place in places]
    mixed = [text for pair in zip(spam, ham, strict=True) for text in pair]
    shown = '<Text name="item" value="$text"/>'
    number, ids = server.project(shown, [{"text": text} for text in mixed], ["ham", "spam"])
    return number, dict(zip(ids, ["spam", "ham"] * 30, strict=True))


def run(server, number, *options, token=TOKEN):
    """Run `cusal labelstudio`; return the exit code, stdout and stderr."""
    done = subprocess.run(
        command(number, *options), env=environment(server, token), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def command(number, *options):
    program = [sys.executable, "-c", "from cusal.cli import main; main()"]
    return [*program, "labelstudio", "--project", str(number), "--features", "tfidf", *options]


def environment(server, token=TOKEN):
    return {**os.environ, "LABEL_STUDIO_URL": server.url, "LABEL_STUDIO_API_KEY": token}


def opened(server, number):
    return LabelStudioProject(number, server.url, token=TOKEN)


def test_label_studio_serves_what_cusal_asks_and_a_second_pass_replaces_the_first(server, texts):
    number, classes = texts
    labelled = list(classes)[:10]
    for task in labelled:
        server.annotate(task, classes[task])
    code, out, err = run(server, number)
    assert (code, err) == (0, "")
    assert "10 labelled, 50 open" in out
    assert "now 'Uncertainty sampling', no longer 'Sequential sampling'" in out
    project = opened(server, number)
    session = project.session(features="tfidf")
    asked = [project.tasks[place].id for place in session.ask(10).indices]
    assert f"cusal-1: task {asked[0]} is next" in out
    assert server.next_task(number) == asked[0]
    assert server.by_score(number)[:10] == asked
    assert server.versions(number) == {"cusal-1": 50}

    server.annotate(asked[0], classes[asked[0]])
    assert server.next_task(number) == asked[1]
    server.annotate(asked[1], classes[asked[1]])  # what was served to somebody stays the next until it is answered
    code, out, _ = run(server, number)
    assert code == 0
    assert "12 labelled, 48 open" in out
    assert "no longer" not in out
    assert server.versions(number) == {"cusal-2": 48}
    session = project.session(features="tfidf")
    asked = [project.tasks[place].id for place in session.ask(10).indices]
    assert server.next_task(number) == asked[0]
    predictions = server.call("GET", f"/api/tasks/{asked[0]}")["predictions"]
    assert [one["model_version"] for one in predictions] == ["cusal-2"]
    guess = predictions[0]["result"][0]
    assert guess["value"]["choices"][0] in ("ham", "spam")
    assert predictions[0]["score"] <= guess["score"]


def test_the_order_begins_without_labels_and_with_one_class(server, texts):
    number, classes = texts
    for count in (0, 1):
        code, out, err = run(server, number)
        assert (code, err) == (0, "")
        assert "until then typical tasks come first" in out
        first = int(re.search(r"task (\d+) is next", out)[1])
        assert server.next_task(number) == first
        assert server.call("GET", f"/api/tasks/{first}")["predictions"][0]["result"] == []
        assert server.versions(number) == {f"cusal-{count + 1}": 60 - count}
        server.annotate(first, classes[first])


def test_predictions_of_others_stay_and_do_not_disturb_the_order(server, texts):
    number, classes = texts
    for task in list(classes)[:6]:
        server.annotate(task, classes[task])
    rows = [{"task": task, "score": place / 100, "result": []} for place, task in enumerate(classes)]
    server.call("POST", f"/api/projects/{number}/import/predictions", [{**r, "model_version": "theirs"} for r in rows])
    for _ in range(2):
        assert run(server, number)[0] == 0
    assert server.versions(number) == {"theirs": 60, "cusal-2": 54}
    project = opened(server, number)
    session = project.session(features="tfidf")
    assert server.next_task(number) == project.tasks[session.ask(10).indices[0]].id


def test_answers_are_read_as_people_gave_them(server, texts):
    number, classes = texts
    skipped, argued, starred, changed, taken_back = list(classes)[:5]
    server.annotate(skipped, "ham", was_cancelled=True)
    for choice in ("ham", "spam", "spam"):
        server.annotate(argued, choice)
        server.annotate(starred, choice, ground_truth=choice == "ham")
    result = [{"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": ["spam"]}}]
    server.call("PATCH", f"/api/annotations/{server.annotate(changed, 'ham')}/", {"result": result})
    server.call("DELETE", f"/api/annotations/{server.annotate(taken_back, 'ham')}/")
    project = opened(server, number)
    session = project.session(features="tfidf")
    labels = {project.tasks[place].id: label for place, label in session.labels.items()}
    assert labels == {argued: "spam", starred: "ham", changed: "spam"}
    assert [project.tasks[place].id for place in session.pool.skipped] == [skipped]
    assert skipped not in project.push(session).tasks


def test_every_page_of_tasks_is_read(server, texts, monkeypatch):
    number, classes = texts
    monkeypatch.setattr("cusal.adapters._label_studio_pull.PAGE", 7)
    monkeypatch.setattr("cusal.adapters.label_studio.CHUNK", 7)
    project = opened(server, number)
    session = project.session(features="tfidf")
    assert [task.id for task in project.tasks] == list(classes)
    pushed = project.push(session, most=20)
    assert (len(pushed.tasks), server.versions(number)) == (20, {"cusal-1": 20})
    assert len(project.push(session).tasks) == 60
    assert server.versions(number) == {"cusal-2": 60}


def test_a_second_look_finds_what_changed(server, texts, monkeypatch):
    number, classes = texts
    monkeypatch.setattr("cusal.adapters._label_studio_pull.OVERLAP", timedelta(0))
    project, (changed, taken_back, labelled, deleted) = opened(server, number), list(classes)[:4]
    result = [{"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": ["spam"]}}]
    first, second = server.annotate(changed, "ham"), server.annotate(taken_back, "ham")
    assert len(project.session(features="tfidf").labels) == 2
    server.call("PATCH", f"/api/annotations/{first}/", {"result": result})
    server.call("DELETE", f"/api/annotations/{second}/")
    server.annotate(labelled, "ham")
    server.call("POST", f"/api/projects/{number}/import", [{"text": "One more"}])
    session = project.session(features="tfidf")
    labels = {project.tasks[place].id: label for place, label in session.labels.items()}
    assert labels == {changed: "spam", labelled: "ham"}
    assert project.tasks[-1].value == "One more"
    server.call("DELETE", f"/api/tasks/{deleted}/")
    project.session(features="tfidf")
    assert [task.id for task in project.tasks][:3] == [changed, taken_back, labelled]
    assert len(project.tasks) == 60


def test_images_of_the_server_and_of_the_task_itself_are_learned_from(server):
    Image = pytest.importorskip("PIL.Image")
    digits, classes = load_digits(return_X_y=True)
    chosen = np.flatnonzero(classes < 2)[:30]

    def png(row):
        file = io.BytesIO()
        Image.fromarray((digits[row].reshape(8, 8) * 15).astype(np.uint8)).resize((64, 64)).save(file, "PNG")
        return file.getvalue()

    inline = [f"data:image/png;base64,{base64.b64encode(png(row)).decode()}" for row in chosen[1:]]
    shown = '<Image name="item" value="$image"/>'
    number, ids = server.project(shown, [{"image": place} for place in [*inline, "/data/upload/gone.png"]], "01")
    upload(server, number, "zero.png", png(chosen[0]))
    uploaded = max(task["id"] for task in server.call("GET", f"/api/tasks?project={number}&page_size=100")["tasks"])
    for task, row in [(uploaded, chosen[0]), *list(zip(ids, chosen[1:], strict=False))[:9]]:
        server.annotate(task, str(classes[row]))
    project = opened(server, number)
    session = project.session()
    assert list(project.unreadable) == [ids[-1]]
    assert (len(session.labels), len(session.pool.open)) == (10, 20)
    pushed = project.push(session)
    assert server.next_task(number) == pushed.tasks[0] == project.tasks[session.ask(10).indices[0]].id
    truth = dict(zip(ids, classes[chosen[1:]].astype(str), strict=False))
    said = session.predict(session.items[session.pool.open])
    assert np.mean(said == [truth[project.tasks[place].id] for place in session.pool.open]) > 0.9


def upload(server, number, name, content):
    """Upload a file as a browser does."""
    parts = b'--cut\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n' % name.encode()
    body = parts + b"Content-Type: image/png\r\n\r\n" + content + b"\r\n--cut--\r\n"
    headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "multipart/form-data; boundary=cut"}
    where = f"{server.url}/api/projects/{number}/import"
    urllib.request.urlopen(urllib.request.Request(where, body, headers, method="POST")).close()


def test_a_personal_access_token_opens_a_project_and_a_wrong_one_does_not(server, texts):
    number, _ = texts
    personal = server.call("POST", "/api/token/", {})["token"]
    code, out, err = run(server, number, token=personal)
    assert (code, err) == (0, "")
    assert personal not in out
    for wrong in (f"{personal[:-4]}xxxx", "f" * 40):
        code, _, err = run(server, number, token=wrong)
        assert code == 1
        assert re.fullmatch(r"cusal: Label Studio at \S+ does not accept the token .*\n", err)
        assert wrong not in err


def test_a_project_that_is_not_there_is_one_line(server):
    code, _, err = run(server, 99999)
    assert (code, err.count("\n")) == (1, 1)
    assert f"there is no project 99999 at {server.url}" in err
    with pytest.raises(ServerError, match="there is no project 99999"):
        opened(server, 99999).state()


def test_watching_follows_new_labels_until_it_is_stopped(server, texts):
    number, classes = texts
    watching = subprocess.Popen(
        command(number, "--every", "1"), env=environment(server), stdout=subprocess.PIPE, text=True
    )
    try:
        first = int(_read_until(watching, r"cusal-1: task (\d+) is next"))
        server.annotate(first, classes[first])
        assert _read_until(watching, r"(\d+) labelled, 59 open") == "1"
        _read_until(watching, r"(cusal-\d+): task \d+ is next")
    finally:
        watching.send_signal(signal.SIGINT)
        code = watching.wait()
        watching.stdout.close()
    assert code == 0
    # It may have been stopped in another pass, of whose predictions nobody has heard yet.
    assert server.versions(number)[server.call("GET", f"/api/projects/{number}/")["model_version"]] == 59


def _read_until(process, pattern):
    for line in process.stdout:
        if found := re.search(pattern, line):
            return found[1]
    raise AssertionError(f"it ended without {pattern}")


def test_the_example_of_the_page_runs(server, texts, monkeypatch, capsys):
    number, classes = texts
    for task in list(classes)[:6]:
        server.annotate(task, classes[task])
    page = (ROOT / "docs" / "adapters.md").read_text()
    section = page.partition("\n## Label Studio\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    monkeypatch.setenv("LABEL_STUDIO_URL", server.url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    for block in blocks:
        exec(compile(block.replace("LabelStudioProject(7)", f"LabelStudioProject({number})"), "page", "exec"), {})
    assert "cusal-1" in capsys.readouterr().out
