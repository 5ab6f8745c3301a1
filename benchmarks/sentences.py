"""Vectors of sentences: what sorting by length gains, and OpenVINO or ONNX Runtime would gain over torch.

    CUSAL_DATA=... python benchmarks/sentences.py                 two minutes on one core
    CUSAL_DATA=... python benchmarks/sentences.py --chunks 8      more

Texts of AG News (some forty words) and Banking77 (some twelve), all-MiniLM-L6-v2, batches of 32 texts. "torch" is what
`sentence_vectors` does with the whole training set: texts are sorted by letters and cut into chunks of 256, each of
which is sorted by tokens and cut into batches. Of four chunks at equal distances the middle batch takes part.
"unsorted" is the same texts shuffled, "tokenizer" the tokenizer alone, "limit" a product of two large matrices with as
many multiplications as the layers have for the texts without padding. Processor time, one thread, the median of the
turns in which all take part one after another; gains are ratios to torch of the same turn.

OpenVINO and ONNX Runtime take part where they are installed: pip install openvino onnx onnxscript onnxruntime
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from cusal.apps.bench import datasets
from cusal.features.minilm import FEATURES, INNER, LAYERS, TOKENS, MiniLM, load_pretrained
from cusal.features.sentences import CHUNK, TILE, batches

RESULTS = Path(__file__).parent / "results" / "sentences.json"
DATA = ("ag_news", "banking77")
WEIGHTS = LAYERS * (4 * FEATURES**2 + 2 * FEATURES * INNER)  # multiplications for a token, without the attention's own
EXAMPLE = (torch.ones((2, 8), dtype=torch.int64), torch.ones((2, 8), dtype=torch.bool))
Batch = tuple[torch.Tensor, torch.Tensor]
Network = Callable[[torch.Tensor, torch.Tensor], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=4)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    network, tokenizer = load_pretrained()
    engines: dict[str, Network] = {"torch": lambda tokens, seen: network(tokens, seen).numpy()}
    if importlib.util.find_spec("openvino"):
        engines["openvino"] = by_openvino(network)
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnxscript"):
        engines["onnxruntime"] = by_onnx_runtime(network)
    cases = []
    for name in DATA:
        chunks = spaced(sorted(map(str, datasets.load(name).train), key=len), options.chunks)
        cases.append({"data": name} | measured(chunks, engines, tokenizer, options.turns))
        print(json.dumps(cases[-1]), flush=True)
    versions = {name: importlib.metadata.version(name) for name in engines}
    options.out.write_text(json.dumps({"turns": options.turns, **versions, "cases": cases}, indent=1) + "\n")


@torch.inference_mode()
def measured(chunks: list[list[str]], engines: dict[str, Network], tokenizer: Any, turns: int) -> dict[str, Any]:
    """Return processor milliseconds for a text, the gains over torch, and the largest differences to its vectors."""
    by_tokens = [[(rows, (tokens, seen)) for rows, tokens, seen in batches(tokenizer, chunk)] for chunk in chunks]
    middle = [made[len(made) // 2] for made in by_tokens]
    in_order = [batch for _, batch in middle]
    texts = [chunk[row] for chunk, (rows, _) in zip(chunks, middle, strict=True) for row in rows]
    shuffled = np.random.default_rng(0).permutation(len(texts))
    unsorted = padded(tokenizer, [texts[row] for row in shuffled])
    tokens = sum(int(seen.sum()) for _, seen in in_order)
    square = np.random.default_rng(0).random((1024, 1024), dtype=np.float32)
    ways: dict[str, Callable[[], Any]] = {
        name: lambda engine=engine: np.concatenate([engine(*batch) for batch in in_order])
        for name, engine in engines.items()
    }
    vectors = {name: way() for name, way in ways.items()}
    ways["unsorted"] = lambda: [engines["torch"](*batch) for batch in unsorted]
    ways["tokenizer"] = lambda: padded(tokenizer, texts)
    ways["limit"] = lambda: [square @ square for _ in range(max(1, round(tokens * WEIGHTS / 1024**3)))]
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(turns):
        for way, call in ways.items():
            start = time.process_time()
            call()
            seconds[way].append(time.process_time() - start)
    gains = {way: [a / b for a, b in zip(seconds["torch"], some, strict=True)] for way, some in seconds.items()}
    everything = [text for chunk in chunks for text in chunk]
    every = np.random.default_rng(0).permutation(len(everything))
    return {
        "texts": len(texts),
        "tokens_a_text": round(tokens / len(texts), 1),
        "milliseconds": {way: round(1000 * statistics.median(some) / len(texts), 2) for way, some in seconds.items()},
        "gain": {
            way: [round(value, 2) for value in (min(some), statistics.median(some), max(some))]
            for way, some in gains.items()
        },
        "padding": {
            "by tokens": padding([batch for made in by_tokens for _, batch in made]),
            "by letters": padding(padded(tokenizer, everything)),
            "unsorted": padding(padded(tokenizer, [everything[row] for row in every])),
        },
        "largest_difference": {name: float(np.abs(vectors[name] - vectors["torch"]).max()) for name in engines},
    }


def spaced(texts: list[str], count: int) -> list[list[str]]:
    """Return some chunks of the sorted texts, at equal distances."""
    whole = len(texts) // CHUNK
    first = [CHUNK * ((2 * place + 1) * whole // (2 * count)) for place in range(count)]
    return [texts[start : start + CHUNK] for start in first]


def padded(tokenizer: Any, texts: list[str]) -> list[Batch]:
    """Return the texts as token numbers and masks, in batches in the order given."""
    coded = [tokenizer.encode_batch(texts[start : start + TILE]) for start in range(0, len(texts), TILE)]
    return [
        (
            torch.tensor([text.ids for text in batch]),
            torch.tensor([text.attention_mask for text in batch], dtype=torch.bool),
        )
        for batch in coded
    ]


def padding(made: list[Batch]) -> float:
    """Return the share of the tokens that are padding."""
    return round(1 - sum(int(seen.sum()) for _, seen in made) / sum(seen.numel() for _, seen in made), 3)


def by_openvino(network: MiniLM) -> Network:
    """Return the network compiled by OpenVINO, for batches and texts of any length."""
    import openvino

    settings = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = openvino.convert_model(network, example_input=EXAMPLE)
    compiled = openvino.compile_model(model, "CPU", settings)
    return lambda tokens, seen: np.array(compiled([tokens.numpy(), seen.numpy()])[0])


def by_onnx_runtime(network: MiniLM) -> Network:
    """Return the network as ONNX Runtime runs it, for batches and texts of any length."""
    import onnxruntime

    sizes = {0: torch.export.Dim("texts", max=4096), 1: torch.export.Dim("tokens", min=2, max=TOKENS)}
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = f"{folder}/minilm.onnx"
        torch.onnx.export(network, EXAMPLE, file, dynamo=True, dynamic_shapes=(sizes, sizes), verbose=False)
        session = onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    return lambda tokens, seen: session.run(None, dict(zip(names, (tokens.numpy(), seen.numpy()), strict=True)))[0]


if __name__ == "__main__":
    main()
