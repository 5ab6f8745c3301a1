"""The model of a session as one that classifies items by itself, and its file with a card."""

import importlib.metadata
import os
import platform
import time
from collections.abc import Hashable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from cusal._items import are_texts, take
from cusal._version import __version__
from cusal.deploy.heads import FittedHead
from cusal.deploy.item_classifier import ItemClassifier, Outputs, Temperature
from cusal.deploy.model_file import load_model, model_state, write_model
from cusal.errors import InvalidInput, PoolExhausted
from cusal.features import GivenVectors, TableFeatures, TableVectors, TextFeatures, Vectoriser, WordVectors
from cusal.features.vectorisers import AsGiven
from cusal.session.session import Session

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")  # whose versions may change predictions


class SessionModel(NamedTuple):
    """The model of a session: what classifies items, and what a file needs of it besides.

    Parameters
    ----------
    classifier : ItemClassifier
        What classifies items.
    head : FittedHead
        Its model with what that was fitted to.

    Examples
    --------
    ::

        model_of(session, vectoriser, names).write("model.cusal", {"written": "today"}, "# My model")
    """

    classifier: ItemClassifier
    head: FittedHead

    def write(self, path: str | os.PathLike[str], card: dict[str, Any], text: str) -> None:
        """Write the file that `cusal.load_model` reads, completely or not at all.

        Parameters
        ----------
        path : path
            The file, "model.cusal" for instance.
        card : dict
            What is known of the model.
        text : str
            The same to read, in Markdown.
        """
        self.classifier.card = card
        write_model(path, model_state(*self), text)


def model_of(
    session: Session, vectoriser: Vectoriser, names: Mapping[Any, Hashable], model: Any = None, vectors: Any = None
) -> SessionModel:
    """Return the model of a session over vectors.

    Parameters
    ----------
    session : Session
        With labels of two classes at least.
    vectoriser : Vectoriser
        What turns new items into such vectors.
    names : mapping
        The names of the classes that exist, by label, in the order of the columns. Others, merged or deleted after the
        session met them, are not predicted.
    model, vectors : optional
        What predicts vectors, and those of the labelled items, if they are not the session's own.

    Returns
    -------
    SessionModel

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> items = np.linspace(-1, 1, 40)[:, None]
    >>> session = Session(items, LogisticRegression(), labelled={0: 0, 39: 1})
    >>> model_of(session, GivenVectors(), {0: "low", 1: "high"}).classifier.predict(items[:2])
    array(['low', 'low'], dtype='<U4')
    """
    session.fit()
    found = session.recalibration
    model = session.model if model is None else model
    number = dict(zip(session.classes_.tolist(), session.class_columns.tolist(), strict=True))
    shown = [known for known in names if known in number]
    outputs = Outputs(
        model,
        found.scaling if hasattr(found, "scaling") else Temperature(found.temperature),
        len(number),
        np.array([number[known] for known in shown], dtype=np.int64),
        tuple(names[known] for known in shown),
    )
    labelled = session.pool.labelled
    numbers = np.array([number[session.labels[place]] for place in labelled.tolist()], dtype=np.int64)
    own = take(session.items, labelled) if vectors is None else vectors
    return SessionModel(ItemClassifier(vectoriser, outputs), FittedHead(model, own, numbers))


def classifier_of(session: Session) -> ItemClassifier:
    """Return the model of a session as a classifier of new items, which needs no pool.

    Parameters
    ----------
    session : Session
        With labels of two classes at least.

    Returns
    -------
    ItemClassifier
        With the session's classes, recalibrated as `session.predict_proba` is; its `card` says how good it is.

    Raises
    ------
    InvalidInput
        If the items are neither numbers nor texts nor rows of a data frame.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> items = np.linspace(-1, 1, 40)[:, None]
    >>> session = Session(items, LogisticRegression(), labelled={0: "low", 39: "high"})
    >>> classifier_of(session).predict(items[:2])
    array(['low', 'low'], dtype='<U4')
    """
    if getattr(session.model, "features_", None) is None:
        return _model_of(session).classifier
    with TemporaryDirectory() as folder:  # the model prepares items by itself; that of a file takes vectors
        export(session, Path(folder) / "model.cusal")
        return load_model(Path(folder) / "model.cusal", trusted=True)


