"""Vectors of sentences: what sorting by length, the size of batches and OpenVINO gain, and how near the limit it is.

    CUSAL_DATA=... python benchmarks/sentences.py               some minutes on one core
    CUSAL_DATA=... python benchmarks/sentences.py --texts 128   fewer

Texts of AG News (some forty words) and Banking77 (some twelve), all-MiniLM-L6-v2, one thread, processor time, the
median of `--turns` in which all ways take part one after another. "sorted 32" is what `sentence_vectors` does; "limit"
is a product of two large matrices with as many multiplications as the layers have for the texts without padding.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from cusal import datasets
from cusal.features.minilm import FEATURES, INNER, LAYERS, load_pretrained
from cusal.features.sentences import TILE

RESULTS = Path(__file__).parent / "results" / "sentences.json"
DATA = ("ag_news", "banking77")
BATCHES = (8, 16, TILE, 64)
WEIGHTS = LAYERS * (4 * FEATURES**2 + 2 * FEATURES * INNER)  # multiplications for a token, without the attention's own
Network = Callable[[torch.Tensor, torch.Tensor], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cases = [measured(name, options.texts, options.turns) for name in DATA]
    options.out.write_text(json.dumps({"turns": options.turns, "cases": cases}, indent=1) + "\n")


@torch.inference_mode()
def measured(name: str, count: int, turns: int) -> dict[str, Any]:
    """Return processor milliseconds for a text, and the ratios to what `sentence_vectors` does."""
    texts = [str(text) for text in datasets.load(name).train[:count]]
    network, tokenizer = load_pretrained()
    in_order = sorted(texts, key=len)
    tokens = sum(len(tokenizer.encode(text).ids) for text in texts)
    square = np.random.default_rng(0).random((1024, 1024), dtype=np.float32)
    ways: dict[str, Callable[[], Any]] = {
        f"sorted {size}": lambda size=size: run(network, tokenizer, in_order, size) for size in BATCHES
    }
    ways["as they come 32"] = lambda: run(network, tokenizer, texts, TILE)
    ways["limit"] = lambda: [square @ square for _ in range(max(1, tokens * WEIGHTS // 1024**3))]
    compiled = compile_network(network)
    expected = run(network, tokenizer, in_order, TILE)
    difference = None
    if compiled is not None:
        ways["openvino 32"] = lambda: run(compiled, tokenizer, in_order, TILE)
        difference = float(np.abs(run(compiled, tokenizer, in_order, TILE) - expected).max())
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(turns):
        for way, call in ways.items():
            start = time.process_time()
            call()
            seconds[way].append(time.process_time() - start)
    usual = seconds[f"sorted {TILE}"]
    case = {
        "data": name,
        "texts": len(texts),
        "tokens_a_text": round(tokens / len(texts), 1),
        "milliseconds": {way: round(1000 * statistics.median(some) / len(texts), 2) for way, some in seconds.items()},
        "gain": {
            way: [round(value, 2) for value in (min(ratios), statistics.median(ratios), max(ratios))]
            for way, ratios in {
                way: [a / b for a, b in zip(usual, some, strict=True)] for way, some in seconds.items()
            }.items()
        },
        "padding": {"sorted": padding(tokenizer, in_order), "as they come": padding(tokenizer, texts)},
        "largest_difference_of_openvino": difference,
    }
    print(json.dumps(case), flush=True)
    return case


def run(network: Network, tokenizer: Any, texts: Sequence[str], size: int) -> np.ndarray:
    """Return the vectors, batch by batch."""
    found = []
    for start in range(0, len(texts), size):
        coded = tokenizer.encode_batch(texts[start : start + size])
        tokens = torch.tensor([text.ids for text in coded])
        seen = torch.tensor([text.attention_mask for text in coded], dtype=torch.bool)
        found.append(np.asarray(network(tokens, seen)))
    return np.concatenate(found)


def padding(tokenizer: Any, texts: Sequence[str]) -> float:
    """Return the share of a batch's tokens that are padding."""
    coded = [tokenizer.encode_batch(texts[start : start + TILE]) for start in range(0, len(texts), TILE)]
    masks = [np.array([text.attention_mask for text in batch]) for batch in coded]
    return round(1 - sum(int(mask.sum()) for mask in masks) / sum(mask.size for mask in masks), 3)


def compile_network(network: Any) -> Network | None:
    """Return the network compiled by OpenVINO, for batches and texts of any length; None where it is not installed."""
    try:
        import openvino
    except ImportError:
        return None
    example = torch.ones((2, 8), dtype=torch.int64), torch.ones((2, 8), dtype=torch.bool)
    model = openvino.convert_model(network, example_input=example)
    settings = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.compile_model(model, "CPU", settings)
    return lambda tokens, seen: np.array(compiled([tokens.numpy(), seen.numpy()])[0], dtype=np.float32)


if __name__ == "__main__":
    main()
