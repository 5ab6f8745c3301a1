from .cells import plain_cell, safe_cell
from .column_roles import NamedColumns, Roles, roles
from .files import Delimited, Notes, Table, TextFile, is_table, read, table_name
from .names import LABEL_NAMES, find_name
from .values import Notation, Reading, find_numbers, is_missing, plain_number
from .writers import Schema, TableWriter, Values, moment, open_writer, write, writer_of

__all__ = [
    "LABEL_NAMES",
    "Delimited",
    "NamedColumns",
    "Notation",
    "Notes",
    "Reading",
    "Roles",
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
    "plain_cell",
    "plain_number",
    "read",
    "roles",
    "safe_cell",
    "table_name",
    "write",
    "writer_of",
]
