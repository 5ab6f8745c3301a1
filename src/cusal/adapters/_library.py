"""What is said where a library that cusal adapts to is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from cusal.errors import MissingLibrary

# What `pip install` calls the libraries, by what `import` calls them.
PACKAGES = {
    "baal": "baal",
    "datasets": "datasets",
    "pandas": "pandas",
    "skactiveml": "scikit-activeml",
    "skorch": "skorch",
    "small_text": "small-text",
    "torch": "torch",
}


@contextmanager
def library_needed(purpose: str) -> Iterator[None]:
    """Raise `MissingLibrary` where an import in the block fails for want of a library that has an adapter."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = PACKAGES.get((error.name or "").split(".")[0])
        if package is None:
            raise
        raise MissingLibrary(purpose, package) from error
