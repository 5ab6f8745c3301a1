"""Label Studio without Label Studio: what its answers mean, and what is done about those that fail.

The server here speaks HTTP and answers as told. `test_label_studio_server.py` talks to the real one.
"""

import json
import re
import socket
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import cusal
from cusal import cli
from cusal.adapters import _label_studio_server as server_calls
from cusal.adapters._label_studio_order import ascending, rank_open_items
from cusal.adapters._label_studio_server import LabelStudioServer
from cusal.adapters._label_studio_tasks import Question, read_question, read_task
from cusal.errors import CusalError, DataError, InvalidInput, ServerAway, ServerError, UnknownName

TOKEN = "0123456789abcdef"
PERSONAL = "eyJhbGciOi.eyJ0b2tlbl90.JU5hLHIlJ2-9X3"
QUESTION = Question("label", "item", "text", "text")
TEXT = {"type": "Text", "valueType": None, "value": "text"}
CHOICES = {"type": "Choices", "to_name": ["item"], "inputs": [TEXT], "labels": ["ham", "spam"]}


@contextmanager
def answering(*answers):
    """Serve (status, body, headers) one after another, the last one again and again; yield address and requests."""
    waiting, requests = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def reply(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            requests.append((self.command, self.path, self.headers.get("Authorization"), body))
            status, content, headers = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            content = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = reply  # noqa: N815 - names of the standard library

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", requests
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(server_calls, "WAITS", (0.0, 0.0))


def run(*arguments, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["cusal", "labelstudio", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


# Calls.


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(status):
    with answering((status, {}, {"Retry-After": "0"}), (200, {"id": 1}, {})) as (url, requests):
        assert LabelStudioServer(url, TOKEN).call("GET", "/api/projects/1/") == {"id": 1}
        assert [made[2] for made in requests] == [f"Token {TOKEN}"] * 2


def test_a_post_that_may_have_been_carried_out_is_not_repeated():
    with answering((500, {}, {}), (200, {}, {})) as (url, requests):
        with pytest.raises(ServerAway, match="answers 500 to POST"):
            LabelStudioServer(url, TOKEN).call("POST", "/api/x", [])
        assert len(requests) == 1


def test_a_server_that_stays_busy_is_away():
    with answering((503, {"detail": "Restarting."}, {})) as (url, requests):
        with pytest.raises(ServerAway, match=r"answers 503 to GET /api/x \(Restarting\)"):
            LabelStudioServer(url, TOKEN).call("GET", "/api/x")
        assert len(requests) == 3


def test_a_personal_token_is_exchanged_and_exchanged_again_when_the_other_expires():
    answers = [{"access": "first"}, {"id": 1}, {"detail": "expired"}, {"access": "second"}, {"id": 2}]
    codes = [200, 200, 401, 200, 200]
    with answering(*[(code, body, {}) for code, body in zip(codes, answers, strict=True)]) as (url, requests):
        server = LabelStudioServer(url, PERSONAL)
        assert server.call("GET", "/api/projects/1/") == {"id": 1}
        assert server.call("GET", "/api/projects/2/") == {"id": 2}
    assert [made[2] for made in requests] == [None, "Bearer first", "Bearer first", None, "Bearer second"]
    assert json.loads(requests[0][3]) == {"refresh": PERSONAL}


def test_a_personal_token_is_of_no_use_where_there_is_no_label_studio():
    with answering((200, {"hello": "world"}, {})) as (url, _), pytest.raises(ServerError, match="is not Label Studio"):
        LabelStudioServer(url, PERSONAL).call("GET", "/api/projects/1/")


def test_a_redirect_is_not_followed_with_a_token():
    with answering((200, {}, {})) as (other, seen):
        with (
            answering((301, b"", {"Location": f"{other}/api/x"})) as (url, _),
            pytest.raises(ServerError, match=f"sends calls to {other}/api/x"),
        ):
            LabelStudioServer(url, TOKEN).call("GET", "/api/x")
        assert seen == []


def test_files_of_other_servers_are_fetched_without_the_token():
    with answering((200, b"theirs", {})) as (other, seen), answering((200, b"ours", {})) as (url, requests):
        server = LabelStudioServer(url, TOKEN)
        assert server.fetch(f"{other}/a b.png") == b"theirs"
        assert server.fetch("/data/upload/1/ä.png") == b"ours"
        assert server.fetch("data:,text") == b"text"
    assert seen[0][1:3] == ("/a%20b.png", None)
    assert requests[0][1:3] == ("/data/upload/1/%C3%A4.png", f"Token {TOKEN}")


def test_a_file_that_redirects_elsewhere_is_fetched_without_the_token():
    with answering((200, b"in a bucket", {})) as (other, seen):
        with answering((302, b"", {"Location": f"{other}/signed"})) as (url, requests):
            assert LabelStudioServer(url, TOKEN).fetch("/tasks/1/resolve/?fileuri=x") == b"in a bucket"
        assert (requests[0][2], seen[0][2]) == (f"Token {TOKEN}", None)


@pytest.mark.parametrize("place", ["file:///etc/hostname", "s3://bucket/a.png", "photo.png", ""])
def test_other_places_are_not_read(place):
    with pytest.raises(DataError, match="expected http, https or a path of the server"):
        LabelStudioServer("http://localhost:1", TOKEN).fetch(place)


def test_a_server_in_a_folder_finds_its_files():
    with answering((200, b"", {})) as (url, requests):
        server = LabelStudioServer(f"{url}/studio/", TOKEN)
        server.fetch("/studio/data/a.png")
        server.fetch("/data/b.png")
    assert [made[1] for made in requests] == ["/studio/data/a.png", "/studio/data/b.png"]


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ключ"])
def test_a_token_that_is_none_is_not_repeated_in_the_error(token):
    with pytest.raises(InvalidInput, match="empty or has spaces") as met:
        LabelStudioServer("http://localhost:1", token)
    assert not token or token not in str(met.value)


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://localhost", "http://", "http://host:port", "file:///x"])
def test_an_address_that_is_none_is_named(url):
    with pytest.raises(InvalidInput, match=re.escape(repr(url))):
        LabelStudioServer(url, TOKEN)


# The command: errors are one line with what to do, and never the token.

CASES = [
    ((401, {"detail": "Invalid token."}, {}), "does not accept the token (Invalid token)"),
    ((404, {"detail": "No Project matches the given query."}, {}), "there is no project 7 at"),
    ((403, {"detail": "Forbidden."}, {}), "answers 403 to GET /api/projects/7/ (Forbidden)"),
    ((503, b"<html>", {}), "answers 503 to GET /api/projects/7/; try again later"),
    ((200, b"<html>", {}), "is not Label Studio"),
    ((200, {"hello": "world"}, {}), "is not Label Studio"),
]


@pytest.mark.parametrize(("answer", "said"), CASES)
def test_a_refusal_is_one_line(answer, said, capsys, monkeypatch):
    with answering(answer) as (url, _):
        code, out, err = run("--project", "7", "--url", url, "--token", TOKEN, capsys=capsys, monkeypatch=monkeypatch)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("cusal: ")
    assert said in err
    assert TOKEN not in err


@pytest.mark.parametrize("options", [(), ("--every", "1")])
def test_a_server_that_is_away_is_one_line(options, capsys, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as bound:
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    monkeypatch.setenv("LABEL_STUDIO_URL", url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    code, _, err = run("--project", "7", *options, capsys=capsys, monkeypatch=monkeypatch)
    assert code == 1
    assert err == f"cusal: Label Studio at {url} does not answer (Connection refused); start it or mend the address.\n"


def test_without_a_token_it_says_where_to_find_one(capsys, monkeypatch):
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    code, _, err = run("--project", "7", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, err) == (
        1,
        "cusal: there is no token for Label Studio; copy one from Account & Settings into LABEL_STUDIO_API_KEY.\n",
    )


def test_a_project_does_not_show_its_token():
    project = cusal.adapters.LabelStudioProject(7, "http://localhost:1", token=TOKEN)
    assert TOKEN not in repr(project) + repr(project.server)
    with pytest.raises(CusalError, match=r"call project.session\(\) first"):
        project.push(cusal.Session(np.eye(3)))


# What a project asks.


def test_the_question_is_read_from_the_configuration():
    config = {"label": CHOICES, "why": {"type": "TextArea", "to_name": ["item"], "inputs": [TEXT]}}
    assert read_question(config) == QUESTION
    image = {**CHOICES, "inputs": [{"type": "Image", "value": "photo"}]}
    assert read_question({"label": image}) == Question("label", "item", "image", "photo")
    assert read_question({"label": CHOICES, "other": image}, "other").kind == "image"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "has no tag <Choices>"),
        ({"a": CHOICES, "b": CHOICES}, r"has 2 tags <Choices> \(a, b\); name one of them by --choices"),
        ({"a": {**CHOICES, "inputs": [{"type": "Audio", "value": "sound"}]}}, "about a tag <Audio>"),
        ({"a": {**CHOICES, "inputs": [{**TEXT, "valueType": "url"}]}}, "about a tag <Text>"),
    ],
)
def test_a_question_that_cannot_be_learned_is_refused(config, said):
    with pytest.raises(InvalidInput, match=said):
        read_question(config)
    with pytest.raises(UnknownName, match="tag <Choices>"):
        read_question(config, "missing")


# What people answered.


def annotation(choice, at=1, **parts):
    chosen = [] if choice is None else [choice]
    result = [{"from_name": "label", "value": {"choices": chosen}}, {"from_name": "why", "value": {"text": ["so"]}}]
    return {"id": at, "result": result, "updated_at": f"2026-01-0{at}T00:00:00Z", **parts}


SPAM = annotation("spam", 1)
ANSWERS = [
    ([], None, False),
    ([SPAM], "spam", False),
    ([SPAM, annotation("ham", 2), annotation("spam", 3)], "spam", False),
    ([SPAM, annotation("ham", 2)], "ham", False),
    ([annotation("ham", 3), SPAM, annotation("spam", 2)], "spam", False),
    ([annotation("ham", 1, ground_truth=True), SPAM, annotation("spam", 2)], "ham", False),
    ([SPAM, annotation("ham", 2, was_cancelled=True)], "spam", False),
    ([annotation("spam", 1, was_cancelled=True)], None, True),
    ([annotation(None)], None, True),
    ([{"id": 1, "result": None}], None, True),
]


@pytest.mark.parametrize(("annotations", "label", "skipped"), ANSWERS)
def test_a_task_has_the_label_of_the_majority_then_of_the_latest(annotations, label, skipped):
    task = read_task({"id": 5, "data": {"text": "hello"}, "annotations": annotations}, QUESTION)
    assert (task.id, task.value, task.label, task.skipped) == (5, "hello", label, skipped)


def test_several_choices_in_one_annotation_are_refused():
    both = {"id": 1, "result": [{"from_name": "label", "value": {"choices": ["ham", "spam"]}}]}
    with pytest.raises(InvalidInput, match=r'task 5 has 2 choices.*set choice="single"'):
        read_task({"id": 5, "data": {}, "annotations": [both]}, QUESTION)


# Scores.


def test_scores_ascend_strictly_and_never_exceed_the_confidence():
    confidence = (0.5 + np.random.default_rng(0).random(1000) / 2).round(2)
    scores = ascending(confidence)
    assert (np.diff(scores) > 0).all()
    assert (scores <= confidence).all()
    assert scores[-1] == confidence[-1]
    assert ascending(np.full(5, 0.5)).round(6).tolist() == [0.5] * 5


def session(labels, strategy="diverse_margin"):
    X = np.random.default_rng(0).normal(size=(60, 3))
    return cusal.Session(X, LogisticRegression(), strategy, labelled=dict(enumerate(labels)))


@pytest.mark.parametrize("strategy", ["diverse_margin", "margin", "badge", "random", "cusal"])
def test_the_lowest_scores_are_what_the_session_asks(strategy):
    asked = session("abab", strategy)
    ranking = rank_open_items(asked, 5)
    assert ranking.indices[:5].tolist() == asked.ask(5).indices.tolist()
    assert sorted(ranking.indices) == asked.pool.open.tolist()
    assert (np.diff(ranking.scores) > 0).all()
    assert ((ranking.scores >= 0) & (ranking.scores <= 1)).all()
    assert ranking.labels.tolist() == asked.predict(asked.items[ranking.indices]).tolist()


@pytest.mark.parametrize("labels", ["", "aa"])
def test_without_two_classes_typical_items_come_first_and_have_no_label(labels):
    asked = session(labels)
    ranking = rank_open_items(asked, 5)
    with pytest.warns(cusal.errors.CusalWarning) if labels else pytest.MonkeyPatch.context():
        assert ranking.indices[:5].tolist() == asked.ask(5).indices.tolist()
    assert sorted(ranking.indices) == asked.pool.open.tolist()
    assert (ranking.labels, ranking.confidence) == (None, None)
    assert (np.diff(ranking.scores) > 0).all()
    assert ranking.scores.max() < 1


def test_one_open_item_is_ranked():
    X = np.random.default_rng(0).normal(size=(5, 2))
    ranking = rank_open_items(cusal.Session(X, LogisticRegression(), labelled=dict(enumerate("abab"))), 10)
    assert ranking.indices.tolist() == [4]
