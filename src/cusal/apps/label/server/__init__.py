"""The server of a labelling project: calls, pages and images, and the supervisor of the worker."""

from cusal.errors import MissingExtra

try:
    import fastapi  # noqa: F401 - everything here needs it
except ImportError as error:
    raise MissingExtra("the labelling server", "label") from error
