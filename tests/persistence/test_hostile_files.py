"""Attacks by the three doors for files of others: each is refused by one error, and nothing of it happens."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hostile_files import DOORS, ITEMS, as_npy, in_model, table, thing, write
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

import cusal
from cusal.errors import DataError
from cusal.persistence import allowed
from cusal.persistence.object_file import as_bytes, read_objects

LOGISTIC = thing("sklearn.linear_model:LogisticRegression")
STEPS = [
    {"#": "tuple", "of": ["a", thing("sklearn.preprocessing:StandardScaler")]},
    {"#": "tuple", "of": ["b", LOGISTIC]},
]
PIPELINE = thing("sklearn.pipeline:Pipeline", steps=STEPS)
WORDS = "sklearn.feature_extraction.text:CountVectorizer"


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('code of the file ran')",))


def nested(depth, node=None):
    """Return lists in lists."""
    return "[" * depth + json.dumps(node) + "]" * depth


ATTACKS = {
    "a search over caches": thing("sklearn.model_selection:GridSearchCV", estimator=PIPELINE,
                                  param_grid=table(memory=["evil"])),
    "a cache": thing("sklearn.pipeline:Pipeline", steps=STEPS, memory="evil"),
    "a cache deep inside": thing("cusal.models:Ensemble",
                                 model=thing("sklearn.pipeline:Pipeline", steps=STEPS, memory="evil")),
    "a cache as an attribute": thing("sklearn.pipeline:Pipeline", table(memory="evil"), steps=STEPS),
    "a compiled class": thing("sklearn.metrics._dist_metrics:MahalanobisDistance64"),
    "a compiled tree": thing("sklearn.tree._tree:Tree"),
    "files of the reader": thing(WORDS, input="filename"),
    "a function of the reader": thing(WORDS, tokenizer={"#": "name", "of": "os:system"}),
    "a pattern that never ends": thing(WORDS, token_pattern="(a+)+$"),
    "a forest that never ends": thing("sklearn.ensemble:RandomForestClassifier", n_estimators=10**9),
    "a process": thing("subprocess:Popen"),
    "a class that a module imported": thing("sklearn.base:np.memmap"),
    "a network that is called": thing("torch.nn:Linear"),
    "a class of a network that is none": {"#": "module", "class": "subprocess:Popen"},
    "a function that a model calls": thing("cusal.features.vectorisers:OwnVectors", function="subprocess:run"),
    "a classifier of items": thing("cusal.deploy.item_classifier:ItemClassifier"),
    "a store": thing("cusal.apps.bench.store:Store"),
    "a pickle": {"#": "pickle", "class": "x:Y", "in": "pickles/0.pickle"},
    "a pickle in an array": {"#": "array", "in": "arrays/pickle.npy"},
    "a program by name": {"#": "name", "of": "os:system"},
    "a file by name": {"#": "name", "of": "numpy:load"},
    "an unknown part": {"#": "evil"},
    "an unknown strategy": {"#": "strategy", "class": "os:system", "settings": table()},
    "an array that is not there": {"#": "array", "in": "arrays/short.npy"},
    "a text as an array": {"#": "array", "type": "U1000000000", "shape": [1], "of": ["a"]},
    "an array without bytes": {"#": "array", "in": "arrays/void.npy"},
}  # fmt: skip
HEADER = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
PARTS = {
    "pickles/0.pickle": pickle.dumps(Bomb()),
    "arrays/pickle.npy": as_npy(np.array([Bomb()], dtype=object)),
    "arrays/short.npy": b"\x93NUMPY\x01\x00" + len(HEADER).to_bytes(2, "little") + HEADER,
    "arrays/void.npy": as_npy(np.zeros(10**6, dtype="V0")),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused(attack, door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrapped, use = DOORS[door]
    file = write(tmp_path / "file", wrapped(ATTACKS[attack]), PARTS)
    with pytest.raises(DataError, match=r"file holds .*(is not in the list|as a pickle)|file cannot be read"):
        use(file)
    assert os.listdir(tmp_path) == ["file"]


def test_an_attack_is_refused_with_trust_too(tmp_path):
    file = write(tmp_path / "file", in_model(ATTACKS["a search over caches"]))
    with pytest.raises(DataError, match="GridSearchCV, which is not in the list"):
        cusal.load_model(file, trusted=True)


def test_cusal_predict_refuses_it_in_one_line(tmp_path):
    file = write(tmp_path / "model.cusal", in_model(ATTACKS["a search over caches"]))
    np.save(tmp_path / "new.npy", ITEMS)
    command = [sys.executable, "-m", "cusal", "predict", file, tmp_path / "new.npy", "--out", tmp_path / "out.csv"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 1
    assert "GridSearchCV" in ran.stderr
    assert sorted(os.listdir(tmp_path)) == ["model.cusal", "new.npy"]


LARGE = {
    "deep lists": nested(20_000),
    "lists too deep to use": nested(200),
    "many lists": "[" + "[]," * 10_000_000 + "[]]",
    "many numbers": "[" + "1," * 10_000_000 + "1]",
    "blanks": " " * (1 << 28) + "1",
    "one part, many times": json.dumps([{"#": "array", "in": "arrays/large.npy"}] * 24),
    "keys that share a hash": json.dumps({"#": "dict", "of": [[i * (2**61 - 1), 0] for i in range(1, 50)]}),
}


@pytest.mark.parametrize("attack", LARGE)
def test_a_file_that_grows_is_refused(attack, tmp_path):
    file = write(tmp_path / "file", LARGE[attack], {"arrays/large.npy": as_npy(np.zeros(4_000_000))})
    assert file.stat().st_size < 1 << 19
    for _, use in DOORS.values():
        with pytest.raises(DataError, match=r"file (holds|cannot be read)"):
            use(file)


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        for _, use in DOORS.values():
            with pytest.raises(DataError, match="is no regular file"):
                use(place)


def test_a_part_packed_by_other_means_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "file", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("content.json", "{}")
    with pytest.raises(DataError, match="compressed in an unknown way"):
        read_objects(tmp_path / "file")


def test_nothing_is_fitted_while_a_file_is_read(tmp_path, monkeypatch):
    session = cusal.Session(ITEMS, GaussianNB(), labelled={0: "a", 1: "b", 2: "a", 3: "b"})
    session.ask(2)
    session.save(tmp_path / "session")

    def refuse(*_):
        raise AssertionError("fitted")

    with monkeypatch.context() as patched:
        patched.setattr(GaussianNB, "fit", refuse)
        loaded = cusal.Session.load(tmp_path / "session", ITEMS)
        assert loaded.round == session.round
    again = copy.copy(loaded)
    assert np.array_equal(loaded.predict_proba(ITEMS), session.predict_proba(ITEMS))
    assert np.array_equal(again.model.predict_proba(ITEMS), session.model.predict_proba(ITEMS))
    assert loaded.round == again.round == session.round


def test_a_model_file_fits_nothing_while_it_is_read(tmp_path, monkeypatch):
    model = GradientBoostingClassifier(n_estimators=2, random_state=0)
    session = cusal.Session(ITEMS, model, labelled={0: "a", 1: "b", 2: "a", 3: "b"}, recalibrate=None)
    session.export(tmp_path / "model")

    def refuse(*_):
        raise AssertionError("fitted")

    with monkeypatch.context() as patched:
        patched.setattr(GradientBoostingClassifier, "fit", refuse)
        loaded = cusal.load_model(tmp_path / "model")
    assert np.abs(loaded.predict_proba(ITEMS) - session.predict_proba(ITEMS)).max() < 1e-9


def models():
    """Return a model of each kind that a session keeps as it was fitted."""
    from torch import nn

    def network(**settings):
        layers = nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.1), nn.Linear(4, 2)
        return cusal.models.TorchClassifier(nn.Sequential(*layers), epochs=2, random_state=0, **settings)

    energy = cusal.models.Energy(sampling_steps=1, buffer_size=8, unlabelled_batch_size=4)
    yield network()
    yield network(objective=energy)
    yield cusal.models.Ensemble(network(warm_start=True))
    yield cusal.models.TorchClassifier(cusal.models.networks.SmallNet(2, 2, hidden=(4, 4)), epochs=1)


def test_what_is_fitted_of_a_network_comes_back_without_a_pickle():
    items = ITEMS.astype(np.float32)
    for model in models():
        session = cusal.Session(items, model, labelled={0: "a", 19: "b", 1: "a", 18: "b"}, recalibrate="prequential")
        session.ask(2)
        loaded = read_objects(io.BytesIO(as_bytes(session.model, pickles=False)))
        assert np.array_equal(loaded.predict_proba(items), session.model.predict_proba(items))


def test_the_list_names_classes_that_are_there():
    for name in (*allowed.SETTINGS, *allowed.ATTRIBUTES):
        found = allowed.find_class(name)
        assert isinstance(found, type), name
        assert allowed.class_name(found) == name


def test_every_setting_of_cusals_own_models_is_in_the_list():
    for name, settings in allowed.SETTINGS.items():
        if name.startswith("cusal."):
            kind = allowed.find_class(name)
            own = kind._get_param_names() if hasattr(kind, "_get_param_names") else kind().get_params()
            assert sorted(own) == sorted(settings), name


def test_no_setting_of_the_list_names_a_file_a_cache_or_a_function():
    never = {"memory", "input", "tokenizer", "preprocessor", "func", "callback", "param_grid", "scoring", "encoding"}
    for name, settings in allowed.SETTINGS.items():
        kind = allowed.find_class(name)
        assert not never & settings.keys(), name
        assert not name.startswith(("sklearn.model_selection", "sklearn.metrics")), name
        assert kind.__flags__ & (1 << 9), f"{name} is compiled"  # Py_TPFLAGS_HEAPTYPE
        for setting, allowed_kind in settings.items():
            assert not allowed_kind.holds(os.system), (name, setting)
            assert not allowed_kind.holds("/etc/passwd") or setting in ("device", "precision", "fill_value"), (
                name,
                setting,
            )


def test_fitted_state_and_unlisted_settings_come_back_only_with_trust(tmp_path):
    for value in (GaussianNB(var_smoothing=3.0), {"deep": [GaussianNB(var_smoothing=3.0)]}):
        (tmp_path / "file").write_bytes(as_bytes(value))
        with pytest.raises(DataError, match="trusted=True"):
            read_objects(tmp_path / "file")
        assert repr(read_objects(tmp_path / "file", trusted=True)) == repr(value)
