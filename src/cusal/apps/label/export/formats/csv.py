"""Labels, answers and predictions as CSV files."""

from cusal.apps.label.export.formats._tables import TableSink


class Sink(TableSink):
    """The tables of an export as CSV files."""

    suffix = ".csv"
