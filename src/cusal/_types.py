"""The arrays that cross the borders between rooms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]  # in the precision in which they were given
Indices = NDArray[np.int64]  # positions in the whole data set, or class numbers
Keys = NDArray[np.float64]  # (n,) or (n, j), compared column by column, highest first
