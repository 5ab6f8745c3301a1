from .files import Delimited, Notes, Table, TextFile, is_table, read, table_name
from .names import find_name
from .values import Notation, Reading, find_numbers, is_missing
from .writers import Schema, TableWriter, Values, moment, open_writer, write, writer_of

__all__ = [
    "Delimited",
    "Notation",
    "Notes",
    "Reading",
    "Schema",
    "Table",
    "TableWriter",
    "TextFile",
    "Values",
    "find_name",
    "find_numbers",
    "is_missing",
    "is_table",
    "moment",
    "open_writer",
    "read",
    "table_name",
    "write",
    "writer_of",
]
