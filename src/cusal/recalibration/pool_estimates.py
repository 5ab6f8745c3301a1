"""How good predictions of open items are, from items whose labels are known: accuracy and calibration error.

    1. one temperature makes the confidence c_i of the judged predictions comparable (`cusal.recalibration.scaling`)
    2. the chance of being right at a confidence is fitted to them, with its posterior (`cusal.recalibration.platt`)
    3. lines drawn from the posterior, laid over the open items, give the mean and the spread of what is wanted

    accuracy = mean chance        interval: - (1.645 sd + 1.5 points), + (the same + learned * (1 - accuracy))
    ECE      = of labels drawn by the chances, median; interval: +- (the largest of 1.645 sd and the distances to the
               5 % and the 95 % quantile, + 1 point)

For the ECE each line is shifted by .3 in log odds (standard deviation), and with out-of-fold predictions half of the
lines have the steep prior, which expects nothing of how fast the chance rises with confidence. The error of a model
whose confidences hardly differ hangs on that slope: with the first prior alone, intervals on spam with random labels
covered 22 % of the time. Past picks alone cannot tell a slope for the whole pool: for them the steep prior is left out.

The posterior knows neither that picks are harder than others of equal confidence nor that the line may be bent; the
points that are added stand for both. Models that judge know fewer labels: out-of-fold copies four fifths of them, a
network those that there were when it was asked. Where errors fall like one over the labels, those of the model are
fewer by the share that it has learned since; the upper end allows for that, and the interval of the ECE of past picks
for chances that rose as much. With fewer than 30 labels all ends are drawn towards 0 and 1, which they are without a
label. `benchmarks/honest.py`, `benchmarks/stopping.py` and `benchmarks/network_intervals.py` measure how often the
intervals cover.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.metrics.reliability import reliability
from cusal.recalibration.out_of_sample import FOLDS
from cusal.recalibration.platt import fit_platt
from cusal.recalibration.recalibration import Recalibration
from cusal.recalibration.scaling import STRENGTH, Scaling, even_weights, fit_scaling

PROVISIONAL_BELOW = 30  # labels
DRAWS = 200
NORMAL_90 = 1.645  # standard deviations on each side that hold 90 % of a normal distribution
ACCURACY_ALLOWANCE, ECE_ALLOWANCE = 0.015, 0.01
DOUBT = 0.3  # standard deviation of the log odds by which the model differs from its copies, chosen of 0, .3 and .4
MOST = 20_000  # open items that a calibration error is drawn for: more would not move it


@dataclass(frozen=True)
class CalibrationEstimate:
    """How the probabilities of a session are recalibrated, as `session.calibration` returns it.

    Attributes
    ----------
    temperature : float
        What the log probabilities are divided by. Above 1 the model was over-confident; 1 changes nothing.
    evidence : int
        Number of pairs of prediction and label that the temperature is fitted to. Below 30 it is `provisional`.
    ece_before, ece_after : float or None
        Expected calibration error of the open items, raw and recalibrated, estimated from the evidence. None if there
        is no evidence or no open item.
    ece_before_interval, ece_after_interval : tuple of two floats or None
        The ends of their 90 % intervals.

    Examples
    --------
    >>> calibration = CalibrationEstimate(temperature=1.8, evidence=12)
    >>> calibration.provisional
    True
    """

    temperature: float
    evidence: int
    ece_before: float | None = None
    ece_after: float | None = None
    ece_before_interval: tuple[float, float] | None = None
    ece_after_interval: tuple[float, float] | None = None

    @property
    def provisional(self) -> bool:
        """Whether there is too little evidence to rely on: fewer than 30 pairs."""
        return self.evidence < PROVISIONAL_BELOW


@dataclass(frozen=True)
class AccuracyEstimate:
    """The accuracy of a session's predictions of its open items, as the labels so far suggest.

    Attributes
    ----------
    estimate : float
        The expected share of right predictions.
    low, high : float
        The ends of a 90 % interval.
    labels : int
        How many labels it rests on.
    drawn : int
        How many of these items were drawn at random. They count five times as much as picks.
    guessing : float or None
        Where the labels do not show that the model is better than guessing by class frequency: the share that this
        would get right. None where they do, and where 20 or more of them were drawn at random.

    Examples
    --------
    >>> print(AccuracyEstimate(0.912, 0.853, 0.971, labels=120, drawn=12))
    91 % (85 to 97 %), from 120 labels, 12 of them drawn at random
    """

    estimate: float
    low: float
    high: float
    labels: int
    drawn: int = 0
    guessing: float | None = None

    def __str__(self) -> str:
        ends = f"{self.estimate:.0%} ({self.low * 100:.0f} to {self.high:.0%})".replace("%", " %")
        provisional = ": provisional" if self.labels < PROVISIONAL_BELOW else ""
        told = f"{ends}, from {self.labels} labels, {self.drawn} of them drawn at random{provisional}"
        if self.guessing is None:
            return told
        return (
            f"{told}. The labels do not show that the model is better than guessing by class frequency, which would be "
            f"right {self.guessing * 100:.0f} % of the time; ask 20 to 30 items with strategy='random'."
        )


@dataclass(frozen=True)
class ExpectedError:
    """The calibration error of predictions of open items, and the ends of its 90 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Judged:
    """Predictions (n, classes) by models that had not seen the labels (n,), and what each pair weighs, (n,).

    out_of_fold: whether they are of all labelled items, by copies of the model; otherwise of picks, from before.
    learned: the share of the labels that the models did not know when they judged.
    """

    probs: Floats
    labels: Indices
    weights: Floats
    out_of_fold: bool = True
    learned: float = 1 / FOLDS


