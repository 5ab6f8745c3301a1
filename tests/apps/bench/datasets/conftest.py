"""Real data sets in their publishers' formats."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_svhn(tmp_path_factory):
    """The folder of the real SVHN: CUSAL_DATA's, or one written by the script `expand` beside its compact form."""
    data = Path(os.environ.get("CUSAL_DATA", "") or "nowhere")
    if (data / "svhn" / "train_32x32.mat").is_file():
        return data
    if not (data / "expand").is_file():
        pytest.skip("CUSAL_DATA names no folder that holds svhn/train_32x32.mat")
    pytest.importorskip("PIL")
    folder = tmp_path_factory.mktemp("expanded")
    subprocess.run([sys.executable, data / "expand", folder], check=True)
    return folder
