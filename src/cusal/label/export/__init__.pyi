from .item_classifier import ItemClassifier
from .model_file import load_model
from .write import write_archive, write_export

__all__ = ["ItemClassifier", "load_model", "write_archive", "write_export"]
