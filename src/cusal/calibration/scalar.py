"""Two functions of one number, compiled so that loops over them are fast.

`exp_below_zero` is branch-free, so that the compiler turns a loop over it into vector instructions: x = k log 2 + r
with |r| <= log(2) / 2, exp(r) by its power series up to r^12 (the rest is below 2e-16), and k added to the exponent.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic
from scipy.special import gammaln, polygamma

ROUNDER = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits
LOG2E = 1.4426950408889634
LOG2_HIGH, LOG2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # log 2 in two parts: k times the first is exact

# lgamma(1 + x) around the middle of each cell of width 1 / PER_UNIT; the terms left out are below 1e-16
PER_UNIT, TABLE_END, TERMS = 16, 4.0, 10
_MIDDLES = (np.arange(int(TABLE_END) * PER_UNIT) + 0.5) / PER_UNIT + 1
SERIES = np.stack(
    [gammaln(_MIDDLES)] + [polygamma(k - 1, _MIDDLES) / math.factorial(k) for k in range(1, TERMS)], axis=1
)


@intrinsic
def _as_bits(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _from_bits(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit(cache=True, nogil=True, fastmath={"contract"})
def exp_below_zero(x: float) -> float:
    """exp(x) for x <= 0, to one or two units in the last place; below -700 it gives exp(-700), not 0."""
    x = max(x, -700.0)
    shifted = x * LOG2E + ROUNDER
    k = shifted - ROUNDER
    r = (x - k * LOG2_HIGH) - k * LOG2_LOW
    s = 2.08767569878681e-09 * r + 2.505210838544172e-08
    s = s * r + 2.755731922398589e-07
    s = s * r + 2.7557319223985893e-06
    s = s * r + 2.48015873015873e-05
    s = s * r + 0.0001984126984126984
    s = s * r + 0.001388888888888889
    s = s * r + 0.008333333333333333
    s = s * r + 0.041666666666666664
    s = s * r + 0.16666666666666666
    s = s * r + 0.5
    s = s * r + 1.0
    s = s * r + 1.0
    return float(_from_bits(_as_bits(s) + (_as_bits(shifted) << 52)))


@njit(cache=True, nogil=True)
def log_gamma_1p(x: float) -> float:
    """lgamma(1 + x) for x >= 0; below TABLE_END, as in most classes of a prediction, by a power series nearby."""
    if x >= TABLE_END:
        return math.lgamma(1.0 + x)
    cell = int(x * PER_UNIT)
    away = x - (cell + 0.5) / PER_UNIT
    series = SERIES[cell]
    s = 0.0
    for k in range(TERMS - 1, -1, -1):
        s = s * away + series[k]
    return s
