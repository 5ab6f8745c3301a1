"""Fixtures of the labelling app."""

from projects import project  # noqa: F401 - a fixture
