"""`cusal label` as a person uses it: a real browser, a real worker, and labels at a person's pace.

    CUSAL_DATA=... python benchmarks/label_browser.py digits --pace 60 --seeds 0,1,2
    CUSAL_DATA=... python benchmarks/label_browser.py questions --pace 30
    CUSAL_DATA=... python benchmarks/label_browser.py many --fresh       20,000 images whose vectors are not known yet

Chromium opens the page of a new project; the person answers the item on the screen, PACE times a minute, and is always
right. What is measured:

accuracy    of a `Session` on the first n labels, on the items without one of them; beside it that of a plain session
            that is asked for ten at a time, each batch answered before the next, and that of items in random order
lag         of each answer: its number minus how many labels the model knew that chose it, by the round that the page
            had when the item was shown; those of a plain session lie between 1 and 10
first       the number of the first answer that a model chose, and the seconds until it was on the screen

Random checks are those of the defaults, one item in ten, in the app and in the plain session. The results of one case,
pace and seed replace the earlier ones of the same.
"""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, sync_playwright

import cusal
from cusal.apps.bench import datasets
from cusal.apps.label import Project
from cusal.features import image_vectors, sentence_vectors
from cusal.features.images import as_pixels, pixel_range

RESULTS = Path(__file__).parent / "results" / "label_browser.json"
POINTS = (60, 100, 150, 200)
BATCH, AUDIT, RANDOM_ORDERS = 10, 0.1, 5
IMAGES = {"digits": 3_000, "many": 20_000}

