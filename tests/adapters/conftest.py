"""Files that derive their tests from a library's own are collected where that library is installed.

modAL works with an older scikit-learn only: `make test-peers` runs its tests by themselves.
"""

import importlib.util

DERIVED = {"test_modal_adapter.py": "modAL", "test_small_text_adapter.py": "small_text", "test_baal_adapter.py": "baal"}
collect_ignore = [file for file, library in DERIVED.items() if importlib.util.find_spec(library) is None]
