"""Features of images from disk: how many a second, where the time goes, and what OpenVINO gains over torch.

    python benchmarks/image_features.py                  some minutes on one core
    python benchmarks/image_features.py --images 200     fewer

JPEG files of random smooth pictures, 32 x 32 (features of 96 x 96) and 640 x 480 (features of 160 x 160). `read` is
reading, decoding and resizing in one thread, `torch` and `openvino` the network alone, `limit` the product of two
matrices with as many multiplications as the network has. Processor time, one thread, the median of five turns in which
all take part one after another.
"""

import argparse
import importlib.metadata
import io
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from PIL import Image

from cusal.features.compiled_features import compile_features
from cusal.features.decoding import decode
from cusal.features.efficientnet import Convolution, load_pretrained, prepare
from cusal.features.images import TILE_PIXELS

RESULTS = Path(__file__).parent / "results" / "image_features.json"
SIZES = {(32, 32): 96, (640, 480): 160}  # of the files, and the side that the network sees
TURNS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cases = [measured(size, side, options.images) for size, side in SIZES.items()]
    versions = {name: importlib.metadata.version(name) for name in ("torch", "openvino", "pillow")}
    stored = {"images": options.images, "turns": TURNS, "machine": platform.processor(), **versions, "cases": cases}
    options.out.write_text(json.dumps(stored, indent=1) + "\n")


@torch.inference_mode()
def measured(size: tuple[int, int], side: int, count: int) -> dict[str, Any]:
    """Return processor seconds for each image, and the ratios."""
    files = [picture(size, seed) for seed in range(count)]
    network = load_pretrained()
    tile = max(1, TILE_PIXELS // side**2)
    batch = prepare(torch.from_numpy(np.stack([decode(files[i % count], side) for i in range(tile)])).float(), side)
    expected = network.features(batch).numpy()
    start = time.process_time()
    compiled = compile_features(network, batch, expected)
    if compiled is None:
        raise SystemExit("OpenVINO is not installed, or computes something else: pip install 'cusal[openvino]'")
    compiling = time.process_time() - start
    products = multiplications(network, batch[:1])
    square = np.random.default_rng(0).random((1024, 1024), dtype=np.float32)
    ways: dict[str, Callable[[], Any]] = {
        "read": lambda: [decode(content, side) for content in files[:tile]],
        "torch": lambda: network.features(batch),
        "openvino": lambda: compiled(batch),
        "limit": lambda: square @ square,
    }
    share = {"read": min(tile, count), "torch": tile, "openvino": tile, "limit": 1024**3 / products}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(TURNS):
        for way, run in ways.items():
            start = time.process_time()
            run()
            seconds[way].append((time.process_time() - start) / share[way])
    each = {way: statistics.median(values) for way, values in seconds.items()}
    ratios = [a / b for a, b in zip(seconds["torch"], seconds["openvino"], strict=True)]
    case = {
        "file": f"{size[0]} x {size[1]}",
        "side": side,
        "milliseconds": {way: round(1000 * value, 3) for way, value in each.items()},
        "openvino_over_torch": [round(value, 2) for value in (min(ratios), statistics.median(ratios), max(ratios))],
        "share_of_limit": {way: round(each["limit"] / each[way], 2) for way in ("torch", "openvino")},
        "compiling_seconds": round(compiling, 1),
        "largest_difference": float(np.abs(compiled(batch) - expected).max()),
    }
    print(json.dumps(case), flush=True)
    return case


def picture(size: tuple[int, int], seed: int) -> bytes:
    """Return a JPEG file of random smooth colours."""
    small = np.random.default_rng(seed).integers(0, 256, (12, 16, 3), dtype=np.uint8)
    content = io.BytesIO()
    Image.fromarray(small).resize(size, Image.Resampling.BICUBIC).save(content, "JPEG", quality=90)
    return content.getvalue()


def multiplications(network: torch.nn.Module, image: torch.Tensor) -> int:
    """Return how many multiplications the convolutions do for an image."""
    total = 0

    def add(layer: Convolution, _: Any, output: torch.Tensor) -> None:
        nonlocal total
        total += output[0].numel() * layer.weight[0].numel()

    hooks = [layer.register_forward_hook(add) for layer in network.modules() if isinstance(layer, Convolution)]
    network.features(image)
    for hook in hooks:
        hook.remove()
    return total


if __name__ == "__main__":
    main()
