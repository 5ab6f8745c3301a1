"""Saved classifiers: safetensors without pickle, and the files of the version before."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save
from sklearn.datasets import load_digits
from torch import nn

from cusal.errors import DataError, InvalidInput, NotReady
from cusal.models import Augmented, CrossEntropy, Energy, TorchClassifier
from cusal.models.networks import SmallNet, SmallResNet

X, Y = load_digits(return_X_y=True)
IMAGES = (X / 16).astype(np.float32).reshape(-1, 1, 8, 8)
BEFORE = Path(__file__).parent / "saved_before"  # written by TorchClassifier, EnergyClassifier, AugmentedClassifier


@pytest.fixture(scope="module")
def digits():
    return (X / 16).astype(np.float32), Y


@pytest.fixture
def model(digits):
    X, y = digits
    return TorchClassifier(SmallNet(64, 10), epochs=20, random_state=3).fit(X[:300], y[:300])


@dataclass(frozen=True)
class Own(CrossEntropy):
    """An objective of a user's own."""

    amount: float = 1.0


def test_a_saved_model_comes_back_in_another_process_and_continues_the_same(digits, model, tmp_path):
    X, y = digits
    path = tmp_path / "model.pt"
    model.save(path)
    model.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.pt"]
    program = (
        "import sys, numpy as np\n"
        "from sklearn.datasets import load_digits\n"
        "from cusal.models.networks import SmallNet\n"
        "from cusal.models.torch_classifier import TorchClassifier\n"
        "X, y = load_digits(return_X_y=True)\n"
        "model = TorchClassifier.load(sys.argv[1], SmallNet(64, 10)).fit(X[:50] / 16, y[:50])\n"
        "np.save(sys.argv[2], model.predict_proba(X / 16))\n"
    )
    subprocess.run([sys.executable, "-c", program, path, tmp_path / "probs.npy"], check=True)
    assert np.allclose(np.load(tmp_path / "probs.npy"), model.fit(X[:50], y[:50]).predict_proba(X), atol=1e-6)


