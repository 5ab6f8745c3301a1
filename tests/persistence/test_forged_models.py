"""Model files with one part changed: an error of cusal or probabilities, no other exception, hang or signal."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("forged_models.py")


@pytest.mark.parametrize("kind", ["points", "words", "rows", "forest", "neighbours"])
def test_a_part_that_does_not_fit_is_refused_or_harmless(kind, tmp_path, record_property):
    ran = subprocess.run([sys.executable, CHILD, tmp_path, kind], capture_output=True, text=True, timeout=600)
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, f"{lines[-1:]} {ran.stderr[-2000:]}"
    outcomes = [line for line in lines if isinstance(line, dict)]
    assert outcomes[0]["out"] == "predicted"
    counts = Counter(line["out"].partition(":")[0] for line in outcomes)
    record_property("said", f"{kind}: {dict(counts)}")
    odd = [line for line in outcomes if line["out"] not in ("refused", "refused in use", "predicted")]
    assert not odd, f"{counts}\n" + "\n".join(map(str, odd[:30]))
    assert counts["refused"] > 100
