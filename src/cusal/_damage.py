"""The errors that reading a damaged `.npy` or `.npz` file raises.

NumPy parses the header of an array as Python, so that errors of the tokenizer and the parser come through. The zipfile
module raises its own errors for archives that require features it does not have.
"""

import struct
import tokenize
import zipfile
import zlib

DAMAGED = (
    # An odd header, or text that is not UTF-8.
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    MemoryError,
    RecursionError,
    # A header that is not Python; NumPy's warning about an old one, where warnings are errors.
    SyntaxError,
    tokenize.TokenError,
    Warning,
    # An archive that is cut short or garbled, or that asks for an unknown compression, a newer version or a password.
    EOFError,
    zlib.error,
    struct.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
)
