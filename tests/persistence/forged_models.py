"""Load and use mutations of a model file: `python forged_models.py FOLDER KIND`.

A line of JSON for each says what came out. A case that takes ten seconds ends the process, as one that takes a gigabyte
more does.
"""

import json
import resource
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

import cusal
from cusal.deploy.model_file import KIND, model_state
from cusal.deploy.session_model import model_of
from cusal.errors import CusalError
from cusal.features import GivenVectors, TableVectors, WordVectors
from cusal.models import FewLabelClassifier, PoolClassifier
from cusal.persistence.object_file import as_bytes, header

SECONDS, MEMORY = 10, 1 << 30
REPEATED = 2  # parts of a long list that are mutated
rng = np.random.default_rng(0)
CLASSES = np.arange(60) % 3
POINTS = rng.normal(size=(60, 4)) + CLASSES[:, None]
WORDS = ("ball game team", "vote law party", "code file byte")
TEXTS = [f"{WORDS[number]} {rng.choice(WORDS[number].split())}{place % 7}" for place, number in enumerate(CLASSES)]
ROWS = [{"size": float(point[0]), "kind": "ab"[place % 2]} for place, point in enumerate(POINTS)]
KINDS = {
    "points": (GivenVectors(), POINTS, FewLabelClassifier(random_state=0)),
    "words": (WordVectors(), TEXTS, FewLabelClassifier(["kernel", "lda"], random_state=0)),
    "rows": (TableVectors(), ROWS, PoolClassifier()),
    "forest": (GivenVectors(), POINTS, RandomForestClassifier(5, random_state=0)),
    "neighbours": (GivenVectors(), POINTS, KNeighborsClassifier(3)),
}


def content_of(kind: str) -> tuple[dict[str, Any], Any]:
    """Return the content of a real model file, and items that it classifies."""
    vectoriser, items, model = KINDS[kind]
    found = vectoriser.fit_transform(items).matrix
    session = cusal.Session(found, model, labelled=dict(enumerate(CLASSES[:30].tolist())))
    return {**header(KIND), **model_state(*model_of(session, vectoriser, dict(enumerate("abc"))))}, items[20:]


def mutations(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield odd values in place of a part, each with its name."""
    yield from (("none", None), ("an empty list", []), ("a text", "evil"), ("a huge number", 10**18), ("-1", -1),
                ("NaN", float("nan")), ("1e300", 1e300), ("no numbers", np.empty(0)), ("a scalar", np.float64(2)),
                ("a cube", np.ones((2, 2, 2))))  # fmt: skip
    if not isinstance(part, np.ndarray):
        return
    yield from (("shorter", part[:-1]), ("narrower", part[..., :-1]), ("deeper", part[..., None]),
                ("transposed", part.T), ("twice", np.concatenate([part, part])), ("as texts", part.astype("U8")),
                ("as flags", part.astype(bool)), ("halved", part.astype(np.float16)),
                ("turned", part[::-1]))  # fmt: skip
    odd = (np.nan, np.inf, 1e300, -1e300, 0.0) if part.dtype.kind == "f" else (-1, 100, 2**31 - 1, 2**62, -(2**62))
    for value in odd if part.dtype.kind in "fiu" else ():
        for where, name in ((slice(0, 1), "first"), (slice(None), "all")):
            changed = part.astype(part.dtype if part.dtype.kind == "f" else np.int64)
            changed.reshape(-1)[where] = value
            yield f"{value} as {name}", changed


def mutated(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield copies of a tree, each with one part mutated."""
    for name, odd in mutations(part):
        yield f"{path}: {name}", odd
    if isinstance(part, dict):
        for key, inner in part.items():
            yield f"{path}/{key}: gone", {own: value for own, value in part.items() if own != key}
            if key not in ("card", "kind", "format", "cusal"):
                yield from ((said, {**part, key: odd}) for said, odd in mutated(inner, f"{path}/{key}"))
    if isinstance(part, list | tuple):
        for place, inner in list(enumerate(part))[: len(part) if len(part) < 5 else REPEATED]:
            for said, odd in mutated(inner, f"{path}/{place}"):
                yield said, type(part)([*part[:place], odd, *part[place + 1 :]])


def outcome(file: Path, items: Any) -> str:
    """Return what comes of loading a file and predicting with it."""
    try:
        model = cusal.load_model(file)
    except CusalError:
        return "refused"
    except BaseException as error:
        return f"foreign when loaded: {error!r}"[:300]
    try:
        probs = model.predict_proba(items)
    except CusalError:
        return "refused in use"
    except BaseException as error:
        return f"foreign in use: {error!r}"[:300]
    clean = probs.shape == (len(items), 3) and np.isfinite(probs).all() and np.allclose(probs.sum(axis=1), 1)
    return "predicted" if clean else f"no probabilities: {probs[:1]}"


def main() -> None:
    """Try all mutations of a kind of model."""
    folder, kind = Path(sys.argv[1]), sys.argv[2]
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    content, items = content_of(kind)
    file = folder / "model.cusal"
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    for name, odd in [("/: nothing", content), *mutated(content)]:
        file.write_bytes(as_bytes(odd, pickles=False))
        print(json.dumps(name), flush=True)
        signal.alarm(SECONDS)
        print(json.dumps({"case": name, "out": outcome(file, items)}), flush=True)
        signal.alarm(0)


if __name__ == "__main__":
    main()
