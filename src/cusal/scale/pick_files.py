"""The file that picks are written to, by its suffix: a table, or the row numbers alone."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cusal.errors import InvalidInput, MissingExtra
from cusal.scale.picks import Picks
from cusal.tables import safe_cell

Writer = Callable[[Picks], bytes]


def find_writer(out: Path) -> Writer:
    """Return what turns picks into the content of a file; raise InvalidInput for a suffix that there is none for."""
    suffix = out.suffix.lower() or ".csv"
    if suffix not in _WRITERS:
        raise InvalidInput(f"{out} ends in {suffix}; expected a name that ends in {', '.join(_WRITERS)}.")
    if suffix == ".parquet":
        _arrow()  # known to be there before the pool is scored
    return _WRITERS[suffix]


def as_csv(picks: Picks) -> bytes:
    """Return the picks as CSV, one line each; what the strategy does not estimate stays empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = picks.columns()
    columns["id"] = list(map(safe_cell, columns["id"]))
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode("utf-8", "surrogatepass")


def as_json_lines(picks: Picks) -> bytes:
    """Return the picks as JSON lines, one object each."""
    columns = picks.columns()
    rows = zip(*columns.values(), strict=True)
    return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows).encode()


def as_parquet(picks: Picks) -> bytes:
    """Return the picks as a Parquet file."""
    arrow = _arrow()
    kinds = {"rank": arrow.int64(), "id": arrow.string(), "error": arrow.float64(), "confidence": arrow.float64()}
    kinds |= {"supported": arrow.bool_(), "decided_by": arrow.string()}
    table = arrow.table(picks.columns(), schema=arrow.schema(list(kinds.items())))
    content = io.BytesIO()
    arrow.parquet.write_table(table, content)
    return content.getvalue()


def as_row_numbers(picks: Picks) -> bytes:
    """Return the row numbers of the picks as a NumPy file."""
    content = io.BytesIO()
    np.save(content, picks.indices)
    return content.getvalue()


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("writing Parquet", "parquet") from error
    return pyarrow


_WRITERS: dict[str, Writer] = {
    ".csv": as_csv,
    ".jsonl": as_json_lines,
    ".parquet": as_parquet,
    ".npy": as_row_numbers,
}
