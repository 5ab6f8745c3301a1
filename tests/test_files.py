"""Files that are written whole or not at all."""

import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from cusal._files import write_whole


def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"old")
    with pytest.raises(TypeError):
        write_whole(path, "not bytes")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_others_may_read_the_file_as_any_other(tmp_path):
    write_whole(tmp_path / "whole", b"")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_kill_in_the_middle_leaves_a_readable_file(tmp_path):
    path = tmp_path / "state"
    write_whole(path, pickle.dumps({"kind": "test", "value": 0}))
    program = f"""
import pickle
from cusal._files import write_whole
value = 0
while True:
    value += 1
    write_whole({str(path)!r}, pickle.dumps({{"kind": "test", "value": value, "filler": b"x" * 3_000_000}}))
    print(value, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert pickle.loads(path.read_bytes())["value"] >= 1
