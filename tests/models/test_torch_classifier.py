import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from torch import nn

from cusal.errors import DataError, InvalidInput, MissingMethod, NotReady
from cusal.models.energy import EnergyClassifier
from cusal.models.networks import GarmentClassifier, MnistNet, SmallNet
from cusal.models.resnet import ResNet18
from cusal.models.torch_classifier import TorchClassifier


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return (X / 16).astype(np.float32), y


@pytest.fixture
def model(digits):
    X, y = digits
    return TorchClassifier(SmallNet(64, 10), epochs=20, random_state=3).fit(X[:300], y[:300])


def test_learns_digits(digits):
    X, y = digits
    model = TorchClassifier(SmallNet(64, 10), epochs=60, random_state=0).fit(X[:800], y[:800])
    assert model.score(X[800:], y[800:]) > 0.88
    assert np.array_equal(model.predict(X), model.predict_proba(X).argmax(1))


def test_rows_sum_to_one_and_tiny_probabilities_survive(digits, model):
    X, _ = digits
    probs = model.predict_proba(X)
    assert probs.dtype == np.float64
    assert np.abs(probs.sum(1) - 1).max() < 1e-12
    with torch.no_grad():
        model.module_.output.weight *= 50
    assert 0 < model.predict_proba(X).min() < 1e-50


def test_all_classes_come_back_though_few_were_met(digits):
    X, y = digits
    few = y < 3
    model = TorchClassifier(SmallNet(64, 10), epochs=1, random_state=0).fit(X[few], y[few])
    assert model.classes_.tolist() == list(range(10))
    assert model.predict_proba(X[:4]).shape == (4, 10)


def test_the_same_seed_gives_the_same_model_whatever_the_global_generator(digits):
    X, y = digits
    probs = []
    for disturbance in range(2):
        torch.rand(disturbance + 1)
        fitted = TorchClassifier(SmallNet(64, 10, dropout=0.3), epochs=3, random_state=7).fit(X[:200], y[:200])
        probs.append(fitted.predict_proba(X))
    assert np.array_equal(*probs)
    other = TorchClassifier(SmallNet(64, 10, dropout=0.3), epochs=3, random_state=8).fit(X[:200], y[:200])
    assert not np.array_equal(other.predict_proba(X), probs[0])


def test_the_global_generator_is_left_untouched(digits):
    X, y = digits
    module = SmallNet(64, 10, dropout=0.3)
    before = torch.random.get_rng_state()
    fitted = TorchClassifier(module, epochs=2, random_state=7).fit(X[:100], y[:100])
    fitted.sample_proba(X[:10], 3)
    fitted.predict_proba(X[:10])
    assert torch.equal(torch.random.get_rng_state(), before)


def test_without_a_seed_two_fits_differ(digits):
    X, y = digits
    models = [TorchClassifier(SmallNet(64, 10), epochs=1).fit(X[:50], y[:50]) for _ in range(2)]
    assert not np.array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


def test_a_warm_start_goes_on_and_a_cold_one_begins_anew(digits):
    X, y = digits
    warm = TorchClassifier(SmallNet(64, 10), epochs=5, random_state=0)
    cold = TorchClassifier(SmallNet(64, 10), epochs=5, random_state=0, warm_start=False)
    once, twice = warm.fit(X, y).predict_proba(X), warm.fit(X, y).predict_proba(X)
    assert np.log(twice[np.arange(len(y)), y]).mean() > np.log(once[np.arange(len(y)), y]).mean()
    assert np.array_equal(cold.fit(X, y).predict_proba(X), once)
    assert np.array_equal(cold.fit(X, y).predict_proba(X), once)


def test_the_module_given_stays_as_it_is(digits):
    X, y = digits
    module = SmallNet(64, 10)
    before = copy.deepcopy(module.state_dict())
    TorchClassifier(module, epochs=1, random_state=0).fit(X[:20], y[:20])
    assert all(torch.equal(weights, before[name]) for name, weights in module.state_dict().items())


