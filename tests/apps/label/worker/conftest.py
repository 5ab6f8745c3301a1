"""Fixtures of the worker."""

from working_projects import make_project, start_worker  # noqa: F401 - fixtures
