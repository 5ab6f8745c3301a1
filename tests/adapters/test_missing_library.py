"""Where a library is not installed, its adapter says what to install."""

import subprocess
import sys

import pytest

CASES = [
    ("skactiveml", "cusal.adapters.SkactivemlStrategy", "scikit-activeml"),
    ("small_text", "cusal.adapters.SmallTextStrategy", "small-text"),
    ("baal", "cusal.adapters.BaalHeuristic", "baal"),
    pytest.param("skorch", "cusal.adapters.SkorchClassifier", "skorch", marks=pytest.mark.needs("torch")),
    ("datasets", "cusal.adapters.to_hugging_face(None, None)", "datasets"),
    ("pandas", "cusal.adapters.to_pandas(None)", "pandas"),
]


@pytest.mark.parametrize(("module", "used", "package"), CASES)
def test_the_error_names_the_package(module, used, package):
    code = f"""
import sys
sys.modules[{module!r}] = None  # as if it were not installed
import cusal
try:
    {used}
except cusal.CusalError as error:
    print(error)
"""
    printed = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    assert printed == f"{used.partition('(')[0]} needs {package}, which is not installed; run: pip install {package}"