def test_tensors_and_arrays_of_any_number_type_give_the_same(digits, model):
    X, _ = digits
    expected = model.predict_proba(X)
    readonly = X.copy()
    readonly.flags.writeable = False
    for items in (torch.from_numpy(X), X.astype(np.float64), readonly, np.asfortranarray(X), X.tolist()):
        assert np.array_equal(model.predict_proba(items), expected)


def test_a_row_does_not_depend_on_its_neighbours_but_for_rounding(digits, model):
    X, _ = digits
    alone = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(20)])
    assert np.allclose(alone, model.predict_proba(X)[:20], rtol=1e-5, atol=1e-12)


def test_no_rows_give_no_predictions(digits, model):
    X, _ = digits
    assert model.predict_proba(X[:0]).shape == (0, 10)
    assert model.embed(X[:0]).shape == (0, 64)
    assert model.sample_proba(X[:0], 2).shape == (0, 2, 10)


def test_embed_gives_what_the_last_layer_sees(digits, model):
    X, _ = digits
    embeddings = model.embed(X)
    assert embeddings.shape == (len(X), 64)
    with torch.inference_mode():
        logits = model.module_.output(torch.from_numpy(embeddings)).double()
    assert np.allclose(torch.softmax(logits, 1).numpy(), model.predict_proba(X))
    assert not model.module_.output._forward_pre_hooks


@pytest.mark.parametrize(("network", "width"), [(MnistNet, 50), (GarmentClassifier, 84)])
def test_the_papers_networks_train_embed_and_sample(network, width):
    images = np.random.default_rng(0).normal(size=(12, 1, 28, 28))
    model = TorchClassifier(network(), epochs=2, random_state=0).fit(images, np.arange(12) % 10)
    assert model.predict_proba(images).shape == (12, 10)
    assert model.embed(images).shape == (12, width)
    samples = model.sample_proba(images, 4)
    assert samples.shape == (12, 4, 10)
    assert samples.std(axis=1).max() > 1e-3


def test_a_residual_network_trains_though_a_single_row_is_left_over():
    images = np.random.default_rng(0).normal(size=(3, 3, 32, 32))
    model = TorchClassifier(ResNet18(4), epochs=1, batch_size=2, random_state=0).fit(images, [0, 1, 3])
    assert model.embed(images).shape == (3, 512)


def test_samples_are_repeatable_differ_and_keep_one_mask_for_all_rows(digits, model):
    X, _ = digits
    samples = model.sample_proba(X[:50], 5)
    assert samples.shape == (50, 5, 10)
    assert np.allclose(samples.sum(2), 1)
    torch.rand(3)
    assert np.array_equal(model.sample_proba(X[:50], 5), samples)
    assert np.allclose(model.sample_proba(X[10:20], 5), samples[10:20], rtol=1e-5)
    assert np.allclose(model.sample_proba(X[:50], 3), samples[:, :3])
    assert samples.std(axis=1).max() > 0.01
    twins = model.sample_proba(np.repeat(X[:1], 4, axis=0), 5)
    assert np.allclose(twins, twins[:1])


@pytest.mark.parametrize("network", [MnistNet, GarmentClassifier])
def test_sampling_in_halves_equals_sampling_the_whole_network(network):
    images = np.random.default_rng(0).normal(size=(6, 1, 28, 28))
    model = TorchClassifier(network(), epochs=1, random_state=0).fit(images, np.arange(6))
    halves = model.sample_proba(images, 3)
    model.module_ = nn.Sequential(model.module_)
    model.module_.sample_dropout = 0.5
    assert np.allclose(model.sample_proba(images, 3), halves, atol=1e-6)


def test_sampling_leaves_predictions_as_they_were(digits, model):
    X, _ = digits
    before = model.predict_proba(X[:10])
    model.sample_proba(X[:10], 2)
    assert np.array_equal(model.predict_proba(X[:10]), before)


