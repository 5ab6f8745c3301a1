"""Two functions of one number, compiled so that loops over them are fast.

`exp_below_zero` is branch-free, so that the compiler turns a loop over it into vector instructions: x = k log 2 + r
with |r| <= log(2) / 2, exp(r) by its power series up to r^12 (the rest is below 2e-16), and k added to the exponent.
"""

import math
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

ROUNDER = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits
LOG2E = 1.4426950408889634
LOG2_HIGH, LOG2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # log 2 in two parts: k times the first is exact


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
    """lgamma(1 + x) for x >= 0; by its power series where x is nearly zero, as in most classes of a prediction."""
    if x > 0.01:
        return math.lgamma(1.0 + x)
    # (-1)^k zeta(k) / k, Euler's constant for k = 1; the next term is below 2e-17
    s = x * (-0.2073855510286740 + x * (0.1695571769974082 + x * -0.1440498967688461))
    s = x * (-0.4006856343865314 + x * (0.2705808084277845 + s))
    return x * (-0.5772156649015329 + x * (0.8224670334241132 + s))
