import hashlib
import os
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from cusal.apps.bench import datasets
from cusal.apps.bench.datasets.download import get_source
from cusal.apps.bench.datasets.formats.idx import STEMS
from cusal.errors import DataError

pytest.importorskip("pooch", reason="downloading needs pooch")

REAL = Path(os.environ.get("CUSAL_DATA", ""), "mnist")
BODY = np.random.default_rng(0).bytes(2_000_000)
SHA256 = f"sha256:{hashlib.sha256(BODY).hexdigest()}"


class Publisher(BaseHTTPRequestHandler):
    """A publisher's server: /whole/ serves ranges, /plain/ does not, /cut/ drops the line half-way."""

    def do_GET(self):
        mode = self.path.split("/")[1]
        asked = self.headers.get("Range")
        self.server.asked.append((mode, asked))
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and mode != "plain" else 0
        if mode == "gone":
            self.send_error(404)
            return
        if asked and start >= len(BODY):
            self.send_error(416)
            return
        body = BODY[start:] if mode != "false" else bytes(len(BODY))
        self.send_response(206 if asked and mode != "plain" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: 1_000_000 if mode == "cut" else None])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Publisher)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def source(server, *modes):
    addresses = tuple(f"http://127.0.0.1:{server.server_port}/{mode}/" for mode in modes)
    known = datasets.find_source("mnist")
    return replace(known, checksums=(("images.gz", SHA256),), addresses=addresses)


def test_downloads_checks_and_shows_progress(server, tmp_path):
    seen = []
    place = get_source("mnist", source(server, "whole"), tmp_path / "mnist", progress=lambda *row: seen.append(row))
    assert place == tmp_path / "mnist"
    assert (place / "images.gz").read_bytes() == BODY
    assert [path.name for path in place.iterdir()] == ["images.gz"]
    assert seen[-1] == ("images.gz", len(BODY), len(BODY))
    assert len(seen) > 3


def test_keeps_a_file_that_is_whole(server, tmp_path):
    for _ in range(2):
        get_source("mnist", source(server, "whole"), tmp_path)
    assert len(server.asked) == 1


def test_replaces_a_file_that_is_damaged(server, tmp_path):
    (tmp_path / "images.gz").write_bytes(BODY[:-1])
    get_source("mnist", source(server, "whole"), tmp_path)
    assert (tmp_path / "images.gz").read_bytes() == BODY


def test_goes_on_where_the_line_was_cut(server, tmp_path):
    with pytest.raises(DataError, match="ended after 1000000 of 2000000 bytes"):
        get_source("mnist", source(server, "cut"), tmp_path)
    assert not (tmp_path / "images.gz").exists()
    get_source("mnist", source(server, "whole"), tmp_path)
    assert (tmp_path / "images.gz").read_bytes() == BODY
    assert server.asked[-1] == ("whole", "bytes=1000000-")


def test_starts_again_where_the_server_gives_no_ranges(server, tmp_path):
    (tmp_path / "images.gz.part").write_bytes(b"x" * 500)
    get_source("mnist", source(server, "plain"), tmp_path)
    assert (tmp_path / "images.gz").read_bytes() == BODY


def test_a_false_beginning_is_dropped(server, tmp_path):
    (tmp_path / "images.gz.part").write_bytes(b"x" * 500)
    get_source("mnist", source(server, "whole", "whole"), tmp_path)
    assert (tmp_path / "images.gz").read_bytes() == BODY


def test_a_beginning_that_is_too_long_is_dropped(server, tmp_path):
    (tmp_path / "images.gz.part").write_bytes(BODY + b"x")
    get_source("mnist", source(server, "whole", "whole"), tmp_path)
    assert (tmp_path / "images.gz").read_bytes() == BODY


def test_tries_every_address(server, tmp_path):
    get_source("mnist", source(server, "gone", "false", "whole"), tmp_path)
    assert (tmp_path / "images.gz").read_bytes() == BODY


def test_a_false_file_is_refused(server, tmp_path):
    with pytest.raises(DataError, match=r"images\.gz could not be downloaded"):
        get_source("mnist", source(server, "false"), tmp_path)
    assert not (tmp_path / "images.gz").exists()


def test_without_network_the_error_names_file_and_folder(server, tmp_path):
    dead = source(server, "whole")
    server.shutdown()
    server.server_close()
    with pytest.raises(DataError) as caught:
        get_source("mnist", dead, tmp_path / "mnist")
    assert "images.gz" in str(caught.value)
    assert str(tmp_path / "mnist") in str(caught.value)


def test_an_unpacked_form_is_not_downloaded_again(server, tmp_path):
    for stem in STEMS:
        (tmp_path / stem).touch()
    get_source("mnist", source(server, "whole"), tmp_path)
    assert not server.asked


def test_a_folder_that_cannot_be_made_is_named(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"cannot make .*file.mnist for mnist"):
        get_source("mnist", source(server, "whole"), tmp_path / "file" / "mnist")


@pytest.mark.skipif(
    "CUSAL_DATA" not in os.environ or not REAL.is_dir(), reason="CUSAL_DATA names no folder that holds mnist/"
)
def test_the_real_files_have_the_checksums_of_the_source(tmp_path):
    class Mirror(SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=REAL)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as mirror:
        threading.Thread(target=mirror.serve_forever).start()
        known = replace(datasets.find_source("mnist"), addresses=(f"http://127.0.0.1:{mirror.server_port}/",))
        get_source("mnist", known, tmp_path / "mnist")
        mirror.shutdown()
    assert datasets.load("mnist", tmp_path).train.shape == (60_000, 1, 28, 28)


@pytest.mark.parametrize(
    ("module", "code", "extra"),
    [
        ("pooch", "import cusal.apps.bench.datasets as d; d.get('mnist', sys.argv[1])", "bench"),
        (
            "PIL",
            "from cusal.apps.bench.datasets.formats import image_folder as f; "
            "f.ImageFolder(('a.png',), (0,) * 3, (1,) * 3)[0]",
            "images",
        ),
    ],
)
def test_names_the_extra_that_is_missing(module, code, extra, tmp_path):
    run = [sys.executable, "-c", f"import sys; sys.modules[{module!r}] = None; {code}", str(tmp_path)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert f"pip install 'cusal[{extra}]'" in done.stderr


def test_nothing_is_downloaded_for_digits(tmp_path):
    assert datasets.get("digits", tmp_path) == tmp_path
