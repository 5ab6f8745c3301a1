"""Items as vectors: texts and tables by transformers of scikit-learn's kind, images by a pretrained network.

`TextFeatures` and `TableFeatures` fit in memory and in a moment. `sentence_vectors` and `image_vectors` are those of
pretrained networks, kept on disk one by one. `images` and `cache` do the same for whole data sets of images in memory.
A `Vectoriser` is any of them under one contract: fit, transform, and a state that a model file can hold.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
