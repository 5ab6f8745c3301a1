"""Items as vectors: texts and tables by transformers of scikit-learn's kind, images by a pretrained network.

`TextFeatures` and `TableFeatures` fit in memory and in a moment. `images` turns images into the features of a network,
`cache` keeps them on disk.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
