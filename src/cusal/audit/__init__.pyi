from .audit import Audit
from .error_model import Suspects
from .estimates import Judgement, Kappa, Needed, Score, Share, Slice
from .guarantees import Accepted

__all__ = ["Accepted", "Audit", "Judgement", "Kappa", "Needed", "Score", "Share", "Slice", "Suspects"]
