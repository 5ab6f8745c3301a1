from .write import write_archive, write_export

__all__ = ["write_archive", "write_export"]