def test_sampling_drops_at_the_layers_own_rate_where_the_module_names_none(digits):
    X, y = digits
    module = nn.Sequential(nn.Linear(64, 400), nn.Dropout(0.25), nn.ReLU(), nn.Linear(400, 10))
    model = TorchClassifier(module, epochs=1, random_state=0).fit(X[:40], y[:40])
    seen = []
    model.module_[1].register_forward_hook(lambda layer, inputs, output: seen.append((inputs[0], output)))
    model.sample_proba(X[:3], 1)
    before, after = seen[0]
    # The hook of sampling was added later, so this one sees the layer's untouched output.
    assert torch.equal(before, after)
    assert not np.allclose(model.sample_proba(X[:3], 1)[:, 0], model.predict_proba(X[:3]))


@pytest.mark.parametrize("rate", [0.0, None])
def test_sampling_without_dropout_is_an_error(digits, rate):
    X, y = digits
    parts = [nn.Linear(64, 10)] if rate is None else [nn.Dropout(rate), nn.Linear(64, 10)]
    model = TorchClassifier(nn.Sequential(*parts), epochs=1, random_state=0).fit(X[:20], y[:20])
    with pytest.raises(MissingMethod, match=r"nn\.Dropout"):
        model.sample_proba(X[:2], 3)


def test_embedding_without_a_linear_layer_is_an_error():
    module = nn.Sequential(nn.Conv2d(1, 3, 4), nn.Flatten())
    model = TorchClassifier(module, epochs=1, random_state=0).fit(np.zeros((3, 1, 4, 4)), [0, 1, 2])
    with pytest.raises(MissingMethod, match=r"nn\.Linear"):
        model.embed(np.zeros((1, 1, 4, 4)))


def test_copies_keep_the_weights(digits, model):
    X, _ = digits
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(twin.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(twin.sample_proba(X[:5], 2), model.sample_proba(X[:5], 2))


def test_a_clone_has_the_settings_but_no_weights(digits, model):
    twin = clone(model.set_params(epochs=2))
    assert twin.epochs == 2
    assert twin.random_state == 3
    with pytest.raises(NotReady, match="fit"):
        twin.predict_proba(digits[0])


@pytest.mark.slow
def test_a_saved_model_comes_back_in_another_process_and_goes_on_the_same(digits, model, tmp_path):
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
    with pytest.raises(DataError, match="does not exist"):
        TorchClassifier.load(tmp_path / "none.pt", SmallNet(64, 10))
    (tmp_path / "text.pt").write_text("no weights")
    with pytest.raises(DataError, match=r"text\.pt"):
        TorchClassifier.load(tmp_path / "text.pt", SmallNet(64, 10))
    model.save(tmp_path / "model.pt")
    (tmp_path / "half.pt").write_bytes((tmp_path / "model.pt").read_bytes()[:500])
    with pytest.raises(DataError, match=r"half\.pt"):
        TorchClassifier.load(tmp_path / "half.pt", SmallNet(64, 10))
    with pytest.raises(InvalidInput, match="another architecture"):
        TorchClassifier.load(tmp_path / "model.pt", SmallNet(64, 11))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.array([[0.0, 1], [np.nan, 0]]), [0, 1], "row 1 holds NaN"),
        (np.array([[0.0, 1], [1e300, 0]]), [0, 1], "row 1"),
        (np.zeros((2, 2)), [0, 3], "row 1 is 3"),
        (np.zeros((2, 2)), [0, -1], "row 1 is -1"),
        (np.zeros((2, 2)), [0.0, 1.0], "float64"),
        (np.zeros((2, 2)), [0], r"\(1,\)"),
        (np.zeros((0, 2)), [], r"\(0, 2\)"),
        (np.zeros(2), [0, 1], r"\(2,\)"),
        (np.zeros((2, 5)), [0, 1], r"does not accept items of shape \(5,\)"),
        (np.array([["a", "b"], ["c", "d"]]), [0, 1], "expected numbers"),
    ],
)
def test_bad_data_are_named_and_change_nothing(X, y, message):
    model = TorchClassifier(SmallNet(2, 3), epochs=1, random_state=0).fit(np.eye(2), [0, 1])
    before = model.predict_proba(np.eye(2))
    with pytest.raises(InvalidInput, match=message):
        model.fit(X, y)
    assert np.array_equal(model.predict_proba(np.eye(2)), before)


