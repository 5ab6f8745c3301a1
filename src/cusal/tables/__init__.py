"""Tables in files and in memory: read and written row by row, and which column is what.

`read` opens a file, `roles` says which column holds the id, the text, the label or the probabilities, `find_numbers`
reads columns of numbers and dates however they are written, `write` and `open_writer` write tables.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
