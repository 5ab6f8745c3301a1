"""The progress of long computations: what is written, when, and how time is counted."""

import io
import sys

import pytest

from cusal import _progress
from cusal._progress import Progress


def test_a_last_line_says_how_many_how_fast_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(1000, title="scoring", unit="rows")
    progress.resume(500)
    with progress:
        progress.advance(250)
        assert progress.rate > 0
        progress.advance(250)
    line = capsys.readouterr().err
    assert line.startswith("scoring: 1,000 of 1,000 rows, ")
    assert line.endswith(" rows/s, time left 0 min 00 s\n")


def test_what_was_resumed_does_not_count_as_fast() -> None:
    progress = Progress(1000, quiet=True)
    progress.resume(900)
    assert progress.rate == 0
    assert progress.seconds_left is None
    progress.advance(50)
    assert progress.rate > 0
    assert progress.seconds_left == pytest.approx(50 / progress.rate, rel=0.5)


def test_a_line_is_written_every_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    with Progress(100, title="features of digits", unit="images", always=False) as progress:
        for second in range(1, 26):
            clock[0] = float(second)
            progress.advance(2)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "features of digits: 20 of 100 images, 2 images/s, time left 0 min 40 s",
        "features of digits: 40 of 100 images, 2 images/s, time left 0 min 30 s",
        "features of digits: 50 of 100 images, 2 images/s, time left 0 min 25 s",
    ]


def test_a_short_computation_may_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(10, always=False) as progress:
        progress.advance(10)
    with Progress(10, quiet=True) as progress:
        progress.advance(10)
    assert capsys.readouterr().err == ""


def test_nothing_is_claimed_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), Progress(10):
        raise KeyError
    assert capsys.readouterr().err == ""


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    progress = Progress(700)
    progress.resume(100)
    with progress:
        progress.advance(600)
    shown = sys.stderr.getvalue()
    assert "700/700" in shown
    assert "rows/s" in shown
