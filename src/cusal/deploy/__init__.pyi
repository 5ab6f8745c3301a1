from .item_classifier import ItemClassifier
from .model_file import load_model

__all__ = ["ItemClassifier", "load_model"]
