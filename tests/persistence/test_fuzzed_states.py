"""Every class of scikit-learn, torch.nn and cusal in a file, with odd states: no signal, no hang, no gigabyte."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sqlalchemy")

CHILD = Path(__file__).with_name("fuzzed_states.py")
FAILURES = 10  # after which it stops


@pytest.mark.slow
def test_no_class_with_an_odd_state_harms_its_reader(tmp_path, record_property):
    outcomes, failures, first, total = Counter(), [], 0, {}
    while True:
        ran = subprocess.run([sys.executable, CHILD, tmp_path, str(first)], capture_output=True, text=True)
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        assert lines, ran.stderr[-2000:]
        total, last = lines[0], {}
        for line in lines[1:]:
            if "out" in line:
                outcomes[line["out"].partition(":")[0]] += 1
                failures += [(last, line["out"])] if line["out"].startswith("foreign") else []
            last = line
        if last.get("done"):
            break
        failures.append((last, f"ended by {ran.returncode}: {ran.stderr[-300:]}"))
        if len(failures) > FAILURES or "case" not in last:
            break
        first = last["case"] + 1
    said = f"fuzz: {total['classes']:,} classes, {outcomes.total():,} files: {dict(outcomes)}"
    record_property("said", said)
    assert not failures, f"{said}\n" + "\n".join(map(str, failures[:20]))
    assert outcomes["refused"] > 1000
