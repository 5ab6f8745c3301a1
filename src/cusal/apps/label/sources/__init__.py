"""Data of the user's own as items: folders of images, and tables of texts or features."""

from cusal.apps.label.sources.opening import default_place, open_source, row_numbers, source_of
from cusal.apps.label.sources.reading import ReadIn, read_in
from cusal.apps.label.sources.source import Source, SourceOptions

__all__ = ["ReadIn", "Source", "SourceOptions", "default_place", "open_source", "read_in", "row_numbers", "source_of"]
