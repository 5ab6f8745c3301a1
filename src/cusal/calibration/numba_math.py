"""Functions of one number, compiled so that loops over them are fast.

All but `log_gamma_1p` are free of branches, so that the compiler turns a loop over them into vector instructions.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic
from scipy.special import gammaln, polygamma

ROUNDER = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits
LOG2, LOG2E = 0.6931471805599453, 1.4426950408889634
LOG2_HIGH, LOG2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # log 2 in two parts: k times the first is exact
MANTISSA = (1 << 52) - 1
LOG_START = math.log(1.5) + 4e-6

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
    """Return exp(x) for x <= 0, to one or two units in the last place; below -700 it returns exp(-700), not 0.

    x = k log 2 + r with |r| <= log(2) / 2; exp(r) by its power series up to r^12, the rest is below 2e-16.
    """
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


@njit(cache=True, nogil=True, fastmath={"contract"})
def log_above(x: float) -> float:
    """Return an upper bound of log(x), less than 1e-5 above it, for normal x > 0; it is finite for x = 0."""
    bits = _as_bits(x)
    exponent = _from_bits((bits >> 52) | _as_bits(2.0**52)) - (2.0**52 + 1023)
    r = _from_bits((bits & MANTISSA) | _as_bits(1.0)) / 1.5 - 1  # within 1/3; the next term is below 2e-6
    s = r * (1 / 7 + r * (-1 / 8 + r * (1 / 9 + r * -1 / 10)))
    s = r * (1 / 3 + r * (-1 / 4 + r * (1 / 5 + r * (-1 / 6 + s))))
    return float(exponent * LOG2 + (LOG_START + r * (1 + r * (-1 / 2 + s))))


@njit(cache=True, nogil=True, fastmath={"contract"})
def log_gamma_1p_small(x: float) -> float:
    """Return lgamma(1 + x) for 0 <= x < 1 / PER_UNIT."""
    away = x - 0.5 / PER_UNIT
    s = 0.0
    for k in range(TERMS - 1, -1, -1):
        s = s * away + SERIES[0, k]
    return s


@njit(cache=True, nogil=True)
def log_gamma_1p(x: float) -> float:
    """Return lgamma(1 + x) for x >= 0; below TABLE_END, as for most classes, by a power series around a near point."""
    if x >= TABLE_END:
        return math.lgamma(1.0 + x)
    cell = int(x * PER_UNIT)
    away = x - (cell + 0.5) / PER_UNIT
    s = 0.0
    for k in range(TERMS - 1, -1, -1):
        s = s * away + SERIES[cell, k]
    return s
