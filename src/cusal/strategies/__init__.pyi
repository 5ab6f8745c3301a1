# Written by `python -m cusal.strategies`.
from cusal.strategies._contract import check_strategy as check_strategy
from cusal.strategies._strategy import Strategy as Strategy
from cusal.strategies.badge import Badge as Badge
from cusal.strategies.bald import Bald as Bald
from cusal.strategies.batch_bald import BatchBald as BatchBald
from cusal.strategies.cluster_cusal import ClusterCusal as ClusterCusal
from cusal.strategies.cluster_margin import ClusterMargin as ClusterMargin
from cusal.strategies.coreset import Coreset as Coreset
from cusal.strategies.cusal import Cusal as Cusal
from cusal.strategies.cusal_listing import CusalListing as CusalListing
from cusal.strategies.ddu import Ddu as Ddu
from cusal.strategies.diverse_margin import DiverseMargin as DiverseMargin
from cusal.strategies.entropy import Entropy as Entropy
from cusal.strategies.herding import Herding as Herding
from cusal.strategies.least_calibrated import LeastCalibrated as LeastCalibrated
from cusal.strategies.least_confidence import LeastConfidence as LeastConfidence
from cusal.strategies.margin import Margin as Margin
from cusal.strategies.power_margin import PowerMargin as PowerMargin
from cusal.strategies.prob_cover import ProbCover as ProbCover
from cusal.strategies.rand_entropy import RandEntropy as RandEntropy
from cusal.strategies.random import Random as Random
from cusal.strategies.typiclust import Typiclust as Typiclust
from cusal.strategies.weighted_cusal import WeightedCusal as WeightedCusal

__all__: list[str]

def names() -> list[str]: ...
def find(name: str) -> type[Strategy]: ...
def make(strategy: str | Strategy, **settings: object) -> Strategy: ...
def _class_names() -> dict[str, str]: ...
