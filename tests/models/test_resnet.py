import pytest
import torch
from torch import nn

from cusal.models.resnet import ResNet18, ResNet50


def parameters(module: nn.Module) -> int:
    return sum(weights.numel() for weights in module.parameters())


def test_have_the_published_numbers_of_parameters():
    assert parameters(ResNet18(10)) == 11_173_962
    assert parameters(ResNet50(1000)) == 25_557_032


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
