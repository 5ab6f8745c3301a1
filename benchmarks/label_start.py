"""How long `cusal label` takes from the command to the first item, as a browser would fetch it.

    CUSAL_DATA=... python benchmarks/label_start.py      10,000 MNIST images as PNG files, banking77, 100,000 texts

Each project is new. Times are by the clock, so nothing else should run; the processor time of the server's process
stands beside them. The lowest, the median and the highest of three starts.
"""

import csv
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "label_start.json"
STARTS = 3


def main() -> None:
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (
            ("10,000 images", images(Path(folder) / "digits")),
            ("banking77, 13,083 texts", banking(Path(folder) / "banking77.csv")),
            ("100,000 texts", texts(Path(folder) / "texts.csv")),
        ):
            starts = [start(data, store=f"{folder}/{len(rows)}-{turn}.cusal.db") for turn in range(STARTS)]
            rows[name] = {what: spread([one[what] for one in starts]) for what in starts[0]}
            print(f"{name}: {rows[name]}", flush=True)
    load = [round(value, 1) for value in os.getloadavg()]
    settings = {"cores": os.cpu_count(), "python": platform.python_version(), "load_average": load}
    RESULTS.write_text(json.dumps({"settings": settings, "results": rows}, indent=1) + "\n")


def spread(values: list[float]) -> list[float]:
    return [round(value, 2) for value in (min(values), statistics.median(values), max(values))]


def images(folder: Path) -> Path:
    from PIL import Image

    from cusal.apps.bench import datasets
    from cusal.features.images import as_pixels, pixel_range

    items = np.asarray(datasets.load("mnist").test)
    folder.mkdir()
    for number, pixels in enumerate(as_pixels(items, *pixel_range(items))[:, 0].round().astype(np.uint8)):
        Image.fromarray(pixels).save(folder / f"{number:05d}.png")
    return folder


def banking(path: Path) -> Path:
    from cusal.apps.bench import datasets

    data = datasets.load("banking77")
    return write_texts(path, (str(text) for part in (data.train, data.test) for text in part))


def texts(path: Path) -> Path:
    rng = np.random.default_rng(0)
    words = np.array(["card", "transfer", "money", "bank", "why", "when", "lost", "app", "cash", "fee", "top", "up"])
    return write_texts(path, (f"{number} {' '.join(rng.choice(words, 20))}" for number in range(100_000)))


def write_texts(path: Path, texts: Iterable[str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text"])
        writer.writerows([text] for text in texts)
    return path


def start(data: Path, *, store: str) -> dict[str, float]:
    """Return the seconds until the server says that it is there, and until the first item has arrived."""
    command = [sys.executable, "-c", "from cusal.cli import main; main()", "label", str(data), "--classes", "a,b"]
    began = time.perf_counter()
    options = ["--store", store, "--no-browser", "--port", "0"]
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = re.search(r"http://\S+", server.stdout.readline())
    assert url is not None
    announced = time.perf_counter() - began
    item = json.load(urllib.request.urlopen(f"{url[0]}api/next?count=1"))["items"][0]
    if item["image"]:
        urllib.request.urlopen(url[0].rstrip("/") + item["image"]).read()
    shown = time.perf_counter() - began
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    processor = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    server.send_signal(signal.SIGINT)
    server.communicate()
    return {"announced": round(announced, 2), "first item": round(shown, 2), "processor": round(processor, 2)}


if __name__ == "__main__":
    main()