@pytest.mark.parametrize(
    "setting",
    [{"epochs": 0}, {"batch_size": 2.5}, {"learning_rate": -1}, {"weight_decay": -1}, {"random_state": "x"}],
)
def test_bad_settings_are_named(setting):
    (name,) = setting
    with pytest.raises(InvalidInput, match=name):
        TorchClassifier(SmallNet(2, 2), **setting).fit(np.eye(2), [0, 1])


def test_prediction_checks_its_input(model):
    with pytest.raises(InvalidInput, match=r"\(n, 64\)"):
        model.predict_proba(np.zeros((2, 63)))
    rows = np.zeros((5000, 64))
    rows[4321, 7] = np.inf
    with pytest.raises(InvalidInput, match="row 4321"):
        model.predict_proba(rows)
    with pytest.raises(InvalidInput, match="n is 0"):
        model.sample_proba(np.zeros((2, 64)), 0)


@pytest.mark.parametrize("call", ["predict_proba", "predict", "embed", "save"])
def test_nothing_works_before_the_first_fit(call, tmp_path):
    with pytest.raises(NotReady, match="fit"):
        getattr(TorchClassifier(SmallNet(2, 2)), call)(tmp_path / "x")


def test_a_module_must_give_logits_for_two_or_more_classes():
    with pytest.raises(InvalidInput, match="two or more"):
        TorchClassifier(nn.Linear(2, 1)).fit(np.eye(2), [0, 0])


def test_diverging_training_is_an_error_and_keeps_the_model():
    model = TorchClassifier(nn.Linear(2, 2), epochs=3, random_state=0).fit(np.eye(2), [0, 1])
    before = model.predict_proba(np.eye(2))
    with pytest.raises(InvalidInput, match="diverged"):
        model.set_params(learning_rate=1e37).fit(np.eye(2) * 1e10, [0, 1])
    assert np.array_equal(model.predict_proba(np.eye(2)), before)


def test_a_pickle_from_before_a_parameter_was_added_goes_on(digits, model):
    X, y = digits
    state = {name: value for name, value in model.__getstate__().items() if name != "precision"}
    older = TorchClassifier.__new__(TorchClassifier)
    older.__setstate__(state)
    assert older.get_params()["precision"] == "float32"
    assert np.array_equal(older.fit(X[:50], y[:50]).predict_proba(X), model.fit(X[:50], y[:50]).predict_proba(X))


def test_given_weights_are_discarded_unless_pretrained_or_frozen(digits, model):
    X, y = digits
    settings = {"epochs": 1, "learning_rate": 1e-9, "random_state": 0}
    given = copy.deepcopy(model.module_)
    assert TorchClassifier(given, **settings).fit(X, y).score(X, y) < 0.5
    kept = TorchClassifier(given, pretrained=True, **settings).fit(X, y)
    np.testing.assert_allclose(kept.predict_proba(X), model.predict_proba(X), atol=1e-5)
    given.requires_grad_(False)
    last = [layer for layer in given.modules() if isinstance(layer, nn.Linear)][-1].requires_grad_(True)
    head = TorchClassifier(given, epochs=30, learning_rate=0.01, random_state=0).fit(X[:300], y[:300])
    assert np.array_equal(head.embed(X), model.embed(X))
    assert head.score(X, y) > 0.8
    assert last.weight.equal(given.get_parameter([name for name, _ in given.named_parameters()][-2]))


def test_settings_of_numpy_types_are_saved_and_another_class_is_refused(tmp_path, digits):
    X, y = digits
    model = TorchClassifier(
        SmallNet(64, 10), epochs=np.int64(1), learning_rate=np.float64(0.01), random_state=np.int64(3)
    )
    model.fit(X[:50], y[:50]).save(tmp_path / "m.pt")
    again = TorchClassifier.load(tmp_path / "m.pt", SmallNet(64, 10))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.get_params()["random_state"] == 3
    with pytest.raises(InvalidInput, match="holds a TorchClassifier"):
        EnergyClassifier.load(tmp_path / "m.pt", SmallNet(64, 10))
