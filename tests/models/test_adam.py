"""Adam: torch's own numbers, without torch's compiler."""

import subprocess
import sys

import pytest
import torch

from cusal.models.training import Adam

TRAIN = """
import sys
import numpy as np, torch
from cusal.models import TorchClassifier
items, labels = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32), np.arange(40) % 2
TorchClassifier(torch.nn.Linear(4, 2), epochs=2).fit(items, labels).predict_proba(items)
print("torch._dynamo" in sys.modules)
"""


def network():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3)]
    return torch.nn.Sequential(*layers).to(memory_format=torch.channels_last)


@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
def test_weights_are_those_of_torch_to_the_last_bit(weight_decay):
    ours, theirs = network(), network()
    ours[0].bias.requires_grad_(False)
    theirs[0].bias.requires_grad_(False)
    own = Adam(ours.parameters(), learning_rate=0.01, weight_decay=weight_decay)
    torchs = torch.optim.Adam(theirs.parameters(), lr=0.01, weight_decay=weight_decay, fused=True)
    for step in range(20):
        items = torch.randn(16, 1, 8, 8, generator=torch.Generator().manual_seed(step))
        own.clear()
        torchs.zero_grad()
        ours(items).square().sum().backward()
        theirs(items).square().sum().backward()
        own.step()
        torchs.step()
    assert all(torch.equal(one, other) for one, other in zip(ours.parameters(), theirs.parameters(), strict=True))


def test_without_a_gradient_nothing_moves():
    weight = torch.nn.Parameter(torch.ones(2))
    Adam([weight], learning_rate=0.1, weight_decay=0.0).step()
    assert weight.tolist() == [1, 1]


def test_training_does_not_load_the_compiler():
    assert subprocess.check_output([sys.executable, "-c", TRAIN], text=True) == "False\n"
