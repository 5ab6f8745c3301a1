from .checkpoint import Checkpoint
from .classifiers import Model, for_many_labels, named_model
from .label_issues import LabelIssues
from .labels import Pool
from .query import query
from .scores import Scores
from .session import OutOfSamplePredictions, Reference, Session
from .simulate import Round, noisy, plot, simulate, to_frame
from .stopping import Stopping

__all__ = [
    "Checkpoint",
    "LabelIssues",
    "Model",
    "OutOfSamplePredictions",
    "Pool",
    "Reference",
    "Round",
    "Scores",
    "Session",
    "Stopping",
    "for_many_labels",
    "named_model",
    "noisy",
    "plot",
    "query",
    "simulate",
    "to_frame",
]
