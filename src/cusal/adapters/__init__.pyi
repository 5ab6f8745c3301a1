from .baal import BaalHeuristic
from .modal import ModalStrategy
from .skactiveml import SkactivemlStrategy
from .skorch import SkorchClassifier
from .small_text import SmallTextStrategy

__all__ = ["BaalHeuristic", "ModalStrategy", "SkactivemlStrategy", "SkorchClassifier", "SmallTextStrategy"]
