"""Convolution, 2 x 2 max pooling and ReLU of many small images in one pass, for prediction on a processor.

Torch makes matrix products of a convolution. With few channels they are narrow, and run at a third of the rate of a
large product. Here a vector holds one pixel of eight images, so that the number of channels does not matter:

    images (n, channels, rows, columns) -> groups of eight, (channels, rows, columns, 8), one after the other

The four sums that a maximum is taken of, for two output channels at a time, stay in registers. Numba turns vectors into
instructions that the processor has. An image's result does not depend on the images beside it.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import torch
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic, models, register_model
from torch import Tensor, nn

LANES = 8
PAIR = 2  # output channels at a time: with four sums for each, sixteen registers are enough
FUSED = ["contract"]  # a product and its sum may be one instruction
VECTOR = ir.VectorType(ir.FloatType(), LANES)


def can_run(x: Tensor, layers: Sequence[nn.Module]) -> bool:
    """Return whether `run` takes such images and layers, and agrees with torch on this machine."""
    if x.device.type != "cpu" or x.dtype != torch.float32 or torch.is_autocast_enabled("cpu"):
        return False
    numbers = [x, *(one for layer in layers for one in layer.parameters())]
    if not all(one.sum().isfinite() for one in numbers):  # a maximum here would hide what is no number
        return False
    return all(map(_is_plain, layers)) and _agrees(tuple(x.shape[1:]), tuple(tuple(one.weight.shape) for one in layers))


def run(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """Return images (n, channels, rows, columns) after the layers of these weights; torch's threads share the work."""
    shapes = [tuple(x.shape[1:])]  # of an image, before and after each layer
    for outputs, _, height, width in (weight.shape for weight in weights):
        shapes.append((outputs, (shapes[-1][1] - height + 1) // 2, (shapes[-1][2] - width + 1) // 2))
    size = LANES * max((channels + channels % PAIR) * rows * columns for channels, rows, columns in shapes)
    kernels = tuple(_in_pairs(weight.detach(), bias.detach()) for weight, bias in zip(weights, biases, strict=True))
    out = torch.empty(len(x), *shapes[-1])
    images, results = x.flatten(1).contiguous().numpy(), out.flatten(1).numpy()

    def run_part(rows: slice) -> None:  # torch's memory is aligned, unlike NumPy's
        _run(images[rows], shapes[0][1:], kernels, torch.zeros(2, size).numpy(), results[rows])

    step = max(1, -(-len(x) // (torch.get_num_threads() * LANES))) * LANES
    parts = [slice(start, start + step) for start in range(0, len(x), step)]
    list(_pool(os.getpid(), len(parts)).map(run_part, parts) if len(parts) > 1 else map(run_part, parts))
    return out


def _is_plain(layer: nn.Module) -> bool:
    """Return whether a layer is a convolution with a bias and without padding, stride, groups or hooks."""
    if type(layer) is not nn.Conv2d or layer.weight.dtype != torch.float32 or layer.bias is None:
        return False
    settings = (layer.stride, layer.padding, layer.dilation, layer.groups)
    return settings == ((1, 1), (0, 0), (1, 1), 1) and not (layer._forward_hooks or layer._forward_pre_hooks)


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


def _in_pairs(weight: Tensor, bias: Tensor) -> Any:
    """Return weights (pairs, inputs, height, width, 2) and bias; an odd channel gets a second one of zeros."""
    odd = len(bias) % PAIR
    weight = torch.cat([weight, weight.new_zeros(odd, *weight.shape[1:])])
    pairs = weight.unflatten(0, (-1, PAIR)).movedim(1, -1).contiguous()
    return pairs.numpy(), torch.cat([bias, bias.new_zeros(odd)]).numpy()


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return the threads of this process; one that was forked from it has none."""
    return ThreadPoolExecutor(threads)


@njit(cache=True, nogil=True)
def _run(images: Any, size: Any, kernels: Any, buffers: Any, results: Any) -> None:
    """Write the results (n, values) for images (n, pixels)."""
    source, target = buffers[0], buffers[1]
    for start in range(0, len(images), LANES):
        count = min(LANES, len(images) - start)
        for pixel in range(images.shape[1]):
            for lane in range(count):
                source[pixel * LANES + lane] = images[start + lane, pixel]
        inner = size
        for weights, bias in kernels:
            inner = _convolve(source, inner, weights, bias, target)
            source, target = target, source
        for lane in range(count):
            for value in range(results.shape[1]):
                results[start + lane, value] = source[value * LANES + lane]


@njit(cache=True, nogil=True)
def _convolve(source: Any, size: Any, weights: Any, bias: Any, target: Any) -> Any:
    """Write the next layer of eight images, (outputs, rows, columns, 8), and return its rows and columns."""
    (rows, columns), (pairs, channels, height, width, _) = size, weights.shape
    pooled_rows, pooled_columns = (rows - height + 1) // 2, (columns - width + 1) // 2
    row, plane = columns * LANES, pooled_rows * pooled_columns * LANES
    flat = weights.reshape(-1)
    for pair in range(pairs):
        for y in range(pooled_rows):
            for x in range(pooled_columns):
                a = b = c = d = _repeat(bias, pair * PAIR)  # the sums at the four pixels, of one channel
                e = f = g = h = _repeat(bias, pair * PAIR + 1)  # and of the next
                tap = pair * channels * height * width * PAIR
                for channel in range(channels):
                    for j in range(height):
                        at = (channel * rows + 2 * y + j) * row + 2 * x * LANES
                        for _ in range(width):
                            first, second = _repeat(flat, tap), _repeat(flat, tap + 1)
                            pixel = _load(source, at)
                            a, e = _add_product(a, pixel, first), _add_product(e, pixel, second)
                            pixel = _load(source, at + LANES)
                            b, f = _add_product(b, pixel, first), _add_product(f, pixel, second)
                            pixel = _load(source, at + row)
                            c, g = _add_product(c, pixel, first), _add_product(g, pixel, second)
                            pixel = _load(source, at + row + LANES)
                            d, h = _add_product(d, pixel, first), _add_product(h, pixel, second)
                            at, tap = at + LANES, tap + PAIR
                to = pair * PAIR * plane + (y * pooled_columns + x) * LANES
                _pool_and_store(target, to, (a, b, c, d))
                _pool_and_store(target, to + plane, (e, f, g, h))
    return pooled_rows, pooled_columns


class _Vector(types.Type):  # type: ignore[misc]
    """The same number of eight images."""


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


_vector = _Vector("eight images")


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the address of an element; the first arguments are an array and a position."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


@intrinsic
def _load(typing_context: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, *call: Any) -> Any:
        return builder.load(builder.bitcast(_address(context, builder, *call), VECTOR.as_pointer()), align=4)

    return _vector(array, types.intp), generate


@intrinsic
def _repeat(typing_context: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, *call: Any) -> Any:
        nothing, numbers = ir.Constant(VECTOR, ir.Undefined), ir.VectorType(ir.IntType(32), LANES)
        number = builder.load(_address(context, builder, *call))
        first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, nothing, ir.Constant(numbers, [0] * LANES))

    return _vector(array, types.intp), generate


@intrinsic
def _add_product(typing_context: Any, total: Any, left: Any, right: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fadd(arguments[0], builder.fmul(*arguments[1:], flags=FUSED), flags=FUSED)

    return _vector(_vector, _vector, _vector), generate


@intrinsic
def _pool_and_store(typing_context: Any, array: Any, at: Any, sums: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        largest = ir.Constant(VECTOR, [0.0] * LANES)  # ReLU
        for number in range(4):
            one = builder.extract_value(arguments[2], number)
            largest = builder.select(builder.fcmp_ordered(">", largest, one), largest, one)
        address = builder.bitcast(_address(context, builder, signature, arguments), VECTOR.as_pointer())
        builder.store(largest, address, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, sums), generate
