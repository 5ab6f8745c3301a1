"""modAL works with an older scikit-learn only: `make test-peers` runs its tests by themselves."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("modAL") else ["test_modal_adapter.py"]
