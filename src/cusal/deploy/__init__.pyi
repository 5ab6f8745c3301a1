from .item_classifier import ItemClassifier
from .model_file import load_model
from .session_model import classifier_of, export

__all__ = ["ItemClassifier", "classifier_of", "export", "load_model"]
