"""The model alone: every export has the model file and its card, and this format adds nothing to them."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from cusal.apps.label.export.contents import AnsweredItem, Overview, Predicted


class Sink:
    """An export without tables."""

    takes_predictions: ClassVar[bool] = False

    def __init__(self, folder: Path, overview: Overview) -> None:
        pass

    def answered(self, items: Sequence[AnsweredItem]) -> None:
        """Do nothing."""

    def predicted(self, chunk: Predicted) -> None:
        """Do nothing."""

    def close(self) -> list[str]:
        """Do nothing."""
        return []
