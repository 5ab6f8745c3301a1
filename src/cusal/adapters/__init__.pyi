from .baal import BaalHeuristic
from .frames import to_pandas
from .hugging_face import from_hugging_face, to_hugging_face
from .label_studio import LabelStudioProject, LabelStudioPush
from .modal import ModalStrategy
from .skactiveml import SkactivemlStrategy
from .skorch import SkorchClassifier
from .small_text import SmallTextStrategy

__all__ = [
    "BaalHeuristic",
    "LabelStudioProject",
    "LabelStudioPush",
    "ModalStrategy",
    "SkactivemlStrategy",
    "SkorchClassifier",
    "SmallTextStrategy",
    "from_hugging_face",
    "to_hugging_face",
    "to_pandas",
]
