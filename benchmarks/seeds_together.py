"""Training steps of several seeds of MnistNet at once, beside one after the other: would grids gain by it?

    python benchmarks/seeds_together.py

Seeds at once share each call: convolutions in groups, one for each seed, and batched products. Processor seconds on one
thread, the fastest of `--turns`, in which the two ways take turns.
"""

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, cross_entropy, max_pool2d

from cusal.models.networks import MnistNet

STEPS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=20, help="items in a step; all that are labelled at first")
    options = parser.parse_args()
    torch.set_num_threads(1)
    x, y = torch.randn(options.seeds, options.batch, 1, 28, 28), torch.randint(10, (options.seeds, options.batch))
    ways = one_by_one(x, y), together(x, y)
    turns = [[seconds(way) for way in ways] for _ in range(options.turns)]
    single, shared = (1e3 * min(times) / STEPS / options.seeds for times in zip(*turns, strict=True))
    ratios = sorted(first / second for first, second in turns)
    print(
        f"batches of {options.batch}: {single:.2f} ms a step and seed one by one, {shared:.2f} together, "
        f"gain {ratios[len(ratios) // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )


def seconds(way: Callable[[], None]) -> float:
    start = time.process_time()
    for _ in range(STEPS):
        way()
    return time.process_time() - start


def stepping(loss: Callable[[], Tensor], parameters: list[Tensor]) -> Callable[[], None]:
    """Return a function that does one step of Adam."""
    optimiser = torch.optim.Adam(parameters, fused=True)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        loss().backward()
        optimiser.step()

    return step


def one_by_one(x: Tensor, y: Tensor) -> Callable[[], None]:
    def loss(net: nn.Module, items: Tensor, labels: Tensor) -> Callable[[], Tensor]:
        return lambda: cross_entropy(net(items), labels)

    nets = [MnistNet() for _ in x]
    steps = [stepping(loss(*one), list(one[0].parameters())) for one in zip(nets, x, y, strict=True)]
    return lambda: [step() for step in steps] and None


def together(x: Tensor, y: Tensor) -> Callable[[], None]:
    seeds, batch = y.shape
    weights = [
        torch.stack(same).flatten(0, 1 if same[0].ndim != 2 else 0).detach().requires_grad_()
        for same in zip(*([*MnistNet().parameters()] for _ in range(seeds)), strict=True)
    ]
    first, first_bias, second, second_bias, hidden, hidden_bias, output, output_bias = weights
    images = x.squeeze(2).transpose(0, 1).contiguous()  # a channel for each seed

    def loss() -> Tensor:
        z = max_pool2d(conv2d(images, first, first_bias, groups=seeds), 2).relu()
        z = max_pool2d(conv2d(z, second, second_bias, groups=seeds), 2).relu()
        z = z.unflatten(1, (seeds, -1)).flatten(2).transpose(0, 1)  # (seeds, batch, 320)
        z = torch.baddbmm(hidden_bias.view(seeds, 1, -1), z, hidden.transpose(1, 2)).relu()
        z = torch.baddbmm(output_bias.view(seeds, 1, -1), z, output.transpose(1, 2))
        return cross_entropy(z.flatten(0, 1), y.flatten(), reduction="sum") / batch

    return stepping(loss, weights)


if __name__ == "__main__":
    main()
