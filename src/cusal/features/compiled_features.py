"""The pretrained network compiled by OpenVINO, which computes features faster than torch on a processor.

It is an optional package (the extra `openvino`). What it computes is taken only where it agrees with torch on the
images at hand, so that vectors in the cache do not depend on who computed them.
"""

import logging
import warnings
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Vectors = NDArray[np.float32]
Network = Callable[[Tensor], Vectors]

CLOSE = 1e-5  # the largest difference to torch's features, as a share of the largest of them

_log = logging.getLogger(__name__)


class _Features(nn.Module):  # type: ignore[misc]
    """The features of a network as a module of its own, which is what OpenVINO converts."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        return self.network.features(images)


def compile_features(network: nn.Module, images: Tensor, expected: Vectors) -> Network | None:
    """Return the network's features as a function of prepared images, or None where OpenVINO cannot serve.

    Parameters
    ----------
    network : Module
        A network with a method `features`, on the processor.
    images : Tensor of shape (n, 3, side, side)
        Prepared images, such as are to follow: any number of the same side.
    expected : ndarray of shape (n, width)
        What torch computes for them.
    """
    try:
        import openvino
    except ImportError:
        return None
    settings = {"INFERENCE_NUM_THREADS": torch.get_num_threads(), "INFERENCE_PRECISION_HINT": "f32"}
    try:
        with warnings.catch_warnings():  # sides become constants, which is what is wanted
            warnings.simplefilter("ignore")
            model = openvino.convert_model(_Features(network), example_input=images)
        model.reshape({model.input(0): [-1, *images.shape[1:]]})
        compiled = openvino.compile_model(model, "CPU", settings)
    except Exception as error:  # whatever it cannot convert, torch can compute
        _log.info("OpenVINO cannot compile the network, torch computes the features: %s", error)
        return None

    def features(batch: Tensor) -> Vectors:
        return np.array(compiled(batch.contiguous().numpy())[0], dtype=np.float32)

    difference = float(np.abs(features(images) - expected).max() / max(1.0, expected.max()))
    if not difference <= CLOSE:
        _log.info("OpenVINO's features differ by %g from torch's, which are taken", difference)
        return None
    return features
