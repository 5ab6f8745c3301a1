from .skactiveml import SkactivemlStrategy

__all__ = ["SkactivemlStrategy"]
