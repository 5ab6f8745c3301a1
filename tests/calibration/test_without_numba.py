"""Without numba the estimate is the same, by the sum over all pairs; advice comes only where that takes long."""

import subprocess
import sys

import numpy as np
import pytest

import cusal
from cusal.calibration import pointwise_error

PROBLEM = """
import numpy as np
rng = np.random.default_rng(1)
pool, labelled = rng.dirichlet(np.full(CLASSES, 0.5), 3000), rng.dirichlet(np.full(CLASSES, 0.5), 1500)
labels = rng.integers(CLASSES, size=1500)
"""
BLOCKED = "import sys; sys.modules['numba'] = None; import cusal\n"


def run_without_numba(code):
    return subprocess.run([sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, check=True)


@pytest.mark.parametrize("classes", [4, 60])
def test_picks_and_errors_are_those_with_numba(classes):
    problem = PROBLEM.replace("CLASSES", str(classes))
    scope = {}
    exec(problem, scope)
    arrays = scope["pool"], scope["labelled"], scope["labels"]
    done = run_without_numba(
        f"{problem}\nprint(*cusal.query(pool, labelled, labels, batch_size=50, strategy='cusal').indices)\n"
        "print(*cusal.calibration.pointwise_error(pool, labelled, labels).error)"
    )
    picks, errors = (np.array(line.split(), dtype=float) for line in done.stdout.splitlines())
    np.testing.assert_array_equal(picks, cusal.query(*arrays, batch_size=50, strategy="cusal").indices)
    np.testing.assert_allclose(errors, pointwise_error(*arrays).error, atol=1e-9, rtol=0)
    assert done.stderr == ""


def test_a_pool_is_advised_once_that_numba_would_save_seconds():
    done = run_without_numba(
        PROBLEM.replace("CLASSES", "4")
        + "from cusal.calibration import pointwise\n"
        + "pointwise.PATIENCE = 0.01\n"
        + "evidence = pointwise.Evidence(labelled, labels, pointwise.Estimator())\n"
        + "for start in range(0, 3000, 1000): evidence.errors(pool[start : start + 1000])"
    )
    assert done.stderr.count("pip install 'cusal[fast]'") == 1


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_any_number_of_rows_is_summed(rows):
    code = PROBLEM.replace("CLASSES", "3") + (
        f"pool = rng.dirichlet(np.ones(3), {rows})\n"
        "from cusal.calibration import pointwise\n"
        "estimate = pointwise.Evidence(labelled, labels, pointwise.Estimator()).errors(pool)\n"
        "print(len(estimate.error), len(estimate.supported))"
    )
    assert run_without_numba(code).stdout.split() == [str(rows)] * 2