def estimate_accuracy(judged: Judged, open_probs: Floats, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the accuracy of predictions (m, classes) of open items, and the ends of its 90 % interval."""
    temper, seen, right = _tempered(judged)
    line = fit_platt(seen, right, judged.weights)
    confidence = temper.apply(open_probs).max(axis=1)
    expected = float(line.chance(confidence).mean())
    spread = float(line.drawn_chances(confidence, DRAWS, rng).mean(axis=1).std())
    half = NORMAL_90 * spread + ACCURACY_ALLOWANCE
    low, high = _of_few(judged, expected - half, expected + half + judged.learned * (1 - expected))
    return expected, low, high


def estimate_error(judged: Judged, open_probs: Floats, rng: np.random.Generator) -> ExpectedError:
    """Return the calibration error (ECE) to expect of predictions (m, classes) of open items."""
    if len(open_probs) > MOST:
        open_probs = open_probs[rng.choice(len(open_probs), MOST, replace=False)]
    temper, seen, right = _tempered(judged)
    tempered = temper.apply(open_probs).max(axis=1)
    lines = [fit_platt(seen, right, judged.weights, steep=steep) for steep in (False, judged.out_of_fold)]
    chances = np.concatenate([line.drawn_chances(tempered, DRAWS // 2, rng, doubt=DOUBT) for line in lines])
    confidence = open_probs.max(axis=1)
    errors = np.array([_ece(confidence, rng.random(len(row)) < row) for row in chances])
    # An error of lines that differ from the truth is never below the true one's where that is near 0: the quantiles
    # alone would leave it out at the low end.
    low, middle, high = (float(value) for value in np.quantile(errors, [0.05, 0.5, 0.95]))
    if not judged.out_of_fold:
        risen = 1 - (1 - judged.learned) * (1 - chances)
        since = np.array([_ece(confidence, rng.random(len(row)) < row) for row in risen])
        low, high = min(low, float(np.quantile(since, 0.05))), max(high, float(np.quantile(since, 0.95)))
    half = max(NORMAL_90 * float(errors.std()), middle - low, high - middle) + ECE_ALLOWANCE
    return ExpectedError(middle, *_of_few(judged, middle - half, middle + half))


def _of_few(judged: Judged, low: float, high: float) -> tuple[float, float]:
    """Return the ends of an interval within 0 and 1, nearer to them the fewer labels there are."""
    trust = min(1.0, len(judged.labels) / PROVISIONAL_BELOW)
    return trust * max(0.0, low), 1 - trust * (1 - min(1.0, high))


def _tempered(judged: Judged) -> tuple[Scaling | Recalibration, Floats, NDArray[np.bool_]]:
    """Return the temperature of the judged predictions, the confidences of the tempered ones, and which are right."""
    even = even_weights(judged.weights)
    temper: Scaling | Recalibration
    if judged.out_of_fold:
        temper = fit_scaling(judged.probs, judged.labels, weights=even, with_offsets=False)
    else:  # of a network, perhaps, whose mistakes are not to be clipped
        temper = Recalibration(judged.probs, judged.labels, STRENGTH, even)
    tempered = temper.apply(judged.probs)
    return temper, tempered.max(axis=1), tempered.argmax(axis=1) == judged.labels


def _ece(confidence: Floats, right: NDArray[np.bool_]) -> float:
    bins = reliability(confidence, right)
    return float(bins.gap @ bins.share)
