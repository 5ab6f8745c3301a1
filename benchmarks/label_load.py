"""Many people at once on a large project: how long an answer and the next items take, and the server's memory.

    python benchmarks/label_load.py                   50 people for a minute on 1,000,000 texts
    python benchmarks/label_load.py --rows 20000 --people 5 --seconds 10

A table is written to a temporary folder and served by a real `cusal label` process with its worker. When all rows are
read in and the first model has learned, each person answers an item about once a second (0.5 to 1.5 s), fetches 15
items whenever fewer than 5 are left, and asks for the status every two seconds, as the pages do. Each call is timed
from the request to the whole reply. Nothing else should run: the callers are a process on the same machine.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import numpy as np

RESULTS = Path(__file__).parent / "results" / "label_load.json"
WORDS = [
    f"{start}{end}" for start in ("ba", "ke", "lo", "mi", "nu", "ra", "so", "ti") for end in ("n", "rd", "st", "x")
]
CLASSES = ("a", "b", "c", "d")
FIRST_LABELS = 40  # so that there is a model, as there is during most of the work

Seconds = dict[str, list[float]]  # by kind of call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--folder", type=Path, help="where the table and the project are written")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        table = write_table(Path(folder) / "texts.csv", options.rows)
        result = measure(table, options.people, options.seconds)
    settings = {"rows": options.rows, "people": options.people, "seconds": options.seconds, "cores": os.cpu_count()}
    load = [round(value, 1) for value in os.getloadavg()]
    settings |= {"python": platform.python_version(), "processor": platform.machine(), "load_average": load}
    options.out.write_text(json.dumps({"settings": settings, "results": result}, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def write_table(path: Path, rows: int) -> Path:
    """Write texts of about 200 letters; the first word says the class."""
    rng = random.Random(0)
    with path.open("w") as file:
        file.write("id,text\n")
        for row in range(rows):
            file.write(f"t{row},topic{row % len(CLASSES)} {' '.join(rng.choices(WORDS, k=38))}\n")
    return path


def measure(table: Path, people: int, seconds: float) -> dict[str, Any]:
    """Serve a table, let people label it, and return the figures."""
    program = [sys.executable, "-c", "from cusal.cli import main; main()", "label", str(table), "--no-browser"]
    begin = time.perf_counter()
    command = [*program, "--port", "0", "--classes", ",".join(CLASSES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+/", server.stdout.readline())
            assert found is not None
            times = asyncio.run(work(found[0], people, seconds, begin=begin, server=server.pid))
        finally:
            server.send_signal(signal.SIGINT)
    return times


async def work(url: str, people: int, seconds: float, *, begin: float, server: int) -> dict[str, Any]:
    """Wait until the project is ready, then let all people work at once."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=url, headers={"X-Cusal": "1"}, timeout=60.0, limits=limits) as client:
        await patiently(client, "/api/next?count=1&person=first")
        result: dict[str, Any] = {"seconds_to_first_item": round(time.perf_counter() - begin, 2)}
        while not (await client.get("/api/status")).json()["items"]["finished"]:
            await asyncio.sleep(0.5)
        result["seconds_to_read_all"] = round(time.perf_counter() - begin, 1)
        result["server_megabytes_before"] = megabytes(server)
        await first_labels(client)
        result["seconds_to_first_model"] = round(time.perf_counter() - begin, 1)
        took: Seconds = defaultdict(list)
        end = time.perf_counter() + seconds
        await asyncio.gather(*(annotate(client, number, end, took) for number in range(people)))
        status = (await client.get("/api/status")).json()
    result |= {name: figures(values) for name, values in sorted(took.items())}
    result |= {
        "rounds": status["round"],
        "server_megabytes_after": megabytes(server),
        "worker": worker_megabytes(server),
    }
    return result


async def patiently(client: httpx.AsyncClient, path: str) -> Any:
    while True:
        try:
            return (await client.get(path)).json()
        except httpx.TransportError:
            await asyncio.sleep(0.01)


async def first_labels(client: httpx.AsyncClient) -> None:
    """Label until there is a model."""
    while (await client.get("/api/status")).json()["labels_seen"] < FIRST_LABELS:
        items = (await client.get("/api/next?count=10&person=first")).json()["items"]
        await client.post("/api/answers", json={"person": "first", "answers": [answer(item) for item in items]})
        await asyncio.sleep(1.0)


def answer(item: dict[str, Any]) -> dict[str, Any]:
    return {"id": str(uuid.uuid4()), "item": item["id"], "class": int(item["text"][5]), "seconds": 1.0}


async def annotate(client: httpx.AsyncClient, number: int, end: float, took: Seconds) -> None:
    """Work as one person does."""
    rng, person, items, asked = random.Random(number), f"person {number}", [], 0.0
    await asyncio.sleep(rng.random())
    while time.perf_counter() < end:
        if len(items) < 5:
            have = ",".join(str(item["id"]) for item in items)
            query = {"person": person, "count": 15, "exclude": have}
            items += (await timed(client, "next", took, "GET", "/api/next", params=query))["items"]
        if time.perf_counter() - asked > 2.0:
            asked = time.perf_counter()
            await timed(client, "status", took, "GET", "/api/status")
        await asyncio.sleep(rng.uniform(0.5, 1.5))
        if items:
            body = {"person": person, "answers": [answer(items.pop(0))]}
            outcome = (await timed(client, "answer", took, "POST", "/api/answers", json=body))["outcomes"][0]
            assert outcome["stored"], outcome
        else:
            took["nothing to do"].append(0.0)


async def timed(client: httpx.AsyncClient, name: str, took: Seconds, method: str, path: str, **what: Any) -> Any:
    begin = time.perf_counter()
    reply = await client.request(method, path, **what)
    took[name].append(time.perf_counter() - begin)
    assert reply.status_code == 200, reply.text
    return reply.json()


def figures(values: list[float]) -> dict[str, float]:
    """Return the number of calls, and what the middle one and the slowest took, in milliseconds."""
    half, most, worst = (1000 * np.quantile(values, [0.5, 0.99, 1.0])).round(1).tolist()
    return {"calls": len(values), "p50_ms": half, "p99_ms": most, "max_ms": worst}


def megabytes(pid: int) -> int:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


def worker_megabytes(server: int) -> list[int]:
    """Return the resident memory of the processes that the server started."""
    tasks = Path(f"/proc/{server}/task").iterdir()
    return [megabytes(int(pid)) for task in tasks for pid in (task / "children").read_text().split()]


if __name__ == "__main__":
    main()
