from .modal import ModalStrategy
from .skactiveml import SkactivemlStrategy

__all__ = ["ModalStrategy", "SkactivemlStrategy"]
