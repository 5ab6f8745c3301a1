"""Take the pictures of docs/images: the pages of `cusal label`, on desktop, phone and in the dark.

    CUSAL_DATA=... python docs/take_screenshots.py

It labels 2,000 handwritten digits: a person is played who gives 120 of them their true labels. It needs MNIST,
Chromium and the extras label, images, torch and dev.
"""

import io
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from cusal.apps.bench import datasets
from cusal.apps.label.demo import COUNT, write_digits

IMAGES = Path(__file__).parent / "images"
PORT, LABELS = 8798, 120
VIEWS = {"desktop": (1280, 800, "light"), "phone": (390, 844, "light"), "dark": (1280, 800, "dark")}
PAGES = {"label": "/", "progress": "/progress", "browse": "/browse", "classes": "/classes", "export": "/export"}
COLOURS = 256  # of a picture: the files are a third as large, and nobody sees it


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        digits = Path(folder) / "digits"
        write_digits(digits)
        options = ["--classes", ",".join("0123456789"), "--no-browser", "--port", str(PORT)]
        server = subprocess.Popen([str(Path(sys.executable).parent / "cusal"), "label", str(digits), *options])
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{PORT}", headers={"X-Cusal": "1"}, timeout=60) as calls:
                label(calls)
            take()
        finally:
            server.terminate()
            server.wait()


def truth() -> np.ndarray:
    """Return the digit of each image, in the order in which the demo wrote them."""
    data = datasets.load("mnist")
    return data.train_labels[np.random.default_rng(0).permutation(len(data.train_labels))[:COUNT]]


def label(calls: httpx.Client) -> None:
    """Answer as a person would, batch by batch, when the features are there."""
    known = truth()
    wait(calls, lambda status: status["features"] and status["features"]["done"] == COUNT and status["round"])
    classes = {one["name"]: one["id"] for one in calls.get("/api/project").json()["classes"]}
    done = 0
    while done < LABELS:
        items = calls.get("/api/next", params={"count": 10}).json()["items"]
        answers = [
            {"id": str(uuid.uuid4()), "item": item["id"], "kind": "label", "class": classes[str(known[item["id"]])]}
            for item in items
        ]
        calls.post("/api/answers", json={"person": "me", "answers": answers}).raise_for_status()
        done += len(answers)
        wait(calls, lambda status, least=done - 5: status["labels_seen"] >= least)


def wait(calls: httpx.Client, ready: Callable[[Any], Any]) -> None:
    for _ in range(600):
        with suppress(httpx.TransportError):  # the server is not up yet
            if ready(calls.get("/api/status").json()):
                return
        time.sleep(0.5)
    raise SystemExit("the server did not get ready")


def take() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for view, (width, height, scheme) in VIEWS.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            for name, path in PAGES.items():
                page = context.new_page()
                page.goto(f"http://127.0.0.1:{PORT}{path}")
                page.wait_for_selector("html[data-ready]")
                page.wait_for_timeout(1500)
                write(page.screenshot(), IMAGES / f"{name}-{view}.png")
                page.close()
        browser.close()


def write(screenshot: bytes, path: Path) -> None:
    """Write a screenshot with fewer colours."""
    picture = Image.open(io.BytesIO(screenshot)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
