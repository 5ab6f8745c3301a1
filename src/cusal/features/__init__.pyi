from .sentences import sentence_vectors
from .tables import TableFeatures
from .texts import TextFeatures

__all__ = ["TableFeatures", "TextFeatures", "sentence_vectors"]
