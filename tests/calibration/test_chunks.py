"""Chunks of rows: every row once, in float64, whatever the number of threads."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cusal.calibration.compiled import over_rows


@pytest.mark.parametrize("count", [0, 1, 7, 5000])
def test_every_row_is_worked_on_once(count):
    rows = np.arange(count * 4, dtype=np.float32).reshape(count, 4)
    seen, sums = np.zeros(count, dtype=int), np.zeros(count)

    def work(where, chunk):
        assert chunk.dtype == np.float64
        assert chunk.flags.c_contiguous
        seen[where] += 1
        sums[where] = chunk.sum(axis=1)

    over_rows(rows, work)
    assert (seen == 1).all()
    assert np.array_equal(sums, rows.sum(axis=1, dtype=np.float64))


def test_an_error_in_a_chunk_reaches_the_caller():
    def fail(where, chunk):
        raise ZeroDivisionError(f"at {where.start}")

    with pytest.raises(ZeroDivisionError, match="at 0"):
        over_rows(np.ones((6000, 4)), fail)


SCORE = """
import numpy as np
from cusal.calibration import Estimator, pruned
rng = np.random.default_rng(0)
pool, reference = rng.dirichlet(np.full(10, 0.1), 3000), rng.dirichlet(np.full(10, 0.1), 100)
error, _ = pruned.pointwise(pool, reference, rng.integers(10, size=100), Estimator(), tolerance=1e-9)
print(repr(error.sum()))
"""


def test_the_result_does_not_depend_on_the_number_of_threads():
    printed = [
        subprocess.run(
            [sys.executable, "-c", SCORE],
            env=os.environ | {"NUMBA_NUM_THREADS": threads, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert printed[0] == printed[1] != ""


FORK = """
import multiprocessing
import numpy as np
from cusal.calibration.compiled import over_rows

def total(rows):
    sums = np.zeros(len(rows))
    over_rows(rows, lambda where, chunk: np.copyto(sums[where], chunk.sum(axis=1)))
    return sums.sum()

rows = np.ones((6000, 4))
print(total(rows))
with multiprocessing.get_context("fork").Pool(1) as workers:
    print(workers.apply(total, (rows,)))
"""


def test_threads_can_be_started_again_after_a_fork():
    # In a process of its own: a fork of this one would take over locks that threads of the test tools may hold.
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["24000.0", "24000.0"]
