"""What the layout of weights, bfloat16 and compilation give a residual network on this machine.

    python benchmarks/networks.py                    ResNet-18, batches of 32 images of 32 x 32, in a minute or two

Every figure is how many times faster than plain float32 in the default layout, by processor time on one thread: the
lowest, the median and the highest of `--repeats` turns. `seconds_to_compile` is what compiled prediction costs once in
every process.
"""

import argparse
import copy
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cusal.models.networks import ResNet18

RESULTS = Path(__file__).parent / "results" / "networks.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=32, help="images in a batch")
    parser.add_argument("--repeats", type=int, default=3, help="turns in which all variants take part")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    images, labels = torch.randn(options.batch, 3, 32, 32), torch.randint(0, 10, (options.batch,))
    plain = ResNet18().to(memory_format=torch.contiguous_format)
    laid_out = copy.deepcopy(plain).to(memory_format=torch.channels_last)
    compiled = torch.compile(copy.deepcopy(laid_out).eval())
    started = time.process_time()
    predict(compiled, images)
    seconds_to_compile = time.process_time() - started
    predictions = {
        "plain": lambda: predict(plain.eval(), images),
        "channels-last": lambda: predict(laid_out.eval(), images),
        "channels-last, bfloat16": lambda: predict(laid_out.eval(), images, half=True),
        "channels-last, compiled": lambda: predict(compiled, images),
    }
    training = {
        "plain": lambda: train(plain.train(), images, labels),
        "channels-last": lambda: train(laid_out.train(), images, labels),
    }
    found: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "batch": options.batch,
        "prediction": faster(predictions, options.repeats),
        "training": faster(training, options.repeats),
        "seconds_to_compile": round(seconds_to_compile, 1),
    }
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


def predict(module: nn.Module, images: Tensor, *, half: bool = False) -> None:
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=half):
        module(images)


def train(module: nn.Module, images: Tensor, labels: Tensor) -> None:
    module.zero_grad()
    nn.functional.cross_entropy(module(images), labels).backward()


def faster(variants: dict[str, Callable[[], None]], repeats: int) -> dict[str, list[float]]:
    """Return how many times faster than plain each variant is: the lowest, the median and the highest."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(repeats + 1):  # the first time is to warm up
        for name, run in variants.items():
            started = time.process_time()
            run()
            seconds[name].append(time.process_time() - started)
    gains = {
        name: [plain / own for plain, own in zip(seconds["plain"][1:], times[1:], strict=True)]
        for name, times in seconds.items()
    }
    return {
        name: [round(value, 2) for value in (min(some), statistics.median(some), max(some))]
        for name, some in gains.items()
    }


if __name__ == "__main__":
    main()
