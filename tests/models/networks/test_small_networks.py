import pytest
import torch
from torch import nn

from cusal.models.networks import GarmentClassifier, MnistNet, SmallNet
from cusal.models.networks._pooling import max_pool


def parameters(module: nn.Module) -> int:
    return sum(weights.numel() for weights in module.parameters())


def test_have_the_published_numbers_of_parameters():
    assert parameters(MnistNet()) == 21_840
    assert parameters(GarmentClassifier()) == 44_426
    assert parameters(SmallNet(64, 10, hidden=64)) == 64 * 64 + 64 + 64 * 10 + 10


@pytest.mark.parametrize("network", [MnistNet, GarmentClassifier])
def test_give_one_logit_for_each_class(network):
    assert network(7)(torch.zeros(3, 1, 28, 28)).shape == (3, 7)


def test_small_net_takes_rows_in_any_shape_and_several_hidden_layers():
    assert SmallNet(64, 10, hidden=(32, 16))(torch.zeros(2, 1, 8, 8)).shape == (2, 10)
    assert SmallNet(5, 3)(torch.zeros(2, 5)).shape == (2, 3)


@pytest.mark.parametrize("size", [(24, 24), (7, 5), (2, 3)])
def test_max_pool_is_torch_s_with_and_without_gradients(size):
    x = torch.randn(4, 3, *size, generator=torch.Generator().manual_seed(0))
    expected = nn.functional.max_pool2d(x, 2)
    assert torch.equal(max_pool(x), expected)
    assert torch.equal(max_pool(x.clone().requires_grad_()), expected)


@pytest.mark.parametrize("network", [MnistNet, GarmentClassifier])
def test_prediction_equals_a_plain_network_of_torch_s_layers(network):
    net = network().eval()
    x = torch.randn(5, 1, 28, 28, generator=torch.Generator().manual_seed(1))
    linear = [layer for layer in net.modules() if isinstance(layer, nn.Linear)]
    with torch.inference_mode():
        hidden = nn.functional.max_pool2d(net.conv1(x), 2).relu()
        hidden = nn.functional.max_pool2d(net.conv2(hidden), 2).relu().flatten(1)
        for layer in linear[:-1]:
            hidden = layer(hidden).relu()
        assert torch.allclose(net(x), linear[-1](hidden), atol=1e-6)


def test_training_dropout_is_off_unless_asked_for():
    x = torch.ones(2, 1, 28, 28)
    still, noisy = MnistNet().train(), MnistNet(dropout=0.5).train()
    assert torch.equal(still(x), still(x))
    assert not torch.equal(noisy(x), noisy(x))