def test_loading_says_what_is_wrong_with_the_file(model, tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        TorchClassifier.load(tmp_path / "none.pt", SmallNet(64, 10))
    (tmp_path / "text.pt").write_text("no weights")
    with pytest.raises(DataError, match=r"text\.pt"):
        TorchClassifier.load(tmp_path / "text.pt", SmallNet(64, 10))
    model.save(tmp_path / "model.pt")
    (tmp_path / "half.pt").write_bytes((tmp_path / "model.pt").read_bytes()[:500])
    with pytest.raises(DataError, match=r"half\.pt"):
        TorchClassifier.load(tmp_path / "half.pt", SmallNet(64, 10))
    for name, content in (
        ("empty.pt", b""),
        ("zip.pt", b"PK\x03\x04 and nothing"),
        ("other.pt", save({"a": torch.ones(1)})),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="is not a file that `save` wrote"):
            TorchClassifier.load(tmp_path / name, SmallNet(64, 10))
    with pytest.raises(InvalidInput, match="another architecture"):
        TorchClassifier.load(tmp_path / "model.pt", SmallNet(64, 11))
    (tmp_path / "newer.pt").write_bytes(changed(tmp_path / "model.pt", version=99))
    with pytest.raises(DataError, match="written by a newer version"):
        TorchClassifier.load(tmp_path / "newer.pt", SmallNet(64, 10))


def changed(path, **changes):
    """The content of a saved file with other JSON."""
    with safe_open(path, framework="pt") as file:
        content = json.loads(file.metadata()["cusal"])
    return save(load_file(path), metadata={"cusal": json.dumps(content | changes)})


def test_a_file_cannot_hide_a_method_of_the_classifier(model, tmp_path):
    model.save(tmp_path / "model.pt")
    with safe_open(tmp_path / "model.pt", framework="pt") as file:
        parts = json.loads(file.metadata()["cusal"])["parts"]
    parts[""]["fitted"]["predict_proba"] = 3
    (tmp_path / "odd.pt").write_bytes(changed(tmp_path / "model.pt", parts=parts))
    with pytest.raises(DataError, match="predict_proba is not the name of a fitted attribute"):
        TorchClassifier.load(tmp_path / "odd.pt", SmallNet(64, 10))


def test_what_cannot_be_saved_is_named(model, tmp_path):
    model.odd_ = object()
    with pytest.raises(InvalidInput, match="cannot be saved"):
        model.save(tmp_path / "model.pt")
    assert list(tmp_path.iterdir()) == []


def test_settings_of_numpy_types_are_saved(tmp_path, digits):
    X, y = digits
    model = TorchClassifier(
        SmallNet(64, 10), epochs=np.int64(1), learning_rate=np.float64(0.01), random_state=np.int64(3)
    )
    model.fit(X[:50], y[:50]).save(tmp_path / "m.pt")
    again = TorchClassifier.load(tmp_path / "m.pt", SmallNet(64, 10))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.get_params()["random_state"] == 3


def test_a_file_is_safetensors_with_json_and_no_pickle(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    with safe_open(tmp_path / "model.safetensors", framework="np") as file:
        content = json.loads(file.metadata()["cusal"])
        assert {name.split("/")[0] for name in file.keys()} == {":weights"}  # noqa: SIM118
    assert (content["format"], content["version"]) == ("cusal.TorchClassifier", 1)
    part = content["parts"][""]
    assert (part["objective"], part["settings"]["epochs"]) == ("cross_entropy", 20)
    assert part["fitted"]["item_shape_"] == [64]


@pytest.mark.parametrize(
    "objective",
    [CrossEntropy(), Energy(buffer_size=16, sampling_steps=2), Augmented(strengths=[0.2, 0.9], copies=1)],
    ids=lambda objective: type(objective).__name__,
)
@pytest.mark.parametrize(
    "network", [SmallNet(64, 10, hidden=8), SmallResNet(10, width=2, spectral=3.0)], ids=["net", "resnet"]
)
def test_a_loaded_classifier_continues_as_if_it_had_not_been_saved(objective, network, tmp_path):
    model = TorchClassifier(network, objective=objective, epochs=2, random_state=0, device="cpu")
    unlabelled = {"unlabelled": IMAGES[200:]} if model.uses_unlabelled else {}
    model.fit(IMAGES[:60], Y[:60], **unlabelled).save(tmp_path / "model")
    again = TorchClassifier.load(tmp_path / "model", network)
    assert again.objective == objective
    assert set(vars(again)) == set(vars(model))
    for call in ("predict_proba", "scoring_proba", "energy"):
        if hasattr(model, call):
            assert np.array_equal(getattr(again, call)(IMAGES), getattr(model, call)(IMAGES))
    for twin in (model, again):
        twin.fit(IMAGES[:100], Y[:100], **unlabelled)
    assert np.array_equal(again.predict_proba(IMAGES), model.predict_proba(IMAGES))


def test_classes_of_any_kind_are_kept(tmp_path):
    for y in (np.array(["even", "odd"])[Y % 2], Y % 2 + 4, Y % 2 * 1.0):
        model = TorchClassifier(SmallNet(64, 2), epochs=1, random_state=0).fit(IMAGES, y)
        model.save(tmp_path / "model")
        again = TorchClassifier.load(tmp_path / "model", SmallNet(64, 2))
        assert again.classes_.dtype.kind == model.classes_.dtype.kind
        assert np.array_equal(again.predict(IMAGES), model.predict(IMAGES))


def test_weights_that_are_shared_are_saved(tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.output = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 10)
            self.two.weight = self.one.weight

        def forward(self, x):
            return self.output(self.two(self.one(x.flatten(1))))

    model = TorchClassifier(Tied(), epochs=1, random_state=0).fit(IMAGES, Y)
    model.save(tmp_path / "model")
    assert np.array_equal(TorchClassifier.load(tmp_path / "model", Tied()).predict(IMAGES), model.predict(IMAGES))


def test_an_objective_of_the_users_own_is_given_at_loading(tmp_path):
    model = TorchClassifier(SmallNet(64, 10), objective=Own(2.0), epochs=1, random_state=0).fit(IMAGES, Y)
    model.save(tmp_path / "model")
    with pytest.raises(InvalidInput, match=r"holds the objective .*:Own.*load\(..., objective=...\)"):
        TorchClassifier.load(tmp_path / "model", SmallNet(64, 10))
    assert TorchClassifier.load(tmp_path / "model", SmallNet(64, 10), objective=Own(2.0)).objective == Own(2.0)


def test_a_file_of_a_subclass_with_settings_of_its_own_is_refused(tmp_path):
    class Patient(TorchClassifier):
        def __init__(self, module, *, patience=3, objective=CrossEntropy(), epochs=1):  # noqa: B008
            super().__init__(module, objective=objective, epochs=epochs)
            self.patience = patience

    Patient(SmallNet(64, 10)).fit(IMAGES, Y).save(tmp_path / "model")
    assert Patient.load(tmp_path / "model", SmallNet(64, 10)).patience == 3
    with pytest.raises(InvalidInput, match="written by another class than TorchClassifier"):
        TorchClassifier.load(tmp_path / "model", SmallNet(64, 10))


@pytest.mark.parametrize(
    ("name", "objective"),
    [("plain", CrossEntropy()), ("energy", Energy(buffer_size=8)), ("augmented", Augmented(copies=1))],
)
def test_files_that_the_version_before_wrote_are_read(name, objective):
    model = TorchClassifier.load(BEFORE / f"{name}.pt", SmallNet(4, 3, hidden=2))
    items = np.eye(4, dtype=np.float32).reshape(4, 1, 2, 2)
    assert (model.objective, model.epochs, model.random_state) == (objective, 1, 0)
    recorded = [0.3814469419819878, 0.4399705318408302, 0.17858252617718212]
    np.testing.assert_allclose(model.predict_proba(items)[0], recorded, rtol=1e-6)
    assert model.classes_.tolist() == [0, 1, 2]
    if name == "augmented":
        with pytest.raises(NotReady, match="strength of scoring"):
            model.scoring_proba(items)
    assert model.fit(items, [0, 1, 2, 0]).predict_proba(items).shape == (4, 3)
