"""Who is let in, and what a browser may do with the answers."""

import re

import pytest
from PIL import Image

from cusal.apps.label.server.security import HEADERS, MOST_BYTES, Access, WrongTokens, host_name
from cusal.apps.label.store import NewItem

TOKEN = "a" * 43


def answer_body(**changes):
    one = {"id": "aaaaaaaa-1", "item": 0, "kind": "skip"}
    return {"person": "me", "answers": [one | changes]}


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:8765", True),
        ("localhost:8765", True),
        ("LOCALHOST", True),
        ("[::1]:8765", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example:8765", False),
        ("localhost.evil.example", False),
        ("192.168.0.5:8765", False),
        ("", False),
    ],
)
def test_only_local_names_reach_a_local_server(texts, app_of, host, known):
    reply = app_of(texts).get("/api/status", headers={"Host": host})
    assert reply.status_code == (200 if known else 400)
    if not known:
        assert "Host" in reply.json()["error"]


def test_a_server_on_all_addresses_is_called_by_any_address_but_no_foreign_name():
    access = Access(host="0.0.0.0", token=TOKEN)
    assert access.knows("192.168.0.5:8765")
    assert access.knows("[fe80::1]:8765")
    assert not access.knows("evil.example:8765")


def test_a_server_with_a_name_is_called_by_it():
    access = Access(host="lab.example", token=TOKEN)
    assert access.knows("LAB.example:9000")
    assert access.knows("localhost:9000")
    assert not access.knows("192.168.0.5")
    assert host_name("[::1]") == "::1"


def test_every_answer_carries_the_headers_of_safety(texts, app_of):
    client = app_of(texts)
    for path in ("/api/status", "/api/none", "/nothing", "/media/0", "/static/none.js", "/exports/none"):
        reply = client.get(path)
        for name, value in HEADERS.items():
            assert reply.headers[name] == value
    policy = HEADERS["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["answers", "undo", "labels", "classes", "settings", "exports", "release"])
def test_a_change_without_the_header_is_refused(texts, app_of, path):
    client = app_of(texts, headers={})
    for headers in ({}, {"X-Cusal": "0"}):
        reply = client.post(f"/api/{path}", json=answer_body(), headers=headers)
        assert reply.status_code == 403
        assert "X-Cusal" in reply.json()["error"]
    assert texts.events.latest() == app_of(texts).get("/api/status").json()["event"]
    assert texts.answers.progress()["skipped"] == 0


def test_a_form_of_another_site_changes_nothing(texts, app_of):
    reply = app_of(texts, headers={}).post("/api/answers", data={"person": "me"})
    assert reply.status_code == 403


@pytest.mark.parametrize("path", ["/api/next", "/api/status", "/media/0", "/exports/labels.csv"])
def test_another_site_cannot_read_through_the_browser(texts, app_of, path):
    for site in ("cross-site", "same-site"):
        assert app_of(texts).get(path, headers={"Sec-Fetch-Site": site}).status_code == 403
    assert app_of(texts).get(path, headers={"Sec-Fetch-Site": "same-origin"}).status_code in (200, 404)


def test_a_token_is_needed_for_everything(photos, app_of):
    client = app_of(photos, Access(token=TOKEN))
    for path in ("/", "/browse", "/api/status", "/api/project", "/media/0", "/static/label.js", "/exports/x", "/none"):
        assert client.get(path).status_code == 401
    assert client.post("/api/answers", json=answer_body()).status_code == 401
    assert client.get("/api/openapi.json").status_code == 401


def test_the_link_sets_a_cookie_that_scripts_and_other_sites_cannot_use(photos, app_of):
    client = app_of(photos, Access(token=TOKEN, cookie="cusal-8765"))
    reply = client.get(f"/enter?token={TOKEN}")
    assert reply.status_code == 200
    cookie = reply.headers["Set-Cookie"]
    assert cookie.startswith(f"cusal-8765={TOKEN};")
    assert "HttpOnly" in cookie
    assert re.search("SameSite=strict", cookie, re.IGNORECASE)
    assert 'content="0; url=/"' in reply.text
    assert TOKEN not in reply.text
    assert client.get("/api/status").status_code == 200
    assert client.get("/media/0").status_code == 200


def test_twenty_wrong_tokens_are_too_many(photos, app_of):
    access = Access(token=TOKEN, cookie="cusal-8765")
    client = app_of(photos, access)
    codes = [client.get(f"/enter?token=wrong{attempt}").status_code for attempt in range(20)]
    assert codes == [401] * 10 + [429] * 10
    assert client.get(f"/enter?token={TOKEN}").status_code == 429
    assert "Retry-After" in client.get("/enter?token=wrong").headers
    # Whoever is in already works on, from the same address too.
    client.cookies.set("cusal-8765", TOKEN)
    assert client.get("/api/status").status_code == 200


def test_wrong_cookies_count_as_wrong_tokens(photos, app_of):
    client = app_of(photos, Access(token=TOKEN))
    client.cookies.set("cusal", "wrong")
    codes = [client.get("/api/status").status_code for _ in range(20)]
    assert codes == [401] * 10 + [429] * 10


@pytest.mark.parametrize(
    "token", ["", "ä", "%00", "a" * 42, "a" * 44, "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")]
)
def test_a_token_that_is_nearly_right_is_wrong(photos, app_of, token):
    assert app_of(photos, Access(token=TOKEN)).get("/enter", params={"token": token}).status_code == 401