# Notes, for each item, the round that the page was told last, as the page reads it.
NOTE_ROUNDS = """
const plain = window.fetch;
window.notedRounds = {};
window.fetch = async (...call) => {
  const reply = await plain(...call);
  if (String(call[0]?.url ?? call[0]).includes("/api/next")) {
    const { items } = await reply.clone().json();
    for (const { id, round, origin } of items ?? []) window.notedRounds[id] = [round ?? 0, origin];
  }
  return reply;
};
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=("digits", "many", "questions"))
    parser.add_argument("--pace", type=float, default=60.0, help="labels a minute")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--labels", type=int, default=POINTS[-1])
    parser.add_argument("--fresh", action="store_true", help="with an empty cache of vectors")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, keys, labels = write_items(options.case, Path(folder))
        for seed in map(int, options.seeds.split(",")):
            store = Path(folder) / f"{seed}.cusal.db"
            environment = os.environ | ({"CUSAL_CACHE": f"{folder}/cache-{seed}"} if options.fresh else {})
            if not options.fresh:
                vectors_of(options.case, data)  # keeps them
            found = work(data, store, dict(zip(keys, labels, strict=True)), options, seed, environment)
            row = {"case": options.case, "pace": options.pace, "fresh": options.fresh, "seed": seed, **found}
            row |= {"load": round(os.getloadavg()[0], 1)}
            asked = row.pop("asked")
            print(json.dumps(row), flush=True)
            row["accuracy"] = accuracies(vectors_of(options.case, data), np.array(labels), keys, asked, seed)
            print(json.dumps(row["accuracy"]), flush=True)
            keep(options.out, row)


def keep(out: Path, row: dict[str, Any]) -> None:
    rows = json.loads(out.read_text())["results"] if out.exists() else []
    same = ("case", "pace", "fresh", "seed")
    rows = [one for one in rows if [one[name] for name in same] != [row[name] for name in same]]
    rows = sorted([*rows, row], key=lambda one: [str(one[name]) for name in same])
    settings = {"batch": BATCH, "audit": AUDIT, "items": IMAGES, "cores": os.cpu_count()}
    out.write_text(json.dumps({"settings": settings, "results": rows}, indent=1) + "\n")


def write_items(case: str, folder: Path) -> tuple[Path, list[str], list[str]]:
    """Write what a person would have; return it, the items as the page names them, and the true labels."""
    if case == "questions":
        data = datasets.load("banking77")
        labels = [data.classes[y] for y in (*data.train_labels, *data.test_labels)]
        texts = [str(text) for part in (data.train, data.test) for text in part]
        with (folder / "questions.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["id", "text"], *([f"q{row}", text] for row, text in enumerate(texts))])
        return folder / "questions.csv", [f"q{row}" for row in range(len(texts))], labels
    data = datasets.load("mnist")
    part, numbers = (data.train, data.train_labels) if case == "many" else (data.test, data.test_labels)
    items = np.asarray(part[: IMAGES[case]])
    (folder / "digits").mkdir()
    keys = [f"{row:05d}.png" for row in range(len(items))]
    for key, pixels in zip(keys, as_pixels(items, *pixel_range(items))[:, 0].round().astype(np.uint8), strict=True):
        Image.fromarray(pixels).save(folder / "digits" / key)
    return folder / "digits", keys, [str(y) for y in numbers[: len(items)]]


def vectors_of(case: str, data: Path) -> NDArray[Any]:
    if case != "questions":
        return image_vectors(sorted(data.glob("*.png")))
    with data.open(encoding="utf-8") as file:
        return sentence_vectors([row["text"] for row in csv.DictReader(file)])


def work(
    data: Path, store: Path, truth: dict[str, str], options: argparse.Namespace, seed: int, environment: dict[str, str]
) -> dict[str, Any]:
    """Label in the browser; return what was asked in its order, the lags, the first active item, the random share."""
    classes = sorted(set(truth.values()))
    answers: list[tuple[str, int, str, float]] = []  # key, round, origin, seconds since the command
    began = time.monotonic()
    command = ["label", str(data), "--classes", ",".join(classes), "--seed", str(seed), "--store", str(store)]
    with served(command, environment) as url, chromium() as page:
        page.goto(url)
        page.wait_for_selector("#item[data-item]")
        buttons = {name: f"class-{number}" for number, name in enumerate(classes)}
        keys = {name: page.locator(f"#{button} kbd").text_content() for name, button in buttons.items()}
        start = time.monotonic()
        while len(answers) < options.labels:
            page.wait_for_timeout(max(1, 1000 * (start + (len(answers) + 1) * 60 / options.pace - time.monotonic())))
            item = page.locator("#item").get_attribute("data-item")
            key = page.locator("#key").text_content()
            noted = page.evaluate(f"window.notedRounds[{item}]")
            if len(classes) <= 10:
                page.keyboard.press(keys[truth[key]])
            else:
                page.evaluate(f"document.getElementById('{buttons[truth[key]]}').click()")
            if page.locator("#item").get_attribute("data-item") != item:  # else it was not on the screen yet
                answers.append((key, *noted, time.monotonic() - began))
        page.wait_for_timeout(2_000)
    with Project(store) as project:
        known = {0: 0} | {report["round"]: report["labels"] for report in project.rounds.reports()}
        seconds = [report["seconds"] for report in project.rounds.reports()]
        assert sum(project.answers.label_counts().values()) == options.labels
    active = [place for place, (_, _, origin, _) in enumerate(answers) if origin in ("pick", "reserve")]
    lags = [place + 1 - known[answers[place][1]] for place in active]
    origins = [origin for _, _, origin, _ in answers]
    return {
        "asked": [key for key, *_ in answers],
        "lag": {"median": float(np.median(lags)), "nine in ten": float(np.quantile(lags, 0.9)), "most": max(lags)},
        "first": {"answer": active[0] + 1, "seconds": round(answers[active[0]][3], 1)},
        "origins": {name: origins.count(name) for name in sorted(set(origins))},
        "seconds a round": [round(float(np.median(seconds)), 2), round(max(seconds), 2)],
    }


@contextmanager
def served(command: list[str], environment: dict[str, str]) -> Iterator[str]:
    program = [sys.executable, "-c", "from cusal.cli import main; main()", *command, "--no-browser", "--port", "0"]
    server = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=environment)
    assert server.stdout is not None
    try:
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        yield found[0]
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


@contextmanager
def chromium() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(NOTE_ROUNDS)
        yield page
        browser.close()


def accuracies(
    vectors: NDArray[Any], labels: NDArray[Any], keys: list[str], asked: list[str], seed: int
) -> dict[str, dict[str, float]]:
    """Return the true accuracy after so many labels: of the app, a plain session, and random orders on average."""
    place = {key: row for row, key in enumerate(keys)}
    points = [point for point in POINTS if point <= len(asked)]
    session = cusal.Session(vectors, audit=AUDIT, seed=seed, classes=sorted(set(labels)))
    plain: list[int] = []
    while len(plain) < points[-1]:
        query = session.ask(BATCH)
        session.tell(query.indices, labels[query.indices])
        plain += query.indices.tolist()
    orders = [np.random.default_rng([seed, turn]).permutation(len(labels)) for turn in range(RANDOM_ORDERS)]
    app = [place[key] for key in asked]
    return {
        str(point): {
            "app": accuracy(vectors, labels, app[:point], seed),
            "session": accuracy(vectors, labels, plain[:point], seed),
            "random": round(float(np.mean([accuracy(vectors, labels, order[:point], seed) for order in orders])), 4),
        }
        for point in points
    }


def accuracy(vectors: NDArray[Any], labels: NDArray[Any], chosen: Any, seed: int) -> float:
    """Return the share of the other items that a session takes for what they are."""
    rest = np.setdiff1d(np.arange(len(labels)), chosen)
    known = (np.asarray(chosen), labels[chosen])
    session = cusal.Session(vectors, labelled=known, seed=seed, classes=sorted(set(labels)))
    return round(float((session.predict(vectors[rest]) == labels[rest]).mean()), 4)


if __name__ == "__main__":
    main()
