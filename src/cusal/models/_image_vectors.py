"""Vectors of one number of several images, and what a convolution does with them, as instructions of the processor.

Two neighbours in a row of a convolution's result need six products, not ten (Winograd 1980; Lavin and Gray 2016,
section 4.1). With six pixels d of a row of the image and the five weights g of a row of the kernel,

    result (2,) = OUTPUT (2, 6) @ ((KERNEL (6, 5) @ g) * (INPUT (6, 6) @ d)),

by the Toom-Cook algorithm with the points 0, 1, -1, 2, -1/2 and infinity, which round little. The products are added up
over the channels and the rows of the kernel before OUTPUT is applied, once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from llvmlite.binding import get_host_cpu_features  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, register_model

LANES = 16 if get_host_cpu_features().get("avx512f") else 8  # in a register, or in two
CHANNELS = 2  # output channels at a time: with four sums for each, sixteen registers are enough
WIDTH, PRODUCTS = 5, 6  # of the kernel; for two results
FUSED = ["contract"]  # a product and its sum may be one instruction
VECTOR = ir.VectorType(ir.FloatType(), LANES)
ZERO = ir.Constant(VECTOR, [0.0] * LANES)
POINTS = (0.0, 1.0, -1.0, 2.0, -0.5)
INPUT = (
    (1, 1.5, -2, -1.5, 1, 0),
    (0, 2, 5, 1, -2, 0),
    (0, 2, 1, -5, 2, 0),
    (0, -1, -2, 1, 2, 0),
    (0, -2, 1, 2, -1, 0),
    (0, 1, 1.5, -2, -1.5, 1),
)
KERNEL = np.vstack([np.vander(POINTS, WIDTH, increasing=True), [[0, 0, 0, 0, 1]]])
KERNEL *= np.array([[1], [1 / 6], [1 / 6], [1 / 30], [16 / 15], [1]])
OUTPUT = ((1, 1, 1, 1, 1, 0), (*POINTS, 1))


class _Vector(types.Type):  # type: ignore[misc]
    """The same number of several images."""


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


_vector = _Vector("several images")
_sums = types.UniTuple(_vector, 4 * CHANNELS)  # for each channel of two products in a row, then in the next row


def _vectors(context: Any, builder: Any, array_type: Any, array: Any) -> tuple[Any, Any, Any]:
    """Return functions that load a vector from a position of an array, repeat the number there, and store a vector."""
    data = context.make_array(array_type)(context, builder, array).data

    def address(at: Any) -> Any:
        return builder.bitcast(builder.gep(data, [at]), VECTOR.as_pointer())

    def repeat(at: Any) -> Any:
        nothing, numbers = ir.Constant(VECTOR, ir.Undefined), ir.VectorType(ir.IntType(32), LANES)
        first = builder.insert_element(nothing, builder.load(builder.gep(data, [at])), ir.IntType(32)(0))
        return builder.shuffle_vector(first, nothing, ir.Constant(numbers, [0] * LANES))

    return (
        lambda at: builder.load(address(at), align=4),
        repeat,
        lambda at, vector: builder.store(vector, address(at), align=4),
    )


def _after(builder: Any, at: Any, steps: int) -> Any:
    """Return a position some steps after another."""
    return builder.add(at, ir.IntType(64)(steps))


def _combine(builder: Any, factors: Sequence[float], vectors: Sequence[Any]) -> Any:
    """Return the sum of the vectors times their factors, one of which is 1."""
    first, *others = sorted(zip(factors, vectors, strict=True), key=lambda term: term[0] != 1)
    total = first[1]
    for factor, vector in others:
        if factor == 1:
            total = builder.fadd(total, vector)
        elif factor:
            product = builder.fmul(vector, ir.Constant(VECTOR, [float(factor)] * LANES), flags=FUSED)
            total = builder.fadd(total, product, flags=FUSED)
    return total


@intrinsic
def spread_pixels(typing_context: Any, pixels: Any, at: Any, target: Any, to: Any) -> Any:
    """Write INPUT @ the six pixels from a position on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        load, _, _ = _vectors(context, builder, signature.args[0], arguments[0])
        _, _, store = _vectors(context, builder, signature.args[2], arguments[2])
        six = [load(_after(builder, arguments[1], place * LANES)) for place in range(PRODUCTS)]
        for place, factors in enumerate(INPUT):
            store(_after(builder, arguments[3], place * LANES), _combine(builder, factors, six))
        return context.get_dummy_value()

    return types.void(pixels, types.intp, target, types.intp), generate


@intrinsic
def zeros(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_tuple(builder, _sums, [ZERO] * (4 * CHANNELS))

    return _sums(), generate


@intrinsic
def add_products(typing_context: Any, sums: Any, source: Any, at: Any, row: Any, weights: Any, tap: Any) -> Any:
    """Return the sums with two products more, in two rows, for each of some output channels."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, source, at, row, weights, tap = arguments
        load, _, _ = _vectors(context, builder, signature.args[1], source)
        _, repeat, _ = _vectors(context, builder, signature.args[4], weights)
        below = builder.add(at, row)
        numbers = [load(place) for place in (at, _after(builder, at, LANES), below, _after(builder, below, LANES))]
        added = []
        for channel in range(CHANNELS):
            both = [repeat(_after(builder, tap, product * CHANNELS + channel)) for product in range(2)]
            for place, number in enumerate(numbers):
                total = builder.extract_value(sums, 4 * channel + place)
                added.append(builder.fadd(total, builder.fmul(number, both[place % 2], flags=FUSED), flags=FUSED))
        return context.make_tuple(builder, _sums, added)

    return _sums(sums, source, types.intp, types.intp, weights, types.intp), generate


@intrinsic
def pool_and_store(typing_context: Any, parts: Any, bias: Any, first: Any, target: Any, to: Any, plane: Any) -> Any:
    """Write ReLU of the largest of two results in two rows, of each channel, one plane after the other."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts, bias, first, target, to, plane = arguments
        _, repeat, _ = _vectors(context, builder, signature.args[1], bias)
        _, _, store = _vectors(context, builder, signature.args[3], target)
        for channel in range(CHANNELS):
            results = []
            for row in range(2):
                places = [(number // 2, 4 * channel + 2 * row + number % 2) for number in range(PRODUCTS)]
                products = [builder.extract_value(parts, place) for place in places]
                results += [_combine(builder, factors, products) for factors in OUTPUT]
            largest = results[0]
            for one in results[1:]:
                largest = builder.select(builder.fcmp_ordered(">", largest, one), largest, one)
            with_bias = builder.fadd(largest, repeat(_after(builder, first, channel)))
            positive = builder.select(builder.fcmp_ordered(">", with_bias, ZERO), with_bias, ZERO)
            store(builder.add(to, builder.mul(plane, ir.IntType(64)(channel))), positive)
        return context.get_dummy_value()

    return types.void(parts, bias, types.intp, target, types.intp, types.intp), generate
