"""What a Label Studio project asks about its tasks, and what people answered.

| answers to a task | it is |
|---|---|
| annotations with a choice | labelled: by the majority; of choices with equally many votes, by the latest |
| the same, some of them marked as ground truth | labelled by those alone |
| annotations that were cancelled (skipped), or are empty | set aside |
| none | open |
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cusal.errors import InvalidInput, UnknownName

KINDS = {"Text": "text", "HyperText": "text", "Image": "image"}  # what cusal learns from, by the tags that show it


@dataclass(frozen=True)
class Question:
    """One choice about a text or an image.

    control, target: names of the tags of the choices and of what they are about. kind: "text" or "image". column: where
    that is in the data of a task.
    """

    control: str
    target: str
    kind: str
    column: str

    def prediction(self, label: str, confidence: float) -> list[dict[str, Any]]:
        """Return a choice as the result of a prediction."""
        value = {"choices": [label]}
        place = {"from_name": self.control, "to_name": self.target, "type": "choices"}
        return [{**place, "value": value, "score": confidence}]


@dataclass(frozen=True)
class Task:
    """A task: its id, what is to be classified, its label if it has one, and whether it was set aside."""

    id: int
    value: Any
    label: str | None
    skipped: bool


def read_question(config: Mapping[str, Any], control: str | None = None) -> Question:
    """Return the question of a project from its configuration as the server parsed it.

    Raises
    ------
    InvalidInput, UnknownName
        If it has no choices about a text or an image, or several and none of them is named.
    """
    choices = {name: tag for name, tag in config.items() if tag.get("type") == "Choices"}
    if control is not None and control not in choices:
        raise UnknownName("tag <Choices> in the project", control, choices)
    if control is None and len(choices) != 1:
        met = f"has {len(choices)} tags <Choices> ({', '.join(choices)})" if choices else "has no tag <Choices>"
        todo = "name one of them by --choices" if choices else "cusal learns single choices about texts and images"
        raise InvalidInput(f"the labelling interface of the project {met}; {todo}.")
    name = control if control is not None else next(iter(choices))
    inputs = choices[name].get("inputs") or [{}]
    shown, column = str(inputs[0].get("type")), str(inputs[0].get("value", "")).lstrip("$")
    if shown not in KINDS or not column or inputs[0].get("valueType") == "url":
        raise InvalidInput(
            f"the choices {name!r} are about a tag <{shown}>; cusal learns from <Text>, <HyperText> and <Image> whose "
            "value is a column of the data."
        )
    return Question(name, choices[name]["to_name"][0], KINDS[shown], column)


def read_task(task: Mapping[str, Any], question: Question) -> Task:
    """Return a task as the server describes it.

    Raises
    ------
    InvalidInput
        If somebody made several choices in one annotation.
    """
    annotations = task.get("annotations") or []
    votes = [(one, choice) for one in annotations if (choice := _choice(one, task["id"], question)) is not None]
    counted = [vote for vote in votes if vote[0].get("ground_truth")] or votes
    label = _majority(counted) if counted else None
    return Task(int(task["id"]), task["data"].get(question.column), label, bool(annotations) and label is None)


def _majority(votes: Sequence[tuple[Mapping[str, Any], str]]) -> str:
    count = Counter(choice for _, choice in votes)
    most = max(count.values())
    latest = max(
        (vote for vote in votes if count[vote[1]] == most),
        key=lambda vote: (str(vote[0].get("updated_at")), vote[0].get("id", 0)),
    )
    return latest[1]


def _choice(annotation: Mapping[str, Any], task: int, question: Question) -> str | None:
    """Return the choice of an annotation; None if it was cancelled or is empty."""
    if annotation.get("was_cancelled"):
        return None
    made = [
        choice
        for part in annotation.get("result") or []
        if part.get("from_name") == question.control
        for choice in part.get("value", {}).get("choices", [])
    ]
    if len(made) > 1:
        raise InvalidInput(
            f"task {task} has {len(made)} choices in one annotation; cusal learns one class for each task: "
            'set choice="single" in the labelling interface.'
        )
    return str(made[0]) if made else None
