"""MNIST: 28 x 28 grey images of handwritten digits (LeCun, Cortes and Burges)."""

from pathlib import Path

from cusal.apps.bench.datasets.dataset import Dataset, Source
from cusal.apps.bench.datasets.formats.idx import FORMS, load_idx

_SOURCE = Source(
    title="MNIST handwritten digits",
    classes=10,
    shape=(1, 28, 28),
    train=60_000,
    test=10_000,
    licence="CC BY-SA 3.0",
    folder="mnist",
    forms=FORMS,
    checksums=(
        (
            "train-images-idx3-ubyte.gz",
            "sha256:440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        (
            "train-labels-idx1-ubyte.gz",
            "sha256:3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        (
            "t10k-images-idx3-ubyte.gz",
            "sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        (
            "t10k-labels-idx1-ubyte.gz",
            "sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
    addresses=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
)


# Pixels divided by 255 and nothing else: with few labels a network learns more slowly from them.
SOURCES = {"mnist": _SOURCE, "mnist_unit": _SOURCE}
SCALES = {"mnist": (0.1307, 0.3081), "mnist_unit": (0.0, 1.0)}  # mean and deviation that become 0 and 1


def load(name: str, folder: Path) -> Dataset:
    """Return MNIST, standardised by its training pixels, or with pixels from 0 to 1."""
    return load_idx(name, SOURCES[name], folder, classes=tuple("0123456789"), scale=SCALES[name])
