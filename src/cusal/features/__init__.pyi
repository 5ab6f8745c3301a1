from .tables import TableFeatures
from .texts import TextFeatures

__all__ = ["TableFeatures", "TextFeatures"]
