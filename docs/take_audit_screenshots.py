"""Take the pictures of an audit in docs/images: `cusal label PREDICTIONS --audit`, on desktop and phone.

    CUSAL_DATA=... python docs/take_audit_screenshots.py

A logistic regression that has seen 200 headlines of ag_news labels 3,000 others; a person is played who checks 200 of
them. It needs ag_news, Chromium and the extras label and dev.
"""

import csv
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import httpx
import numpy as np
from playwright.sync_api import sync_playwright
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from take_screenshots import IMAGES, VIEWS, wait

from cusal.apps.bench import datasets

PORT, LEARNED, PREDICTED, CHECKS = 8797, 200, 3000, 200
PAGES = {"audit-check": "/", "audit-progress": "/progress"}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "headlines.csv"
        truth = write_predictions(table)
        options = ["--audit", "--no-browser", "--port", str(PORT)]
        server = subprocess.Popen([str(Path(sys.executable).parent / "cusal"), "label", str(table), *options])
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{PORT}", headers={"X-Cusal": "1"}, timeout=60) as calls:
                check(calls, truth)
            take()
        finally:
            server.terminate()
            server.wait()


def write_predictions(path: Path) -> list[str]:
    """Write the predictions of a weak classifier, and return the true class of each row."""
    data = datasets.load("ag_news")
    rows = np.random.default_rng(0).permutation(len(data.train))[: LEARNED + PREDICTED]
    texts, labels = [str(data.train[row]) for row in rows], data.train_labels[rows]
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, max_iter=300))
    model.fit(texts[:LEARNED], labels[:LEARNED])
    probs = model.predict_proba(texts[LEARNED:])
    names = ["World", "Sports", "Business", "Technology"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "predicted", "confidence"])
        for row, found in enumerate(probs):
            writer.writerow([row, texts[LEARNED + row], names[found.argmax()], round(found.max(), 4)])
    return [names[label] for label in labels[LEARNED:]]


def check(calls: httpx.Client, truth: list[str]) -> None:
    """Answer as a person would who knows."""
    wait(calls, lambda status: status["items"]["finished"])
    classes = {one["name"]: one["id"] for one in calls.get("/api/project").json()["classes"]}
    done = 0
    while done < CHECKS:
        items = calls.get("/api/next", params={"count": 20}).json()["items"]
        answers = [
            {"id": str(uuid.uuid4()), "item": item["id"], "kind": "label", "class": classes[truth[item["id"]]]}
            for item in items
        ]
        calls.post("/api/answers", json={"person": "me", "answers": answers}).raise_for_status()
        done += len(answers)
    wait(calls, lambda status: status["event"] >= done)


def take() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for view in ("desktop", "phone"):
            width, height, scheme = VIEWS[view]
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            for name, path in PAGES.items():
                page = context.new_page()
                page.goto(f"http://127.0.0.1:{PORT}{path}")
                page.wait_for_selector("html[data-ready]")
                page.wait_for_timeout(2500)
                page.screenshot(path=IMAGES / f"{name}-{view}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