def test_wrong_tokens_are_forgotten_after_a_while():
    wrong = WrongTokens(most=2, seconds=0.0)
    for _ in range(5):
        wrong.add("10.0.0.1")
    assert not wrong.too_many("10.0.0.1")


def test_the_token_is_not_in_the_representation():
    assert TOKEN not in repr(Access(token=TOKEN))


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/%2e%2e/server/app.py",
        "/static/..%2f..%2fserver%2fapp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/exports/..%2fphotos.cusal.db",
        "/exports/../photos.cusal.db",
        "/exports/%2e%2e%2fphotos.cusal.db",
        "/media/..%2f..%2fetc%2fpasswd",
        "/media/0/../../etc/passwd",
        "/media/-1",
        "/media/99999999999999999999",
    ],
)
def test_no_path_leads_out(photos, app_of, path):
    reply = app_of(photos).get(path)
    assert reply.status_code in (400, 404, 422)
    assert "error" in reply.json()


def test_a_link_out_of_the_folder_is_not_followed(photos, app_of, tmp_path):
    Image.new("RGB", (5, 5)).save(tmp_path / "secret.png")
    (tmp_path / "photos" / "link.png").symlink_to(tmp_path / "secret.png")
    photos.items.add([NewItem("link.png"), NewItem("../secret.png"), NewItem(str(tmp_path / "secret.png"))])
    client = app_of(photos)
    for item in (6, 7, 8):
        reply = client.get(f"/media/{item}")
        assert reply.status_code == 409
        assert photos.items.get(item).state == "missing"


def test_an_svg_or_a_page_named_as_an_image_is_not_sent(photos, app_of, tmp_path):
    for name, content in {"x.png": "<svg onload='alert(1)'/>", "y.png": "<script>alert(1)</script>"}.items():
        (tmp_path / "photos" / name).write_text(content)
        photos.items.add([NewItem(name)])
    client = app_of(photos)
    for item in (6, 7):
        reply = client.get(f"/media/{item}")
        assert reply.headers["Content-Type"] == "application/json"
        assert "alert" not in reply.text
        assert photos.items.get(item).state == "broken"


def test_text_is_sent_as_json_and_never_as_a_page(texts, app_of):
    texts.items.add([NewItem("html", "<script>alert(1)</script>", {"<b>": "<img src=x onerror=alert(1)>"})])
    reply = app_of(texts).get("/api/items/40")
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json()["text"] == "<script>alert(1)</script>"


@pytest.mark.parametrize("name", ["Ünï 名 🙂", "a" * 80, "'; DROP TABLE items; --", "<b>bold</b>", "\u202eleft"])
def test_any_readable_name_is_a_name(texts, app_of, name):
    client = app_of(texts)
    assert client.post("/api/answers", json=answer_body() | {"person": name}).json()["outcomes"][0]["stored"]
    assert client.get("/api/history", params={"person": name}).json()["answers"][0]["person"] == name
    added = client.post("/api/classes", json={"id": "aaaaaaaa-2", "action": "add", "name": name})
    assert name in [one["name"] for one in added.json()["classes"]]


@pytest.mark.parametrize("name", ["a\0b", "\0", "", "a\nb", "\x1b[31m", "a" * 81])
def test_a_name_with_control_characters_is_refused(texts, app_of, name):
    client = app_of(texts)
    assert client.post("/api/answers", json=answer_body() | {"person": name}).status_code == 422
    assert client.get("/api/next", params={"person": name}).status_code == 422


def test_half_a_character_is_refused(texts, app_of):
    body = '{"person": "\\ud800", "answers": []}'
    reply = app_of(texts).post("/api/answers", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422


@pytest.mark.parametrize("declared", [True, False])
def test_a_request_that_is_too_large_is_refused(texts, app_of, declared):
    large = b'{"person": "' + b"x" * MOST_BYTES + b'"}'
    content = large if declared else iter([large[:1000], large[1000:]])
    reply = app_of(texts).post("/api/answers", content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code in (400, 413)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b"1e999"])
def test_a_body_that_is_no_json_object_is_refused(texts, app_of, body):
    reply = app_of(texts).post("/api/answers", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code in (400, 422)
    assert list(reply.json()) == ["error"]


def test_unknown_methods_are_refused(texts, app_of):
    client = app_of(texts)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        reply = client.request(method, "/api/exports")
        assert reply.status_code == 405
        assert reply.headers["Allow"] == "GET, POST"
