from .cache import cached_features
from .image_files import image_vectors
from .images import check_images
from .sentences import has_sentence_network, sentence_vectors
from .tables import TableFeatures
from .texts import TextFeatures
from .vectorisers import (
    GivenVectors,
    ImageVectors,
    OwnVectors,
    SentenceVectors,
    TableVectors,
    VectorisedItems,
    Vectoriser,
    WordVectors,
    as_vectors,
    stacked,
)

__all__ = [
    "GivenVectors",
    "ImageVectors",
    "OwnVectors",
    "SentenceVectors",
    "TableFeatures",
    "TableVectors",
    "TextFeatures",
    "VectorisedItems",
    "Vectoriser",
    "WordVectors",
    "as_vectors",
    "cached_features",
    "check_images",
    "has_sentence_network",
    "image_vectors",
    "sentence_vectors",
    "stacked",
]
