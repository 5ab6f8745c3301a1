from .audit import Audit
from .comparison import Comparison
from .error_model import Suspects
from .estimates import Judgement, Kappa, Needed, Score, Share, Slice
from .guarantees import Accepted

__all__ = ["Accepted", "Audit", "Comparison", "Judgement", "Kappa", "Needed", "Score", "Share", "Slice", "Suspects"]
