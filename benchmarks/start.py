"""What starting costs: an import, the first query on a new machine and in a new process, the smallest benchmark.

    python benchmarks/start.py                 two minutes on one core
    python benchmarks/start.py --repeats 3     fewer repetitions

Processor seconds of a process and of those that it starts, Python's own start included: the lowest, the median and the
highest of the repetitions, which take turns. "New machine" is an empty cache of compiled code, and is measured twice.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "start.json"
QUERY = """
import numpy as np, cusal
rng = np.random.default_rng(0)
pool, labelled = rng.dirichlet(np.full(10, 0.2), {pool}), rng.dirichlet(np.full(10, 0.2), {labelled})
cusal.query(pool, labelled, rng.integers(0, 10, {labelled}), strategy="cusal")
"""
SMALL, LARGE = QUERY.format(pool=10_000, labelled=100), QUERY.format(pool=60_000, labelled=420)
ONE_ROUND = ["--strategies", "margin", "--seeds", "1", "--rounds", "1", "--workers", "1", "--store", "{folder}/runs.db"]
COMMAND = ["-c", "from cusal.cli import main; main()"]
NEW_MACHINE_TIMES = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    cases = {
        "import numpy": ["-c", "import numpy"],
        "import cusal": ["-c", "import cusal"],
        "cusal --help": [*COMMAND, "--help"],
        "query, 10,000 items and 100 labels, new machine": ["-c", SMALL],
        "query, 60,000 items and 420 labels, new machine": ["-c", LARGE],
        "query, 60,000 items and 420 labels, new process": ["-c", LARGE],
        "cusal bench digits, one run of one round": [*COMMAND, "bench", "digits", *ONE_ROUND],
    }
    with tempfile.TemporaryDirectory() as kept:
        processor_seconds(["-c", LARGE], kept)  # compiles
        seconds: dict[str, list[float]] = {name: [] for name in cases}
        for turn in range(options.repeats):
            for name, arguments in cases.items():
                if not name.endswith("new machine"):
                    seconds[name].append(processor_seconds(arguments, kept))
                elif turn < NEW_MACHINE_TIMES:
                    with tempfile.TemporaryDirectory() as empty:
                        seconds[name].append(processor_seconds(arguments, empty))
    found = {
        name: [round(value, 2) for value in (min(some), statistics.median(some), max(some))]
        for name, some in seconds.items()
    }
    stored = {"python": platform.python_version(), "repeats": options.repeats, "seconds": found}
    options.out.write_text(json.dumps(stored, indent=1) + "\n")
    print(json.dumps(stored, indent=1))


def processor_seconds(arguments: list[str], cache: str) -> float:
    """Return what a new Python process takes, with its children."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *(argument.replace("{folder}", folder) for argument in arguments)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment = os.environ | {"NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
        subprocess.run(command, env=environment, check=True, capture_output=True, cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
