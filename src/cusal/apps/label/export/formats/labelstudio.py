"""Tasks with annotations and predictions that Label Studio imports, and the labelling configuration for them.

label_studio.json   a list of tasks: data, annotations (one for each answer), predictions, and in `meta` who said what
label_studio.xml    the configuration: Settings, Labeling Interface, Code

Label Studio knows people by their accounts there, so that annotations become those of whoever imports the file. Images
are named as files of local storage, relative to the folder that holds the project's folder of images: start Label
Studio with LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true and LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT set to it.
"""

import json
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from cusal._files import write_whole
from cusal.apps.label.export.contents import AnsweredItem, NamedAnswer, Overview, Predicted
from cusal.apps.label.store.records import Item, LabelClass
from cusal.tables import moment

OBJECTS = {
    "image": '<Image name="item" value="$image" zoom="true" zoomControl="true"/>',
    "text": '<Text name="item" value="$text"/>',
    "table": '<Table name="item" value="$row"/>',
}
LOCAL_FILES = "/data/local-files/?d="
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Sink:
    """The tasks of an export."""

    takes_predictions: ClassVar[bool] = True

    def __init__(self, folder: Path, overview: Overview) -> None:
        self._kind, self._folder = overview.settings.kind, Path(overview.settings.data).name
        self._classes, self._version = overview.predicted or (), overview.model
        write_whole(folder / "label_studio.xml", _configuration(self._kind, overview.classes).encode())
        self._files = ExitStack()
        path = folder / "label_studio.json"
        self._file = self._files.enter_context(path.open("w", encoding="utf-8", errors="backslashreplace"))
        self._between = "[\n"

    def answered(self, items: Sequence[AnsweredItem]) -> None:
        """Add items that somebody answered."""
        for each in items:
            said = [{"person": a.person, "kind": a.kind, "label": a.label, "at": _at(a)} for a in each.answers]
            self._write(each.item, annotations=[_annotation(a) for a in each.answers], meta={"answers": said})

    def predicted(self, chunk: Predicted) -> None:
        """Add predictions of items without a label."""
        best, confidence = chunk.probs.argmax(axis=1).tolist(), chunk.probs.max(axis=1).tolist()
        for item, place, score in zip(chunk.items, best, confidence, strict=True):
            result = _result(self._classes[place])
            prediction = {"model_version": self._version, "score": round(score, 6), "result": result}
            self._write(item, predictions=[prediction])

    def close(self) -> list[str]:
        """Complete the file."""
        self._file.write("\n]\n" if self._between == ",\n" else "[]\n")
        self._files.close()
        return []

    def _write(self, item: Item, **parts: Any) -> None:
        meta = {"item": item.id, "key": item.key} | parts.pop("meta", {})
        task = {"data": self._data(item), "meta": meta, **parts}
        self._file.write(f"{self._between}{json.dumps(task, ensure_ascii=False)}")
        self._between = ",\n"

    def _data(self, item: Item) -> dict[str, Any]:
        if self._kind == "image":
            place = quote(f"{self._folder}/{item.key}", errors="surrogateescape")
            return {"image": f"{LOCAL_FILES}{place}", "key": item.key}
        if self._kind == "text":
            return {"text": item.text or "", "key": item.key}
        return {"row": item.extra or {}, "key": item.key}


def _annotation(answer: NamedAnswer) -> dict[str, Any]:
    """Return an answer as an annotation; a skipped item is one that was cancelled there."""
    return {
        "result": [] if answer.label is None else _result(answer.label),
        "was_cancelled": answer.label is None,
        "ground_truth": False,
        "lead_time": answer.seconds,
    }


def _result(label: str) -> list[dict[str, Any]]:
    return [{"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [_in_xml(label)]}}]


def _configuration(kind: str, classes: Sequence[LabelClass]) -> str:
    lines = ["<View>", f"  {OBJECTS[kind]}", '  <Choices name="label" toName="item" choice="single" showInLine="true">']
    for each in classes:
        hotkey = f" hotkey={quoteattr(_in_xml(each.key))}" if each.key else ""
        hint = f" hint={quoteattr(_in_xml(each.description))}" if each.description else ""
        lines.append(f"    <Choice value={quoteattr(_in_xml(each.name))}{hotkey}{hint}/>")
    return "\n".join([*lines, "  </Choices>", "</View>", ""])


def _in_xml(text: str) -> str:
    """Return a text without the signs that XML cannot hold."""
    return _NOT_IN_XML.sub("\ufffd", text)


def _at(answer: NamedAnswer) -> str | None:
    return None if answer.at is None else moment(answer.at)
