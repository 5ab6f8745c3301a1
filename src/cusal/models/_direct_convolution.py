"""Convolution, 2 x 2 max pooling and ReLU of many small images in one pass, for prediction on a processor.

Torch makes matrix products of a convolution. With few channels they are narrow, and run at a third of the rate of a
large product. Here a vector holds one pixel of several images, so that the number of channels does not matter:

    images (n, channels, rows, columns) -> groups of LANES, (channels, rows, columns, LANES), one after the other

Two neighbours in a row of the result take six products for each row of the kernel, not ten (`_image_vectors`). Sums of
two products, in two rows, for two output channels at a time, stay in registers. An image's result does not depend on
the images beside it.
"""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn

from cusal.models._image_vectors import (
    CHANNELS,
    KERNEL,
    LANES,
    PRODUCTS,
    WIDTH,
    add_products,
    pool_and_store,
    spread_pixels,
    zeros,
)


def can_run(x: Tensor, layers: Sequence[nn.Module]) -> bool:
    """Return whether `run` takes such images and layers, and agrees with torch on this machine."""
    if x.device.type != "cpu" or x.dtype != torch.float32 or torch.is_autocast_enabled("cpu"):
        return False
    numbers = [x, *(one for layer in layers for one in layer.parameters())]
    if not all(math.isfinite(one.sum().item()) for one in numbers):  # a maximum here would hide what is no number
        return False
    return all(map(_is_plain, layers)) and _agrees(tuple(x.shape[1:]), tuple(tuple(one.weight.shape) for one in layers))


