"""Compiled kernels: not loaded for small problems, announced where they are compiled, cached where anything can be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cusal
from cusal.calibration import pointwise_error
from cusal.calibration.pointwise import SMALL, is_small

PROBLEM = """
import sys, numpy as np, cusal
rng = np.random.default_rng(0)
pool, labelled = rng.dirichlet(np.ones(3), 200), rng.dirichlet(np.ones(3), 20)
labels = rng.integers(3, size=20)
"""


def run(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", PROBLEM + code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout, result.stderr


def test_a_small_query_loads_no_compiler():
    printed, _ = run("cusal.query(pool, labelled, labels, strategy='cusal'); print('numba' in sys.modules)")
    assert printed == "False\n"


def test_small_and_large_queries_agree():
    rng = np.random.default_rng(1)
    pool, labelled = rng.dirichlet(np.full(4, 0.5), SMALL // 200), rng.dirichlet(np.full(4, 0.5), 400)
    labels = rng.integers(4, size=400)
    assert is_small(pool[:9000], labelled)
    assert not is_small(pool, labelled)
    for rows in (pool[:9000], pool):
        query = cusal.query(rows, labelled, labels, batch_size=50, strategy="cusal")
        error = pointwise_error(rows, labelled, labels, tolerance=0).error
        expected = np.lexsort((np.arange(len(rows)), rows.max(axis=1), -np.round(error / 1e-6)))[:50]
        np.testing.assert_array_equal(query.indices, expected)
        np.testing.assert_allclose(query.error, error[expected], atol=1e-9)


@pytest.mark.slow
def test_compiling_is_announced_and_happens_once(tmp_path):
    code = "cusal.calibration.pointwise_error(pool, labelled, labels)"
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path))[1].count("compiling the estimator") == 1
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path))[1] == ""


@pytest.mark.slow
def test_a_temporary_folder_serves_where_no_cache_can_be_written(tmp_path):
    shutil.copytree(Path(cusal.__file__).parent, tmp_path / "cusal", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "cusal" / "calibration" / "__pycache__").touch()  # a file in its place: not even root can write there
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "NUMBA_CACHE_DIR": "", "TMPDIR": str(tmp_path)}
    code = "print(len(cusal.calibration.pointwise_error(pool, labelled, labels).error))"
    printed, said = run(code, PYTHONPATH=str(tmp_path), **nowhere)
    assert printed == "200\n"
    assert "set NUMBA_CACHE_DIR" in said
    assert list(tmp_path.glob("cusal-numba-*")) == []
