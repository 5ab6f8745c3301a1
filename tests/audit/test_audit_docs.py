"""The tables of docs/audit.md are those of the stored measurements."""

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_what_was_measured():
    tables = runpy.run_path(str(ROOT / "benchmarks" / "audit.py"))["tables"]
    stored = json.loads((ROOT / "benchmarks" / "results" / "audit.json").read_text())
    assert tables(stored["cases"]) in (ROOT / "docs" / "audit.md").read_text()


def test_the_worked_example_is_what_the_script_printed():
    printed = " ".join((ROOT / "benchmarks" / "results" / "audit_example.txt").read_text().split())
    lines = (ROOT / "docs" / "audit.md").read_text().splitlines()
    quoted = " ".join(line.removeprefix(">").strip() for line in lines if line.startswith(">"))
    for sentence in quoted.split(". "):
        assert sentence.strip() in printed
