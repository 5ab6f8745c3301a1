from .audit import Audit
from .error_model import Suspects
from .estimates import Needed, Share, Slice
from .guarantees import Accepted

__all__ = ["Accepted", "Audit", "Needed", "Share", "Slice", "Suspects"]
