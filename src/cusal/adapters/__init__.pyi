from .baal import BaalHeuristic
from .modal import ModalStrategy
from .skactiveml import SkactivemlStrategy
from .small_text import SmallTextStrategy

__all__ = ["BaalHeuristic", "ModalStrategy", "SkactivemlStrategy", "SmallTextStrategy"]
