import copy
import pickle

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from cusal import Session
from cusal.errors import InvalidInput
from cusal.models.networks import SmallResNet
from cusal.models.spectral import SpectralConv2d
from cusal.models.torch_classifier import TorchClassifier
from cusal.recalibration.temperature_scaled import TemperatureScaled
from cusal.strategies.ddu import class_log_density

X, Y = load_digits(return_X_y=True)
X = (X.reshape(-1, 1, 8, 8) / 8 - 1).astype(np.float32)
BOUND = 0.5  # below what the layers start with, so that it acts


def classifier(spectral: float | None = BOUND, **settings) -> TorchClassifier:
    module = SmallResNet(10, width=8, spectral=spectral)
    return TorchClassifier(module, **{"epochs": 12, "batch_size": 50, "random_state": 0, **settings})


@pytest.fixture(scope="module")
def trained():
    return classifier().fit(X[:200], Y[:200])


def operator_norm(layer: nn.Module, shape: tuple[int, ...]) -> float:
    """The largest singular value of the layer's matrix, written out by asking it about every unit vector."""
    count = int(np.prod(shape))
    bias = layer.bias if layer.bias is not None else 0
    with torch.inference_mode():
        matrix = layer.eval()(torch.eye(count).reshape(count, *shape)) - bias
    return float(torch.linalg.matrix_norm(matrix.flatten(1).double(), 2))


