"""Fixtures of the labelling app."""

from pages_browser import new_context, serve_project  # noqa: F401 - fixtures
from projects import project  # noqa: F401 - a fixture
