"""Labels, answers and predictions as Parquet files."""

from cusal.apps.label.export.formats._tables import TableSink


class Sink(TableSink):
    """The tables of an export as Parquet files."""

    suffix = ".parquet"
