"""Convolution, pooling and ReLU in one pass: the same values as torch's."""

import numpy as np
import pytest
import torch
from torch import nn

from cusal.models import TorchClassifier
from cusal.models import _direct_convolution as direct
from cusal.models.networks import GarmentClassifier, MnistNet
from cusal.models.networks._pooling import MANY, convolve_and_pool, predicting


def images(count, *shape, seed=0):
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(seed))


def layers(*sizes):
    """Return convolutions (inputs, outputs, kernel) with weights that are always the same."""
    generator = torch.Generator().manual_seed(1)
    made = [nn.Conv2d(*size) for size in sizes]
    for parameter in nn.ModuleList(made).parameters():
        nn.init.normal_(parameter, generator=generator)
    return made


def weights_of(made):
    return [layer.weight for layer in made], [layer.bias for layer in made]


@torch.inference_mode()
def plain(x, made):
    for layer in made:
        x = nn.functional.max_pool2d(layer(x), 2).relu()
    return x


@pytest.mark.parametrize("count", [1, 16, 35])
@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        ((1, 28, 28), [(1, 10, 5), (10, 20, 5)]),
        ((3, 17, 19), [(3, 5, (3, 5)), (5, 7, (2, 5))]),
        ((2, 6, 9), [(2, 1, (1, 5))]),
        ((1, 40, 40), [(1, 3, 5), (3, 4, (4, 5)), (4, 5, (3, 5))]),
    ],
)
def test_gives_what_torch_gives(count, shape, sizes):
    x, made = images(count, *shape), layers(*sizes)
    expected = plain(x, made)
    assert direct.can_run(x, made)
    found = direct.run(x, *weights_of(made))
    assert found.shape == expected.shape
    assert (found - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_takes_images_in_any_memory_layout():
    x, made = images(9, 3, 14, 14), layers((3, 4, 5))
    found = direct.run(x.to(memory_format=torch.channels_last), *weights_of(made))
    assert torch.equal(found, direct.run(x, *weights_of(made)))


def test_an_image_s_result_depends_on_no_other_image_and_on_no_number_of_threads():
    x, (weights, biases) = images(45, 1, 28, 28), weights_of(layers((1, 6, 5), (6, 16, 5)))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = direct.run(x, weights, biases)
        torch.set_num_threads(3)
        shared = direct.run(x, weights, biases)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(shared, alone)
    assert torch.equal(direct.run(x[21:24], weights, biases), alone[21:24])
    assert direct.run(x[:0], weights, biases).shape == (0, 16, 4, 4)


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(1, 2, 5, padding=1),
        nn.Conv2d(1, 2, 5, stride=2),
        nn.Conv2d(1, 2, 5, dilation=2),
        nn.Conv2d(1, 2, 5, bias=False),
        nn.Conv2d(1, 2, 5).double(),
        nn.Conv2d(1, 2, (5, 3)),
        nn.Sequential(nn.Conv2d(1, 2, 5)),
        nn.utils.parametrizations.spectral_norm(nn.Conv2d(1, 2, 5)),
    ],
)
def test_leaves_other_layers_to_torch(layer):
    assert not direct.can_run(images(3, 1, 8, 8), [layer])


def test_leaves_hooks_other_numbers_and_other_precisions_to_torch():
    x, made = images(3, 1, 8, 8), layers((1, 2, 5))
    assert not direct.can_run(x.double(), made)
    with torch.autocast("cpu", torch.bfloat16):
        assert not direct.can_run(x, made)
    made[0].register_forward_hook(lambda layer, inputs, output: output + 1)
    assert not direct.can_run(x, made)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_leaves_what_is_no_number_to_torch(wrong):
    x, made = images(3, 1, 8, 8), layers((1, 2, 5))
    assert direct.can_run(x, made)
    x[1, 0, 2, 2] = wrong
    assert not direct.can_run(x, made)
    nn.init.constant_(made[0].bias, wrong)
    assert not direct.can_run(images(3, 1, 8, 8), made)


@torch.inference_mode()
def test_serves_predictions_of_many_items_alone():
    x, made = images(11, 1, 28, 28), layers((1, 10, 5), (10, 20, 5))
    with predicting(MANY):
        assert torch.equal(convolve_and_pool(x, *made), direct.run(x, *weights_of(made)))
    with predicting(MANY - 1):
        assert torch.equal(convolve_and_pool(x, *made), plain(x, made))
    assert torch.equal(convolve_and_pool(x, *made), plain(x, made))


@pytest.mark.parametrize("network", [MnistNet, GarmentClassifier])
def test_many_items_are_predicted_and_embedded_as_few_are(network):
    items = np.random.default_rng(0).standard_normal((MANY + 5, 1, 28, 28), dtype=np.float32)
    model = TorchClassifier(network(), epochs=1, random_state=0, device="cpu").fit(items[:20], np.arange(20) % 10)
    few = items[-200:]
    assert np.allclose(model.predict_proba(items)[-200:], model.predict_proba(few), rtol=0, atol=1e-6)
    assert np.allclose(model.embed(items)[-200:], model.embed(few), rtol=1e-5, atol=1e-5)
