"""Fashion-MNIST: 28 x 28 grey images of Zalando's articles (Xiao et al. 2017).

The paper says that it normalises, not how. Pixels lie in [-1, 1] here, as in the PyTorch tutorial that the
paper's network for this data set, GarmentClassifier, comes from.
"""

from pathlib import Path

from cusal.apps.bench.datasets.dataset import Dataset, Source
from cusal.apps.bench.datasets.formats.idx import FORMS, load_idx

CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
SOURCE = Source(
    title="Fashion-MNIST articles of clothing",
    classes=len(CLASSES),
    shape=(1, 28, 28),
    train=60_000,
    test=10_000,
    licence="MIT",
    folder="fashion-mnist",
    forms=FORMS,
    checksums=(
        (
            "train-images-idx3-ubyte.gz",
            "sha256:3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        (
            "train-labels-idx1-ubyte.gz",
            "sha256:a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        (
            "t10k-images-idx3-ubyte.gz",
            "sha256:346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        (
            "t10k-labels-idx1-ubyte.gz",
            "sha256:67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
    addresses=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",),
)


def load(folder: Path) -> Dataset:
    """Return Fashion-MNIST with pixels in [-1, 1]."""
    return load_idx("fashion_mnist", SOURCE, folder, classes=CLASSES, scale=(0.5, 0.5))