def test_every_convolution_of_a_trained_network_is_bounded(trained):
    shapes: dict[nn.Module, tuple[int, ...]] = {}

    def remember(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        shapes[layer] = tuple(inputs[0].shape[1:])

    module = copy.deepcopy(trained.module_)
    layers = [layer for layer in module.modules() if isinstance(layer, nn.Conv2d)]
    handles = [layer.register_forward_pre_hook(remember) for layer in layers]
    module(torch.from_numpy(X[:2]))
    for handle in handles:
        handle.remove()
    assert len(shapes) == 7
    for layer, shape in shapes.items():
        assert isinstance(layer, SpectralConv2d)
        assert 0.98 * BOUND < operator_norm(layer, shape) < 1.02 * BOUND


@pytest.mark.parametrize(("kernel", "stride", "side"), [(1, 1, 4), (3, 1, 6), (3, 2, 6), (3, 2, 7), (5, 3, 8)])
def test_a_convolution_is_bounded_as_an_operator(kernel, stride, side):
    torch.manual_seed(0)
    layer = SpectralConv2d(2, 3, kernel, coefficient=0.2, stride=stride, padding=kernel // 2)
    for _ in range(50):
        layer(torch.zeros(1, 2, side, side))
    assert operator_norm(layer, (2, side, side)) == pytest.approx(0.2, rel=0.01)


def test_the_reshaped_weight_would_be_another_bound():
    layer = SpectralConv2d(1, 1, 3, coefficient=3.0, padding=1)
    nn.init.ones_(layer.weight)  # as a matrix of one row it has norm 3, but an image of ones becomes one of nines
    for _ in range(20):
        layer(torch.zeros(1, 1, 12, 12))
    assert operator_norm(layer, (1, 12, 12)) == pytest.approx(3, rel=0.01)
    assert float(layer.bounded_weight((1, 12, 12)).detach().max()) < 0.4


@pytest.mark.parametrize("training", [True, False])
def test_a_layer_below_the_bound_is_left_alone(training):
    torch.manual_seed(0)
    x = torch.randn(2, 3, 5, 5)
    layer = SpectralConv2d(3, 4, 3, coefficient=50.0, padding=1).train(training)
    assert torch.equal(layer(x), nn.functional.conv2d(x, layer.weight, padding=1))


def test_training_follows_the_norm_by_one_step_and_prediction_by_none():
    torch.manual_seed(0)
    layer, x = SpectralConv2d(2, 2, 3, coefficient=0.1, padding=1), torch.randn(1, 2, 6, 6)
    layer(x)
    before = layer.direction
    layer.eval()
    assert torch.equal(layer(x), layer(x))
    assert layer.direction is before
    layer.train()(x)
    assert 0 < float((layer.direction - before).norm()) < 0.5
    assert float(layer.direction.norm()) == pytest.approx(1)


def test_prediction_is_bounded_before_any_training():
    torch.manual_seed(0)
    layer = SpectralConv2d(2, 3, 3, coefficient=0.1, padding=1)
    assert operator_norm(layer, (2, 6, 6)) == pytest.approx(0.1, rel=0.03)
    assert layer.direction.numel() == 0


@pytest.mark.parametrize(("trained_on", "side"), [(3, 12), (12, 3), (3, 4)])
def test_prediction_is_bounded_on_images_of_another_size_and_remembers_only_that_of_training(trained_on, side):
    torch.manual_seed(0)
    layer = SpectralConv2d(2, 3, 3, coefficient=0.1, padding=1)
    for _ in range(20):
        layer(torch.zeros(1, 2, trained_on, trained_on))
    before = layer.direction
    assert operator_norm(layer, (2, side, side)) == pytest.approx(0.1, rel=0.05)
    assert layer.direction is before
    layer.train()(torch.zeros(1, 2, side, side))
    assert layer.direction.shape == (2, side, side)


def test_gradients_pass_through_the_norm():
    torch.manual_seed(0)
    layer = SpectralConv2d(5, 4, 1, coefficient=0.1)
    for _ in range(200):
        layer(torch.zeros(1, 5, 1, 1))
    layer(torch.randn(3, 5, 1, 1)).square().sum().backward()
    weight, gradient = layer.weight.detach(), layer.weight.grad
    # A bounded layer does not change with the length of its weight, so no gradient points along it.
    assert abs(float((weight * gradient).sum())) < 1e-4 * float(weight.norm() * gradient.norm())


def test_two_batches_can_be_differentiated_together():
    layer = SpectralConv2d(3, 2, 1, coefficient=0.1)
    (layer(torch.ones(1, 3, 1, 1)) + layer(torch.zeros(1, 3, 1, 1))).sum().backward()
    assert torch.isfinite(layer.weight.grad).all()


def test_weights_of_zero_do_no_harm_and_can_grow():
    layer = SpectralConv2d(3, 2, 1, coefficient=1.0)
    nn.init.zeros_(layer.weight)
    layer(torch.ones(1, 3, 1, 1)).sum().backward()
    assert torch.isfinite(layer.weight.grad).all()
    nn.init.ones_(layer.weight)
    layer(torch.ones(1, 3, 1, 1))
    assert operator_norm(layer, (3, 1, 1)) == pytest.approx(1)


def test_a_bounded_network_trains_in_bfloat16():
    model = classifier(epochs=2, precision="bfloat16").fit(X[:100], Y[:100])
    assert model.predict_proba(X[:5]).sum(1) == pytest.approx(1)
    layer = next(part for part in model.module_.modules() if isinstance(part, SpectralConv2d))
    assert layer.direction.dtype == torch.float32


def test_the_search_draws_nothing_from_the_generator_of_training():
    layer = SpectralConv2d(1, 2, 3, coefficient=1.0)
    before = torch.random.get_rng_state()
    layer(torch.zeros(1, 1, 5, 5))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_copies_and_files_predict_the_same(trained, tmp_path):
    expected = trained.predict_proba(X[:20])
    trained.save(tmp_path / "model.pt")
    fresh = SmallResNet(10, width=8, spectral=BOUND)  # has met no image yet, and so no size
    for other in (
        copy.deepcopy(trained),
        pickle.loads(pickle.dumps(trained)),
        TorchClassifier.load(tmp_path / "model.pt", fresh),
    ):
        assert np.array_equal(other.predict_proba(X[:20]), expected)
        assert other.set_params(epochs=1).fit(X[:50], Y[:50]).predict_proba(X[:5]).shape == (5, 10)


def test_the_same_seed_trains_the_same_network_also_after_a_reset():
    first = classifier(epochs=2).fit(X[:60], Y[:60])
    again = TorchClassifier(first.module_, epochs=2, batch_size=50, random_state=0).fit(X[:60], Y[:60])
    weights = [[*model.module_.state_dict().values()] for model in (first, again)]
    assert all(torch.equal(a, b) for a, b in zip(*weights, strict=True))


def test_a_warm_start_goes_on_with_the_direction_found():
    model = classifier(epochs=1).fit(X[:60], Y[:60])
    before: Tensor = model.module_.stem[0].direction
    model.fit(X[:60], Y[:60])
    assert float((model.module_.stem[0].direction * before).sum()) > 0.9


def test_ddu_runs_with_it_and_with_a_temperature_around():
    model = TemperatureScaled(classifier(3.0, epochs=3, random_state=None))
    labelled = {i: int(Y[i]) for i in range(40)}
    session = Session(X[:200], model, "ddu", labelled=labelled, classes=range(10))
    asked: set[int] = set()
    for _ in range(2):
        query = session.ask(5)
        assert asked.isdisjoint(query.indices.tolist())
        asked.update(query.indices.tolist())
        session.tell(query.indices, Y[query.indices])
    assert len(session.labels) == 50
    assert session.view.embeddings.shape == (150, 16)
    assert np.allclose(session.predict_proba(X[:3]).sum(1), 1)


def test_noise_and_scrambled_digits_have_a_lower_density_than_unseen_digits(trained):
    evidence = (trained.embed(X[:200]), Y[:200])
    unseen = X[200:500]
    rng = np.random.default_rng(0)
    scrambled = rng.permuted(unseen.reshape(300, 64), axis=1).reshape(unseen.shape)
    noise = rng.normal(X.mean(), X.std(), X[:300].shape).astype(np.float32)

    def density(items):
        return class_log_density(trained.embed(items), evidence, covariance="shared", jitter=1e-2)

    for strange in (scrambled, noise):
        densities = np.concatenate([density(unseen), density(strange)])
        assert roc_auc_score(np.arange(600) < 300, densities) > 0.8


@pytest.mark.parametrize("coefficient", [0.0, -1.0, float("nan")])
def test_a_coefficient_that_bounds_nothing_is_an_error(coefficient):
    with pytest.raises(InvalidInput, match="coefficient"):
        SmallResNet(10, spectral=coefficient)
