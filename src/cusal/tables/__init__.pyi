from .files import Delimited, Notes, Table, TextFile, is_table, read, table_name
from .names import find_name
from .writers import Schema, TableWriter, Values, moment, open_writer, write, writer_of

__all__ = [
    "Delimited",
    "Notes",
    "Schema",
    "Table",
    "TableWriter",
    "TextFile",
    "Values",
    "find_name",
    "is_table",
    "moment",
    "open_writer",
    "read",
    "table_name",
    "write",
    "writer_of",
]
