"""The demo: a folder of digits that is written once, and a project on it."""

import os
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
from PIL import Image

from cusal.apps.label.demo import write_digits


def test_the_digits_of_scikit_learn_serve_where_there_are_no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("CUSAL_DATA", str(tmp_path / "nothing"))
    assert write_digits(tmp_path / "digits") == 1797
    image = Image.open(tmp_path / "digits" / "0000.png")
    assert image.size == (32, 32)
    assert np.asarray(image).max() > 200
    (tmp_path / "digits" / "0000.png").write_bytes(b"changed")
    assert write_digits(tmp_path / "digits") == 1797
    assert (tmp_path / "digits" / "0000.png").read_bytes() == b"changed"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_project_of_the_digits_is_served(tmp_path):
    subprocess.run([sys.executable, "-m", "cusal.apps.label.demo", tmp_path / "digits"], check=True)
    program = "from cusal.cli import main; main()"
    options = ["--classes", "0,1,2,3,4,5,6,7,8,9", "--no-browser", "--port", "0"]
    command = [sys.executable, "-c", program, "label", tmp_path / "digits", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = next(line for line in process.stdout if line.startswith("Label at "))
            assert "digits" in page_at(line.split()[2])
        finally:
            process.send_signal(signal.SIGINT)
            said = process.stdout.read()
    assert "Export: cusal export" in said


def page_at(address, seconds=30):
    """Return a page as soon as its server answers."""
    give_up = time.monotonic() + seconds
    while True:
        try:
            return urllib.request.urlopen(address).read().decode()
        except OSError:
            assert time.monotonic() < give_up
            time.sleep(0.1)
