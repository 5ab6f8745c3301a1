"""Columns of lists as different programs write them to Parquet: of numbers, or of a class with its probability.

BigQuery writes an array as `{"list": [{"element": ...}]}`, and its predictions as `{"label": ..., "prob": ...}`, the
most probable class first: the order differs from row to row, so that each number is put into the column of its class.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.errors import DataError

EXPECTED = "expected lists of floating-point numbers, or of a class with its probability"


def unwrapped(values: Any, where: str) -> Any:
    """Return an Arrow array of lists of numbers, or of structs, without the wrapping of some writers."""
    import pyarrow as pa

    while pa.types.is_struct(values.type) and values.type.num_fields == 1:
        values = values.field(0)
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_list(values.type) for is_list in lists):
        raise DataError(f"{where} holds {values.type}; {EXPECTED}.")
    inner = values.type.value_type
    if pa.types.is_floating(inner):
        return values
    if pa.types.is_struct(inner) and inner.num_fields == 1:
        lengths = pa.compute.list_value_length(values).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return unwrapped(pa.ListArray.from_arrays(pa.array(offsets), values.flatten().field(0)), where)
    if pa.types.is_struct(inner) and inner.num_fields == 2 and len(_floating(inner)) == 1:
        return values
    raise DataError(f"{where} holds {values.type}; {EXPECTED}.")


def first_names(lists: Any, where: str) -> tuple[str, ...]:
    """Return the classes of the first row, sorted."""
    structs = lists.flatten()
    label = 1 - _floating(structs.type)[0]
    names = sorted(str(name) for name in structs.field(label).to_pylist())
    if len(set(names)) != len(names):
        raise DataError(f"{where}: row 0 has a class twice; give each class once.")
    return tuple(names)


def by_name(structs: Any, names: tuple[str, ...], where: Callable[[int], str]) -> NDArray[np.float64]:
    """Return (rows, classes) probabilities from structs, each in the column of its class; `where` names a row."""
    import pyarrow as pa

    number = _floating(structs.type)[0]
    classes = structs.field(1 - number).cast(pa.string())
    column = pa.compute.index_in(classes, value_set=pa.array(names)).to_numpy(zero_copy_only=False).astype(np.float64)
    values = structs.field(number).to_numpy(zero_copy_only=False).astype(np.float64)
    probs = np.full((len(values) // len(names), len(names)), np.nan)
    row = np.repeat(np.arange(len(probs)), len(names))
    known = np.isfinite(column)
    probs[row[known], column[known].astype(np.int64)] = values[known]
    if np.isnan(probs).any():
        bad = int(np.argmax(np.isnan(probs).any(axis=1)))
        missing = names[int(np.argmax(np.isnan(probs[bad])))]
        raise DataError(f"{where(bad)} has no number for the class {missing}; give each class once in every row.")
    return probs


def _floating(struct: Any) -> list[int]:
    """Return which fields of a struct are floating-point numbers."""
    import pyarrow as pa

    return [i for i in range(struct.num_fields) if pa.types.is_floating(struct.field(i).type)]
