"""Every public function and method with arguments that it takes, for a fuzzer to replace some of them."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import cusal
from cusal import calibration, features, metrics, models, recalibration, scale, strategies
from cusal.apps.bench import datasets

RNG = np.random.default_rng(0)
ITEMS = RNG.normal(size=(40, 3))
TRUTH = (ITEMS[:, 0] > 0).astype(int)
PROBS = RNG.dirichlet([1, 1, 1], size=12)
LABELS = np.arange(12) % 3
BINARY = np.stack([PROBS[:, 0], 1 - PROBS[:, 0]], axis=1)


@dataclass
class Call:
    """A function, or a method of a fresh object that `make` returns, and the arguments that it takes."""

    run: Callable[..., Any]
    arguments: dict[str, Any]
    make: Callable[[], Any] | None = None
    must_keep: bool = field(default=True)  # the object as it was, if the call is refused


def session() -> cusal.Session:
    known = {int(i): int(TRUTH[i]) for i in range(8)}
    made = cusal.Session(ITEMS, LogisticRegression(), "margin", labelled=known, seed=0)
    made.fit()
    query = made.ask(2)
    made.tell(query.indices, TRUTH[query.indices])
    made.predict_proba(ITEMS[:2])  # recalibrated now, so that no call has a reason to change anything
    return made


def audit() -> cusal.Audit:
    made = cusal.Audit(PROBS, seed=0)
    asked = made.ask(8)
    made.tell(asked, LABELS[asked])
    made.accuracy()  # what it computes once is no change
    return made


def model(kind: Any, **settings: Any) -> Callable[[], Any]:
    return lambda: kind(**settings).fit(ITEMS[:12], TRUTH[:12])


def calls(folder: Path) -> dict[str, Call]:
    """Return the calls by name; what is written goes into the folder."""
    return {
        **_functions(folder),
        **_methods("Session", session, _of_a_session(folder)),
        **_methods("Audit", audit, _of_an_audit(folder)),
        **_classes(),
        **_fitted(),
    }


def _methods(name: str, make: Callable[[], Any], given: dict[str, dict[str, Any]]) -> dict[str, Call]:
    def method(attribute: str) -> Callable[..., Any]:
        return lambda target, **arguments: getattr(target, attribute)(**arguments)

    return {f"{name}.{attribute}": Call(method(attribute), own, make) for attribute, own in given.items()}


def _of_a_session(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        "ask": {"batch_size": 3},
        "tell": {"indices": [20, 21], "labels": [0, 1]},
        "skip": {"indices": [20, 21]},
        "reopen": {"indices": [0]},
        "predict": {"items": ITEMS[:4]},
        "predict_proba": {"items": ITEMS[:4]},
        "evaluate": {"items": ITEMS[:20], "labels": TRUTH[:20]},
        "save": {"path": folder / "a.session"},
        "load": {"path": folder / "a.session", "items": ITEMS},
        "estimate_accuracy": {},
        "stopping": {},
        "fit": {},
    }


def _of_an_audit(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        "ask": {"count": 3},
        "tell": {"indices": [0, 1], "labels": [0, 1], "right": None},
        "skip": {"indices": [0]},
        "accuracy": {"where": None, "anytime": False, "level": 0.95},
        "by_class": {"level": 0.95},
        "slice": {"name": "a", "where": np.arange(12) < 6, "level": 0.9},
        "macro_f1": {"level": 0.95},
        "needed": {"half_width": 0.05, "level": 0.95},
        "hunt": {"count": 3},
        "guarantee": {"promise": 0.9, "level": 0.95, "count": 3},
        "accept": {"max_wrong": 0.1, "level": 0.95},
        "as_after": {"count": 3},
        "save": {"path": folder / "a.audit"},
        "load": {"path": folder / "a.audit"},
        "calibrated": {},
        "begin_hunt": {},
    }


def _functions(folder: Path) -> dict[str, Call]:
    scored = {"probs": PROBS, "labels": LABELS}
    named = {
        "query": (cusal.query, {"pool_probs": PROBS, "labelled_probs": PROBS, "labels": LABELS, "batch_size": 3,
                                "strategy": "cusal", "seed": 0}),
        "query by margin": (cusal.query, {"pool_probs": PROBS, "batch_size": 3, "strategy": "margin"}),
        "noisy": (cusal.noisy, {"labels": LABELS, "rate": 0.1, "seed": 0}),
        "simulate": (_simulate, {"oracle": TRUTH, "rounds": 1, "batch_size": 2, "test": (ITEMS, TRUTH)}),
        "load_model": (cusal.load_model, {"path": folder / "none.cusal"}),
        "score_files": (cusal.score_files, {"pool": folder / "pool.npy", "labelled": folder / "labelled.npz",
                                            "batch_size": 3, "out": folder / "picks.csv", "strategy": "cusal",
                                            "engine": "local", "seed": 0}),
        "scale.find_engine": (scale.find_engine, {"name": "local"}),
        "calibration.pointwise_error": (calibration.pointwise_error, {
            "pool_probs": PROBS, "labelled_probs": PROBS, "labels": LABELS, "bandwidth": 0.01, "p": 1,
            "density_floor": 1e-10, "tolerance": 1e-9}),
        **{f"calibration.{name}": (getattr(calibration, name), scored | {"bandwidth": 0.01, "p": 1})
           for name in ("canonical_error", "marginal_error", "top_label_error")},
        "calibration.select_bandwidth": (calibration.select_bandwidth, {"probs": PROBS, "grid": [0.01, 0.1]}),
        "calibration.error_bound": (calibration.error_bound, {
            "mean_error": 0.1, "labelled": 50, "pool": 500, "delta": 0.05, "largest": 2.0}),
        "calibration.estimator_rate": (calibration.estimator_rate, {
            "labelled": 50, "classes": 3, "bandwidth": 0.01}),
        **{f"metrics.{name}": (getattr(metrics, name), scored | {"classes": None})
           for name in ("accuracy", "balanced_accuracy", "macro_f1", "brier", "nll")},
        **{f"metrics.{name}": (getattr(metrics, name), scored | {"bins": 5, "classes": None})
           for name in ("ece", "classwise_ece", "max_calibration_error")},
        "recalibration.apply_temperature": (recalibration.apply_temperature, {"probs": PROBS, "temperature": 2.0}),
        "recalibration.fit_temperature": (recalibration.fit_temperature, {
            "log_probs": np.log(PROBS), "labels": LABELS, "strength": 5.0}),
        "strategies.names": (strategies.names, {}),
        "strategies.check_strategy": (strategies.check_strategy, {"strategy": strategies.Random()}),
        "features.as_vectors": (features.as_vectors, {"found": ITEMS[:12], "count": 12, "name": "own.py"}),
        "features.stacked": (features.stacked, {"parts": [ITEMS[:3], ITEMS[3:5]]}),
        "strategies.find": (strategies.find, {"name": "margin"}),
        "strategies.make": (strategies.make, {"strategy": "cusal", "bandwidth": 0.1}),
        "datasets.find_source": (datasets.find_source, {"name": "digits"}),
        "datasets.where": (datasets.where, {"name": "mnist", "folder": folder}),
        "datasets.load": (datasets.load, {"name": "digits", "folder": folder}),
        "datasets.describe": (datasets.describe, {"folder": folder}),
        "datasets.data_folder": (datasets.data_folder, {"folder": folder}),
        "datasets.names": (datasets.names, {}),
        "features.image_vectors": (features.image_vectors, {"paths": [folder / "none.png"], "side": 32}),
    }  # fmt: skip
    return {name: Call(*pair) for name, pair in named.items()}


def _simulate(**arguments: Any) -> list[cusal.Round]:
    return list(cusal.simulate(session(), **arguments))


def _classes() -> dict[str, Call]:
    made: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "Session": (cusal.Session, {
            "items": ITEMS, "model": LogisticRegression(), "strategy": "margin", "labelled": {0: 0, 1: 1}, "seed": 0,
            "recalibrate": "auto", "reference": "fitted", "audit": 0.0, "classes": [0, 1]}),
        "Audit": (cusal.Audit, {"probs": PROBS, "classes": ["a", "b", "c"], "ids": range(12), "seed": 0}),
        "Audit of labels": (cusal.Audit, {"predicted": LABELS, "confidence": PROBS.max(axis=1), "seed": 0}),
        "Pool": (cusal.Pool, {"size": 4}),
        "scale.Request": (scale.Request, {"batch_size": 3, "strategy": strategies.Margin(), "seed": 0}),
        "calibration.Estimator": (calibration.Estimator, {"bandwidth": 0.1, "p": 1, "density_floor": 1e-10}),
        "models.Ensemble": (_fit(models.Ensemble), {"model": LogisticRegression()}),
        "models.PoolClassifier": (_fit(models.PoolClassifier), {
            "neighbours": 3, "smoothing": 0.5, "C": 50.0, "standardise": "auto"}),
        "models.FewLabelClassifier": (_fit(models.FewLabelClassifier), {
            "experts": ["kernel", "lda"], "features": "auto", "classes": [0, 1, 2], "random_share": 1.0,
            "random_state": 0}),
        "models.Uncalibrated": (_fit(models.Uncalibrated), {"model": LogisticRegression(), "spread": 10.0}),
        "recalibration.TemperatureScaled": (_fit(recalibration.TemperatureScaled), {
            "model": LogisticRegression(), "method": "cross-fit", "random_state": 0}),
        "features.TableFeatures": (_transform(features.TableFeatures), {"max_categories": 5}),
        "features.TextFeatures": (_transform_texts, {"dense": True, "components": 2}),
    }  # fmt: skip
    found = {name: Call(*pair) for name, pair in made.items()}
    for name in strategies.names():
        kind = strategies.find(name)
        settings = {setting.name: setting.default for setting in dataclasses.fields(kind)}
        found[f"strategies.{kind.__name__}"] = Call(kind, settings)
    return found


def _fit(kind: Any) -> Callable[..., Any]:
    return lambda **settings: kind(**settings).fit(ITEMS[:12], TRUTH[:12])


def _transform(kind: Any) -> Callable[..., Any]:
    rows = np.array([["a", 1], ["b", 2], ["a", 3]], dtype=object)
    return lambda **settings: kind(**settings).fit_transform(rows)


def _transform_texts(**settings: Any) -> Any:
    return features.TextFeatures(**settings).fit_transform(["one two", "two three", "three four five"])


def _fitted() -> dict[str, Call]:
    found = {}
    kinds = {
        "models.PoolClassifier": model(models.PoolClassifier, neighbours=3),
        "models.FewLabelClassifier": model(models.FewLabelClassifier, experts=["ridge", "lda"], random_state=0),
        "models.Ensemble": model(models.Ensemble, model=LogisticRegression()),
        "recalibration.TemperatureScaled": model(
            recalibration.TemperatureScaled, model=LogisticRegression(), method="cross-fit"
        ),
    }
    for name, make in kinds.items():
        found |= _methods(name, make, {"predict": {"X": ITEMS[:4]}, "predict_proba": {"X": ITEMS[:4]}})
        found[f"{name}.fit"] = Call(
            lambda target, **data: target.fit(**data), {"X": ITEMS[:12], "y": TRUTH[:12]}, make, must_keep=False
        )
    return found
