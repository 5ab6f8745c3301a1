"""The numbers that a report compares, and how each is written."""

from dataclasses import dataclass

from cusal.apps.bench.report.curves import ACCURACY, ECE, POOL_ECE, RECALIBRATED_ECE, Key


@dataclass(frozen=True)
class Measure:
    """One compared number: where it stands in the curves, what it is called, and which way is better.

    scale, decimals, unit: how it is written; an accuracy of 0.957 is 95.7 %.
    """

    key: Key
    name: str
    title: str
    short: str
    meaning: str
    higher: bool = False
    scale: float = 1.0
    decimals: int = 3
    unit: str = ""

    @property
    def better(self) -> str:
        """Which way is better, in words."""
        return "higher is better" if self.higher else "lower is better"

    def write(self, value: float) -> str:
        """Return the number as text, with its unit."""
        return f"{value * self.scale:.{self.decimals}f}{self.unit}"


TEST_ECE = Measure(
    ECE,
    "ece",
    "Calibration error (ECE)",
    "ECE",
    "the average gap between the model's confidence and its accuracy on the test set, over ten bins of confidence: "
    "0 means that of all answers given with 80 % confidence, 80 % are right",
)
TEST_ACCURACY = Measure(
    ACCURACY,
    "accuracy",
    "Accuracy",
    "Accuracy %",
    "the share of test items that the model classifies correctly, in per cent",
    higher=True,
    scale=100.0,
    decimals=1,
    unit=" %",
)
TEST_RECALIBRATED = Measure(
    RECALIBRATED_ECE,
    "recalibrated_ece",
    "Recalibrated ECE",
    "Recalibrated ECE",
    "the calibration error on the test set after the session's recalibration: temperature scaling, where the "
    "temperature is fitted on the model's own predictions from before each label was known, unless the settings say "
    "otherwise; the choice of items, and the accuracy, stay the same",
)
ON_POOL = Measure(
    POOL_ECE,
    "pool_ece",
    "ECE on the pool",
    "Pool ECE",
    "the calibration error on the items that are not labelled yet, from which the next ones are chosen (the "
    "simulation knows their labels, the strategy does not)",
)
MEASURES = (TEST_ACCURACY, TEST_ECE, TEST_RECALIBRATED, ON_POOL)
