"""Model files with one part changed: an error of cusal or probabilities, no other exception, hang or signal."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cusal.errors import DataError
from cusal.models._trees import Trees

CHILD = Path(__file__).with_name("forged_models.py")


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("points", "words")]


@pytest.mark.parametrize("kind", [*SLOW, "rows", "forest", "neighbours"])
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


@pytest.mark.parametrize(("depth", "trees"), [(200_000, 1), (2_000, 1_000)])
def test_trees_that_no_row_comes_down_in_time_are_refused(depth, trees):
    below = np.arange(2 * depth + 1)
    inner = below % 2 == 0
    inner[-1] = False
    children = np.where(inner[:, None], below[:, None] + [1, 2], -1)  # each inner node has a leaf and the next one
    alone = np.full((trees - 1, 2), -1)
    nodes = len(below) + trees - 1
    roots = np.concatenate([[0], np.arange(len(below), nodes)])
    numbers = np.zeros(nodes, dtype=np.int64), np.zeros(nodes), np.ones((nodes, 1))
    with pytest.raises(DataError, match="trees of a model do not fit"):
        Trees(np.concatenate([children, alone]), *numbers, roots)
    Trees(np.array([[1, 2], [-1, -1], [-1, -1]]), *(part[:3] for part in numbers), np.array([0]))
