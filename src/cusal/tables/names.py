"""The usual names of columns, in the order in which they are looked for; upper and lower case are one."""

from collections.abc import Iterable

ID_NAMES = ("id", "_id", "key", "uuid", "guid", "item_id", "text_id", "row_id", "custom_id")
PLACE_NAMES = ("item", "file", "filename", "file_name", "path", "image", "url", "row")  # ids, if nothing better is
TEXT_NAMES = (
    "text",
    "content",
    "sentence",
    "question",
    "message",
    "title",
    "image",
    "path",
    "file",
    "prompt",
    "input",
    "document",
)
LABEL_NAMES = ("label", "labels", "class", "category", "target", "y")
TRUE_NAMES = ("true_label", "true", "truth", "verified", "correct_label", "gold", "label")
RIGHT_NAMES = ("right", "correct", "ok")
VERDICT_NAMES = ("verdict", "judgement", "judgment", "grade")  # what a judge says of an answer or of a label
PREDICTED_NAMES = (
    *("predicted", "prediction", "predicted_label", "pred", "label", "class", "category", "answer"),
    *VERDICT_NAMES,
)
CONFIDENCE_NAMES = (
    "confidence",
    "score",
    "probability",
    "prob",
    "p",
    "logprob",
    "log_prob",
    "logprobs",
    "logprobability",
    "certainty",
    "log_probs",
    "token_logprobs",
    "cumulative_logprob",
)
USUAL_NAMES = {
    *(*ID_NAMES, *PLACE_NAMES, *TEXT_NAMES, *LABEL_NAMES, *TRUE_NAMES, *PREDICTED_NAMES, *CONFIDENCE_NAMES),
    *("name", "body", "review", "comment", "description", "split", "probs"),
} - {"true", "right", "correct", "ok", "p", "y"}  # which may be cells as well


def find_name(columns: Iterable[str], names: Iterable[str]) -> str | None:
    """Return the column with the first of some names that there is, or None.

    >>> find_name(["Score", "Label"], ("label", "class"))
    'Label'
    """
    lower = {name.lower(): name for name in reversed([*columns])}
    return next((lower[name] for name in names if name in lower), None)
