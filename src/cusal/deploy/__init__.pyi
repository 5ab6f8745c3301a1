from .item_classifier import ItemClassifier
from .model_file import load_model
from .session_model import SessionModel, classifier_of, export, model_of

__all__ = ["ItemClassifier", "SessionModel", "classifier_of", "export", "load_model", "model_of"]
