"""Schemathesis calls a real server with everything that its description allows, and much that it does not."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from running import Running


def schemathesis():
    program = shutil.which("schemathesis", path=str(Path(sys.executable).parent)) or shutil.which("schemathesis")
    if program is None:
        pytest.skip("schemathesis is not installed")
    return program


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text", "image"])
def test_no_call_fails_or_answers_other_than_described(kind, tmp_path, photos):
    data = Path(photos.settings.data) if kind == "image" else tmp_path / "reviews.csv"
    if kind == "text":
        data.write_text("review,stars\n" + "".join(f"Review number {row} of many,{row % 5}\n" for row in range(200)))
    with Running(data, "--classes", "cat,dog,bird", "--store", str(tmp_path / "project.db")) as server:
        command = [schemathesis(), "run", f"{server.url}api/openapi.json", "--header", "X-Cusal: 1"]
        command += ["--seed", "1", "--max-examples", "20", "--continue-on-failure", "--no-color"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stdout[-8000:]
        assert server.end() == 0
    assert not [line for line in server.errors if "Traceback" in line or "Error" in line]
