import pytest
import torch
from torch import nn

from cusal.apps.bench.variants import build_module
from cusal.models.networks import ResNet18, ResNet50, SmallResNet
from cusal.models.networks._residual import AveragingShortcut
from cusal.models.spectral import SpectralConv2d


def parameters(module: nn.Module) -> int:
    return sum(weights.numel() for weights in module.parameters())


def test_have_the_published_numbers_of_parameters():
    assert parameters(ResNet18(10)) == 11_173_962
    assert parameters(ResNet50(1000)) == 25_557_032


def test_the_small_one_is_small():
    assert parameters(SmallResNet(10)) == 38_554
    assert parameters(SmallResNet(10, spectral=3.0)) == 37_690  # shortcuts without weights
    assert parameters(SmallResNet(10, width=8)) < 12_000


@pytest.mark.parametrize("spectral", [None, 3.0])
@pytest.mark.parametrize(("channels", "side"), [(1, 8), (1, 28), (3, 32), (2, 7)])
def test_the_small_one_takes_images_of_several_sizes(spectral, channels, side):
    net = SmallResNet(4, channels=channels, spectral=spectral).eval()
    with torch.inference_mode():
        x = torch.zeros(2, channels, side, side)
        assert net(x).shape == (2, 4)
        assert net.before_dropout(x).shape == (2, 32)


@pytest.mark.parametrize("network", [ResNet18, ResNet50, SmallResNet])
def test_ddu_s_form_bounds_every_convolution_and_leaks(network):
    net = network(5, channels=1, spectral=3.0)
    layers = list(net.modules())
    assert all(isinstance(layer, SpectralConv2d) for layer in layers if isinstance(layer, nn.Conv2d))
    assert not any(isinstance(layer, nn.ReLU) for layer in layers)
    assert any(isinstance(layer, AveragingShortcut) for layer in layers)
    for layer in layers:
        if isinstance(layer, SpectralConv2d):
            assert layer.coefficient == 3.0
    plain = [type(layer) for layer in network(5, channels=1).modules()]
    assert SpectralConv2d not in plain
    assert nn.LeakyReLU not in plain


@pytest.mark.parametrize("stride", [1, 2])
def test_the_averaging_shortcut_averages_and_adds_channels_of_zeros(stride):
    x = torch.arange(9.0).reshape(1, 1, 3, 3)
    y = AveragingShortcut(2, stride)(x)
    averages = x if stride == 1 else torch.tensor([[[[2.0, 3.5], [6.5, 8.0]]]])
    assert torch.equal(y[:, :1], averages)
    assert torch.equal(y[:, 1:], torch.zeros(1, 2, *averages.shape[2:]))


def test_a_grid_s_network_is_told_the_channels_of_the_items():
    net = build_module({"name": "small_resnet", "spectral": 3.0, "width": 8}, (2, 8, 8), 3).eval()
    assert isinstance(net, SmallResNet)
    assert net(torch.zeros(1, 2, 8, 8)).shape == (1, 3)
    assert build_module({"name": "resnet18", "channels": 4}, (4, 32, 32), 3).stem[0].in_channels == 4


@pytest.mark.parametrize(("network", "stem_size", "last_size", "size"), [(ResNet18, 32, 4, 32), (ResNet50, 56, 7, 224)])
def test_reduce_the_image_as_published(network, stem_size, last_size, size):
    net = network(5).eval()
    with torch.inference_mode():
        stem = net.stem(torch.zeros(1, 3, size, size))
        assert stem.shape[1:] == (64, stem_size, stem_size)
        assert net.blocks(stem).shape[2:] == (last_size, last_size)
        assert net(torch.zeros(1, 3, size, size)).shape == (1, 5)


def test_reset_draws_every_weight_anew_from_the_seed():
    net = ResNet18(3)
    weights = []
    for seed in (0, 0, 1):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            net.reset_parameters()
        weights.append(torch.cat([part.detach().flatten() for part in net.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
