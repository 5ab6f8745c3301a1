"""How long `cusal report` takes for the 50 runs of results/mnist: ten strategies, five seeds, all formats.

    python benchmarks/report.py                 less than a minute on one core
    python benchmarks/report.py --repeats 5

The runs are loaded into a store first, which does not count. Each repetition is a new process: seconds by the clock,
and of the processor, Python's own start included, the lowest, the median and the highest.
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
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "report.json"
RUNS = Path(__file__).parents[1] / "results" / "mnist"
COMMAND = [sys.executable, "-c", "from cusal.cli import main; main()"]
FORMATS = ("html", "html,md,tex,csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/runs.db"
        run("store", "load", store, str(RUNS))
        for formats in FORMATS:
            spent = [
                run("report", store, "--out", f"{folder}/{formats}-{turn}", "--format", formats)
                for turn in range(options.repeats)
            ]
            processor, clock = zip(*spent, strict=True)
            cases.append({"formats": formats, "processor": spread(processor), "clock": spread(clock)})
            print(cases[-1], flush=True)
    stored = {
        "runs": len(list(RUNS.glob("*/*.json.gz"))),
        "repeats": options.repeats,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "cases": cases,
    }
    options.out.write_text(json.dumps(stored, indent=1) + "\n")


def run(*arguments: str) -> tuple[float, float]:
    """Return the seconds of a command of `cusal`: of the processor, and by the clock."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run([*COMMAND, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def spread(values: tuple[float, ...]) -> list[float]:
    return [round(value, 2) for value in (min(values), statistics.median(values), max(values))]


if __name__ == "__main__":
    main()
