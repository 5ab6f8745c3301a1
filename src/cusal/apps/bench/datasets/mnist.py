"""MNIST: 28 x 28 grey images of handwritten digits (LeCun, Cortes and Burges)."""

from pathlib import Path

from cusal.apps.bench.datasets.dataset import Dataset, Source
from cusal.apps.bench.datasets.formats.idx import FORMS, load_idx

SOURCE = Source(
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


def load(folder: Path) -> Dataset:
    """Return MNIST, normalised with the training pixels' mean and deviation."""
    return load_idx("mnist", SOURCE, folder, classes=tuple("0123456789"), scale=(0.1307, 0.3081))
