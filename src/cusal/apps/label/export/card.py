"""The card of an export: what the labels and the model come from and how good they are, as JSON and to read.

Everything measured says what it rests on. Nothing in the card names a path of the machine that it was made on.
"""

import importlib.metadata
import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cusal import __version__
from cusal.apps.label.store.project import Project
from cusal.tables import moment

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")  # whose versions may change predictions
KINDS = {"image": "images", "text": "texts", "table": "rows of a table"}
FEATURES = {
    "tfidf": "TF-IDF weights of words and of pieces of words",
    "minilm": "sentence vectors of all-MiniLM-L6-v2",
    "efficientnet_lite0": "image vectors of EfficientNet-Lite0, trained on ImageNet",
    "table": "the columns, scaled and encoded",
    "function": "a function of the user's",
    "vectors": "vectors that were given as a file",
}


def make_card(project: Project, model: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the card of a project; `model` holds `features`, `classifier`, `labels`, `accuracy` and `calibration`."""
    settings, answers, labels = project.settings, project.answers.given(), project.answers.labels()
    given, agreement = [answer for answer in answers if answer.kind == "label"], project.answers.agreement()
    times = sorted(answer.at for answer in given if answer.at is not None)
    people: dict[str, int] = {}
    for answer in given:
        people[answer.person] = people.get(answer.person, 0) + 1
    return {
        "title": settings.title,
        "kind": settings.kind,
        "written": moment(time.time()),
        "data": {"name": Path(settings.data).name} | {state: project.items.count(state) for state in STATES},
        "classes": [
            {"name": one.name, "labels": one.labels, "description": one.description} for one in project.classes.all()
        ],
        "labels": {
            "items": len(labels),
            "answers": len(answers),
            "people": people,
            "first": moment(times[0]) if times else None,
            "last": moment(times[-1]) if times else None,
            "agreement": {name: agreement[name] for name in ("items", "disagreements", "alpha")},
        },
        "model": None if model is None else dict(model),
        "versions": _versions(),
    }


STATES = ("ok", "missing", "broken")


def card_text(card: Mapping[str, Any]) -> str:
    """Return a card in Markdown."""
    parts = [f"# {_plain(card['title'])}", "", *_summary(card), "", *_data(card), "", *_labels(card)]
    if card["model"] is not None:
        parts += ["", *_quality(card["model"]), "", *_use(card)]
    versions = ", ".join(f"{name} {version}" for name, version in card["versions"].items())
    return "\n".join([*parts, "", f"Written {card['written']} with {versions}.", ""])


def _summary(card: Mapping[str, Any]) -> list[str]:
    data, labels, model = card["data"], card["labels"], card["model"]
    said = f"Labels of {labels['items']:,} of {data['ok'] + data['missing'] + data['broken']:,} {KINDS[card['kind']]}"
    if model is None:
        return [f"{said}. There is no model yet."]
    return [f"{said}, and a model that predicts the others."]


def _data(card: Mapping[str, Any]) -> list[str]:
    data = card["data"]
    lines = ["## Data", "", f"{data['ok']:,} {KINDS[card['kind']]} of {_plain(data['name'])}."]
    aside = [f"{data[state]:,} {state}" for state in STATES[1:] if data[state]]
    return [*lines, f"Set aside: {', '.join(aside)}."] if aside else lines


def _labels(card: Mapping[str, Any]) -> list[str]:
    labels = card["labels"]
    lines = ["## Labels", "", "| class | labels | what it means |", "|---|---|---|"]
    lines += [f"| {_plain(c['name'])} | {c['labels']:,} | {_plain(c['description'])} |" for c in card["classes"]]
    if labels["people"]:
        people = ", ".join(f"{_plain(name)} {count:,}" for name, count in labels["people"].items())
        lines += ["", f"Who gave how many: {people}. From {labels['first']} to {labels['last']}."]
    if "import" in labels["people"]:
        lines.append('"import" stands for labels that the data brought along.')
    agreement = labels["agreement"]
    if agreement["items"]:
        alpha = "" if agreement["alpha"] is None else f" (Krippendorff's alpha {agreement['alpha']:.2f})"
        lines.append(
            f"Of {agreement['items']:,} items with several labels, people disagree on {agreement['disagreements']:,}"
            f"{alpha}; the majority counts, and the latest of a tie."
        )
    return lines


def _quality(model: Mapping[str, Any]) -> list[str]:
    lines = ["## How good the model is", ""]
    accuracy, calibration = model["accuracy"], model["calibration"]
    if accuracy is None:
        lines.append("Its accuracy cannot be estimated: there is no open item left to predict.")
    else:
        lines.append(
            f"About {_percent(accuracy['estimate'])} of its predictions of the items without a label are right, and "
            f"with 90 % confidence between {_percent(accuracy['low'])} and {_percent(accuracy['high'])}: estimated "
            f"from {accuracy['labels']:,} labels, {accuracy['drawn']:,} of them drawn at random. "
            + ("Without random draws this may be too high. " if not accuracy["drawn"] else "")
            + "It holds for items like these, not for others."
        )
    if calibration is not None and calibration["ece_after"] is not None:
        low, high = calibration["ece_after_low"], calibration["ece_after_high"]
        lines += [
            "",
            f"Its probabilities are off by about {_percent(calibration['ece_after'])} on average (expected calibration "
            f"error; with 90 % confidence between {_percent(low)} and {_percent(high)}), from "
            f"{calibration['evidence']:,} predictions made without the label that they are compared with. "
            + _temperature(calibration["temperature"]),
        ]
    return lines


def _use(card: Mapping[str, Any]) -> list[str]:
    model = card["model"]
    trust = " --trust" if model["features"] == "function" else ""
    return [
        "## The model",
        "",
        f"{model['classifier']} on {FEATURES[model['features']]}, fitted to {model['labels']:,} labels.",
        "",
        f"    cusal predict model.cusal NEW_DATA --out predictions.csv{trust}",
        "",
        'In Python: `cusal.load_model("model.cusal").predict_proba(items)`. Reading the file runs no code of it.',
    ]


def _temperature(temperature: float) -> str:
    if temperature == 1:
        return "They are the classifier's own: no recalibration showed a gain."
    return f"They were recalibrated by a temperature of {temperature:.2f}."


def _versions() -> dict[str, str]:
    found = {"cusal": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %" if share < 0.1 or share > 0.99 else f"{share * 100:.0f} %"


def _plain(text: str) -> str:
    """Return a text of the user's so that Markdown shows it as it is, in one line."""
    escaped = "".join(f"\\{sign}" if sign in "\\`*_{}[]<>()#+!|~" else sign for sign in text)
    return " ".join(escaped.split())
