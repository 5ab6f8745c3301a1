from ._opening import RowsOfTool, open_source, readers

__all__ = ["RowsOfTool", "open_source", "readers"]
