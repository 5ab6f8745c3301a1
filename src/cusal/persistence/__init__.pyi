from .object_file import as_bytes, read_objects, write_objects

__all__ = ["as_bytes", "read_objects", "write_objects"]
