"""Values that somebody might hand over by mistake or on purpose, and the state of an object as one text."""

import math
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from hypothesis import strategies as st

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 3, 2**31, 2**63, 2**70, -(2**70), 0.5, -0.0, 1e308, 1e-320, math.nan, math.inf),
    *(
        -math.inf,
        1j,
        "",
        "x",
        "\0",
        "cusal",
        "a" * 500,
        "🦊\n$",
        "\ud800",
        b"x",
        [],
        [[]],
        [math.nan],
        [None],
        {},
        {"a": 1},
    ),
    *({0: "b"}, set(), (), (1, 2), ((1,), (2, 3)), object(), object, len, range(3), slice(None), Path("none"), ...),
    *(np.int64(2), np.float32(0.5), np.array(5), np.array([]), np.zeros((0, 3)), np.zeros((3, 0)), np.ones((2, 2, 2))),
    *(
        np.full((3, 2), np.nan),
        np.full((3, 2), np.inf),
        np.zeros((3, 2)),
        np.array([-1, 0, 1]),
        np.array([True, False]),
    ),
    *(np.array(["a", "b"]), np.array([None, 1], dtype=object), np.array([[1, 2], [3]], dtype=object), np.array([1j])),
    *(np.array(["2020-01-01"], dtype="datetime64[D]"), np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])),
    *([[0.5, 0.5], [0.1]], [["a", "b"]], [0, 0, 0], [1.5, 2.5], ["a", 1, None], [2**70], [True, 2], [[1, 2], [3, 4]]),
    *(
        np.array([0.2, 0.3, 0.5]),
        np.array([[0.2, 0.8]], dtype=np.float16),
        np.array([[1, 0], [0, 1]]),
        "random",
        "1e999",
    ),
]


def odd_values() -> st.SearchStrategy[Any]:
    """Return one of the odd values, or numbers, texts and arrays that hypothesis makes up."""
    shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
    numbers = st.floats(width=64) | st.integers(-(2**65), 2**65)
    arrays = shapes.flatmap(lambda shape: st.floats(width=32).map(lambda value: np.full(shape, value)))
    return st.sampled_from(ODD) | numbers | st.text(max_size=5) | arrays | st.lists(numbers, max_size=4)


def state_of(value: Any) -> str:
    """Return a digest of all that an object holds, or of an array's numbers."""
    if hasattr(value, "checkpoint"):
        value = value.checkpoint()
    return str(joblib.hash(value))
