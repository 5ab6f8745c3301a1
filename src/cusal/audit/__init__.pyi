from .audit import Audit
from .comparison import Comparison
from .error_model import Suspects
from .estimates import Judgement, Kappa, Needed, Score, Share, Slice
from .guarantees import Accepted
from .messages import summary
from .prediction_table import PredictionTable, open_predictions, read_predictions
from .simultaneous_intervals import by_class_together

__all__ = [
    "Accepted",
    "Audit",
    "Comparison",
    "Judgement",
    "Kappa",
    "Needed",
    "PredictionTable",
    "Score",
    "Share",
    "Slice",
    "Suspects",
    "by_class_together",
    "open_predictions",
    "read_predictions",
    "summary",
]
