"""Labels, answers and predictions as JSON lines files."""

from cusal.apps.label.export.formats._tables import TableSink


class Sink(TableSink):
    """The tables of an export as JSON lines files."""

    suffix = ".jsonl"
