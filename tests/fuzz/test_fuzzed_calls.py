"""Every public function and method with odd arguments: only a `CusalError` comes out, and nothing has changed.

--fuzz N   so many examples for each call; by default a few, always the same
"""

import copy
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from odd_values import odd_values, state_of
from public_calls import LABELS, PROBS, audit, calls, session

import cusal
from cusal.errors import CusalError

COUNTS: Counter[str] = Counter()
NAMES = sorted(calls(Path("none")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files that some calls read; it is the working directory, since odd names may be written to."""
    place = tmp_path_factory.mktemp("fuzz")
    np.save(place / "pool.npy", PROBS)
    np.savez(place / "labelled.npz", probs=PROBS, labels=LABELS)
    session().save(place / "a.session")
    audit().save(place / "a.audit")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


@pytest.mark.parametrize("name", NAMES)
def test_only_errors_on_purpose_come_out(name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    call = calls(folder)[name]
    examples = request.config.getoption("--fuzz") if call.arguments else 1

    @settings(
        max_examples=examples,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        names = sorted(call.arguments)
        changed = data.draw(st.sets(st.sampled_from(names), min_size=1, max_size=2)) if names else set()
        arguments = copy.deepcopy(call.arguments)
        for argument in sorted(changed):
            arguments[argument] = data.draw(odd_values())
        target = call.make() if call.make else None
        before = state_of(target) if target is not None else ""
        COUNTS["calls"] += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _ = call.run(**arguments) if call.make is None else call.run(target, **arguments)
        except CusalError:
            COUNTS["refused"] += 1
            if target is not None and call.must_keep:
                assert state_of(target) == before, f"{name} changed its object before it refused {arguments}"
        except Exception as error:
            if not of_the_model(name, error):
                raise
            COUNTS["refused"] += 1

    fuzz()


def of_the_model(name: str, error: Exception) -> bool:
    """Return whether an error is the model's own: raised by scikit-learn, in a model or while a session calls one."""
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    models = name.startswith(("models.", "recalibration.T", "features.T")) or any(
        "_protocol" in name for name in frames
    )
    return models and not is_within(frames[-1], cusal) and any(is_within(frame, sklearn) for frame in frames)


def is_within(file: str, package: ModuleType) -> bool:
    """Return whether a source file is one of a package's own, whatever the folders above it are called."""
    return Path(file).is_relative_to(Path(str(package.__file__)).parent)


def test_says_how_many_calls_were_made(record_property: Callable[[str, object], None]) -> None:
    said = f"fuzz: {COUNTS['calls']:,} calls of {len(NAMES)} names, {COUNTS['refused']:,} refused"
    record_property("said", said)  # at the end, also where other processes ran the tests


def test_no_public_function_is_left_out() -> None:
    import importlib
    import inspect
    import pkgutil

    reached = {name.split(" ")[0].rpartition(".")[2] for name in NAMES} | {name.split(".")[0] for name in NAMES}
    missing = set()
    rooms = ["cusal", *(f"cusal.{room.name}" for room in pkgutil.iter_modules(cusal.__path__) if room.ispkg)]
    for room in rooms:
        if room in ("cusal.adapters", "cusal.tables"):
            continue  # they need the libraries of requirements/peers.txt; they are fuzzed with files
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", ()):
            if inspect.isfunction(found := getattr(module, name)) and name not in reached:
                missing.add(f"{room}.{found.__name__}")
    assert missing == ELSEWHERE


# What needs more than arguments: the network, a project, a session, rounds, or seconds for each call.
ELSEWHERE: set[Any] = {
    "cusal.audit.by_class_together",
    "cusal.audit.open_predictions",
    "cusal.audit.read_predictions",
    "cusal.audit.summary",
    "cusal.deploy.classifier_of",
    "cusal.deploy.export",
    "cusal.deploy.model_of",
    "cusal.features.cached_features",
    "cusal.features.check_images",
    "cusal.features.has_sentence_network",
    "cusal.features.sentence_vectors",
    "cusal.metrics.reliability",
    "cusal.persistence.as_bytes",
    "cusal.persistence.read_objects",
    "cusal.persistence.write_objects",
    "cusal.plot",
    "cusal.recalibration.choose_method",
    "cusal.scale.score",
    "cusal.session.for_many_labels",
    "cusal.session.named_model",
    "cusal.session.plot",
    "cusal.session.to_frame",
    "cusal.to_frame",
}
