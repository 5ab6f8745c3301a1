"""One's own table in a Parquet file. `cusal.apps.bench.datasets.columns` says what its columns mean."""

from pathlib import Path

from cusal.apps.bench.datasets.columns import OwnTable
from cusal.apps.bench.datasets.dataset import Dataset
from cusal.apps.bench.datasets.files import corrupt
from cusal.errors import DataError, MissingExtra

SUFFIXES = (".parquet", ".pq")


def load(path: Path) -> Dataset:
    """Return the data set in a table of numbers, or of texts, with a label."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "parquet") from error
    try:
        with pyarrow.parquet.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise corrupt(path, str(error).partition("\n")[0]) from error
    if not len(table):
        raise DataError(f"{path} has no rows; expected items.")
    columns = [column.to_pylist() for column in table.columns]
    return OwnTable("parquet", path, table.column_names, columns, first_row=0).as_dataset()
