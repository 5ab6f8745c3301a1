"""The pages on judges say what was measured and printed."""

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_worked_example_is_what_the_script_printed():
    printed = " ".join((ROOT / "benchmarks" / "results" / "judge_example.txt").read_text().split())
    page = (ROOT / "docs" / "how-to" / "judge.md").read_text()
    quoted = " ".join(line.removeprefix(">").strip() for line in page.splitlines() if line.startswith(">"))
    table = page.partition("```\n")[2].partition("```")[0]
    sentences = [*quoted.split(". "), *(" ".join(line.split()) for line in table.splitlines())]
    assert len(sentences) > 12
    for sentence in sentences:
        assert sentence.strip().removesuffix(".") in printed, sentence


def test_the_tables_are_what_was_measured():
    tables = runpy.run_path(str(ROOT / "benchmarks" / "judge.py"))["tables"]
    stored = json.loads((ROOT / "benchmarks" / "results" / "judge.json").read_text())
    assert tables(stored) in (ROOT / "docs" / "audit-judge.md").read_text()