def run(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """Return images (n, channels, rows, columns) after the layers of these weights; torch's threads share the work."""
    shapes, spread = [tuple(x.shape[1:])], 0  # of an image, before and after each layer
    for outputs, _, height, width in (weight.shape for weight in weights):
        channels, rows, columns = shapes[-1]
        shapes.append((outputs, (rows - height + 1) // 2, (columns - width + 1) // 2))
        spread = max(spread, channels * rows * shapes[-1][2] * PRODUCTS)
    plain = max((channels + -channels % CHANNELS) * rows * columns for channels, rows, columns in shapes)
    kernels = tuple(
        _in_groups(weight.detach().contiguous().numpy(), bias.detach().contiguous().numpy())
        for weight, bias in zip(weights, biases, strict=True)
    )
    out = torch.empty(len(x), *shapes[-1])
    images, results = x.flatten(1).contiguous().numpy(), out.flatten(1).numpy()

    def run_part(rows: slice) -> None:  # torch's memory is aligned, unlike NumPy's
        buffers = torch.zeros(LANES * plain).numpy(), torch.empty(LANES * spread).numpy()
        _run(images[rows], shapes[0][1:], kernels, buffers, results[rows])

    step = max(1, -(-len(x) // (torch.get_num_threads() * LANES))) * LANES
    parts = [slice(start, start + step) for start in range(0, len(x), step)]
    list(_pool(os.getpid(), len(parts)).map(run_part, parts) if len(parts) > 1 else map(run_part, parts))
    return out


def _is_plain(layer: nn.Module) -> bool:
    """Return whether a layer is a convolution of five columns with a bias, without padding, stride, groups or hooks."""
    if type(layer) is not nn.Conv2d or layer.weight.dtype != torch.float32 or layer.bias is None:
        return False
    settings = (layer.kernel_size[1], layer.stride, layer.padding, layer.dilation, layer.groups)
    return settings == (WIDTH, (1, 1), (0, 0), (1, 1), 1) and not (layer._forward_hooks or layer._forward_pre_hooks)


@cache
def _agrees(shape: tuple[int, ...], kernels: tuple[tuple[int, ...], ...]) -> bool:
    """Return whether torch computes the same from random images and weights of these shapes."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2 * LANES + 3, *shape, generator=generator)
    weights = [torch.randn(kernel, generator=generator) for kernel in kernels]
    biases = [torch.randn(kernel[0], generator=generator) for kernel in kernels]
    direct = run(x, weights, biases)
    for weight, bias in zip(weights, biases, strict=True):
        x = nn.functional.max_pool2d(nn.functional.conv2d(x, weight, bias), 2).relu()
    return bool((direct - x).abs().max() <= 1e-5 * x.abs().max())


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return the threads of this process; one that was forked from it has none."""
    return ThreadPoolExecutor(threads)


@njit(cache=True, nogil=True)
def _in_groups(weight: Any, bias: Any) -> Any:
    """Return KERNEL @ weights, (groups, 3, inputs, height, 2, CHANNELS), and bias; channels of zeros fill the last."""
    outputs, inputs, height, _ = weight.shape
    groups = -(-outputs // CHANNELS)
    products = np.zeros((groups, PRODUCTS // 2, inputs, height, 2, CHANNELS), dtype=np.float32)
    filled = np.zeros(groups * CHANNELS, dtype=np.float32)
    filled[:outputs] = bias
    for output in range(outputs):
        group, channel = divmod(output, CHANNELS)
        for source in range(inputs):
            for j in range(height):
                for number in range(PRODUCTS):
                    total = 0.0
                    for tap in range(WIDTH):
                        total += KERNEL[number, tap] * weight[output, source, j, tap]
                    products[group, number // 2, source, j, number % 2, channel] = total
    return products, filled


@njit(cache=True, nogil=True)
def _run(images: Any, size: Any, kernels: Any, buffers: Any, results: Any) -> None:
    """Write the results (n, values) for images (n, pixels)."""
    for start in range(0, len(images), LANES):
        count = min(LANES, len(images) - start)
        if count == LANES:  # a number that the compiler knows is worth a tenth of the time
            _turn(images, start, LANES, buffers[0], True)
        else:
            _turn(images, start, count, buffers[0], True)
        inner = size
        for weights, bias in kernels:
            inner = _convolve(buffers, inner, weights, bias)
        if count == LANES:
            _turn(results, start, LANES, buffers[0], False)
        else:
            _turn(results, start, count, buffers[0], False)


@njit(nogil=True, inline="always")
def _turn(rows: Any, start: int, count: int, pixels: Any, into: bool) -> None:
    """Copy rows of images into vectors, or vectors back into rows."""
    for pixel in range(rows.shape[1]):
        for lane in range(count):
            if into:
                pixels[pixel * LANES + lane] = rows[start + lane, pixel]
            else:
                rows[start + lane, pixel] = pixels[pixel * LANES + lane]


@njit(cache=True, nogil=True)
def _convolve(buffers: Any, size: Any, weights: Any, bias: Any) -> Any:
    """Write the next layer of a group of images, (outputs, rows, columns, LANES), over this one; return its size."""
    (pixels, spread), (rows, columns), (groups, _, channels, height, _, _) = buffers, size, weights.shape
    pooled_rows, pooled_columns = (rows - height + 1) // 2, (columns - WIDTH + 1) // 2
    row, plane = pooled_columns * PRODUCTS * LANES, pooled_rows * pooled_columns * LANES
    for line in range(channels * rows):
        for x in range(pooled_columns):
            spread_pixels(pixels, (line * columns + 2 * x) * LANES, spread, line * row + x * PRODUCTS * LANES)
    flat, part = weights.reshape(-1), channels * height * 2 * CHANNELS
    for group in range(groups):
        for y in range(pooled_rows):
            for x in range(pooled_columns):
                at, tap = (2 * y * pooled_columns + x) * PRODUCTS * LANES, 3 * group * part
                first = _sum(spread, at, (channels, rows, row), flat, tap, height)
                second = _sum(spread, at + 2 * LANES, (channels, rows, row), flat, tap + part, height)
                third = _sum(spread, at + 4 * LANES, (channels, rows, row), flat, tap + 2 * part, height)
                to = group * CHANNELS * plane + (y * pooled_columns + x) * LANES
                pool_and_store((first, second, third), bias, group * CHANNELS, pixels, to, plane)
    return pooled_rows, pooled_columns


@njit(nogil=True, inline="always")
def _sum(spread: Any, at: Any, size: Any, weights: Any, tap: Any, height: Any) -> Any:
    """Return the sums over channels and rows of the kernel of two products, in two rows, for some output channels."""
    channels, rows, row = size
    sums = zeros()
    for channel in range(channels):
        for j in range(height):
            sums = add_products(sums, spread, at + (channel * rows + j) * row, row, weights, tap)
            tap += 2 * CHANNELS
    return sums
