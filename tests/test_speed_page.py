"""The page about speed: its tables are what the stored figures give."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_tables_are_what_the_committed_figures_give():
    script = ROOT / "benchmarks" / "speed_page.py"
    check = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


def test_every_benchmark_that_the_page_names_is_run_by_make_bench():
    page, rules = (ROOT / "docs" / "speed.md").read_text(), (ROOT / "Makefile").read_text()
    bench = rules.split("\nbench:")[1].split("\n\n")[0]
    named = set(re.findall(r"benchmarks/(\w+\.py)", page))
    assert named
    assert named - set(re.findall(r"benchmarks/(\w+\.py)", bench)) == set()