def export(session: Session, path: str | os.PathLike[str]) -> None:
    """Write the model of a session to a file that `cusal.load_model` and `cusal predict` read.

    Parameters
    ----------
    session : Session
        With labels of two classes at least.
    path : path
        The file, "model.cusal" for instance.

    Raises
    ------
    InvalidInput
        If the model cannot be told without a pickle or without the pool.
    """
    found = _model_of(session)
    card = found.classifier.card
    found.write(path, card, card_text(card))


def _model_of(session: Session) -> SessionModel:
    session.fit()
    names = {label: label for label in session.classes_.tolist()}
    features, model = getattr(session.model, "features_", None), getattr(session.model, "model_", session.model)
    labelled = take(session.items, session.pool.labelled)
    if isinstance(features, TextFeatures):
        found = model_of(session, WordVectors(features), names, model, features.transform(labelled))
    elif isinstance(features, TableFeatures) and hasattr(features, "feature_names_in_"):
        columns = tuple(map(str, features.feature_names_in_))
        found = model_of(session, TableVectors(columns, features), names, model, features.transform(labelled))
    elif are_texts(session.items):
        found = model_of(session, AsGiven(), names)
    elif getattr(getattr(session.items, "dtype", None), "kind", "O") in "biuf":
        found = model_of(session, GivenVectors(), names)
    else:
        raise InvalidInput(
            f"the items are a {type(session.items).__name__}, which a model file cannot take; give the session vectors "
            "of them as an array, texts, or a data frame with cusal's own model."
        )
    found.classifier.card = make_card(session, found)
    return found


def make_card(session: Session, found: SessionModel) -> dict[str, Any]:
    """Return what a session knows of its model: data, labels, accuracy and calibration with intervals, versions."""
    labels = [label for _, label in sorted(session.labels.items())]
    try:
        accuracy: Any = session.estimate_accuracy()
    except PoolExhausted:
        accuracy = None
    calibration = session.calibration
    fields = ("estimate", "low", "high", "labels", "drawn", "guessing")
    return {
        "written": time.strftime("%Y-%m-%d %H:%M:%S"),
        "data": {"items": len(session.pool), "open": len(session.pool.open)},
        "classes": [{"name": label, "labels": labels.count(label)} for label in session.classes_.tolist()],
        "labels": {"items": len(labels), "strategy": session.strategy.name, "seed": session.seed},
        "model": {
            "classifier": type(found.head.model).__name__,
            "features": found.classifier.features,
            "classes": [str(label) for label in session.classes_.tolist()],
            "labels": len(labels),
            "accuracy": None if accuracy is None else {name: getattr(accuracy, name) for name in fields},
            "calibration": {
                "temperature": calibration.temperature,
                "evidence": calibration.evidence,
                "ece": calibration.ece_after,
                "ece_interval": calibration.ece_after_interval,
            },
        },
        "versions": _versions(),
    }


def card_text(card: Mapping[str, Any]) -> str:
    """Return a card in Markdown."""
    model, data = card["model"], card["data"]
    accuracy, calibration = model["accuracy"], model["calibration"]
    lines = [
        "# A model of a cusal session",
        "",
        f"{model['classifier']} on {model['features']}, fitted to {card['labels']['items']:,} labels among "
        f"{data['items']:,} items, {data['open']:,} of which are open.",
        "",
        "| class | labels |",
        "|---|---|",
        *(f"| {str(one['name']).replace('|', ' ')} | {one['labels']:,} |" for one in card["classes"]),
        "",
    ]
    if accuracy is not None:
        lines.append(
            f"Accuracy on the open items: about {accuracy['estimate']:.1%}, with 90 % confidence between "
            f"{accuracy['low']:.1%} and {accuracy['high']:.1%}, from {accuracy['labels']:,} labels, "
            f"{accuracy['drawn']:,} of them drawn at random. It holds for items like these, not for others."
        )
    if calibration["ece"] is not None:
        low, high = calibration["ece_interval"]
        lines.append(
            f"Expected calibration error: about {calibration['ece']:.1%}, with 90 % confidence between {low:.1%} and "
            f"{high:.1%}, from {calibration['evidence']:,} predictions."
        )
    versions = ", ".join(f"{name} {version}" for name, version in card["versions"].items())
    return "\n".join([*lines, "", f"Written {card['written']} with {versions}.", ""])


def _versions() -> dict[str, str]:
    found = {"cusal": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
