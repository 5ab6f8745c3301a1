from .image_files import image_vectors
from .sentences import sentence_vectors
from .tables import TableFeatures
from .texts import TextFeatures

__all__ = ["TableFeatures", "TextFeatures", "image_vectors", "sentence_vectors"]
