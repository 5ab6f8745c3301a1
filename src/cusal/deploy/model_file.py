"""A model in one file, to classify new items with: no pickle, nothing of it is run, and no item of the project in it.

A zip archive (`cusal.persistence.object_file`):

    content.json    classes, kind of items, features, classifier, recalibration, card
    arrays/N.npy    vocabulary weights, encoded vectors of the pool, coefficients
    card.md         where the model comes from and how good it is, to read
"""

import os
from collections.abc import Mapping
from typing import Any

from cusal._arguments import is_hashable
from cusal._files import write_whole
from cusal._stored import expect, stored_array, stored_indices, stored_number
from cusal.deploy.heads import FittedHead, restore_head
from cusal.deploy.item_classifier import ItemClassifier, Outputs, Temperature
from cusal.errors import CusalError, DataError
from cusal.features.vectorisers import restore_vectoriser
from cusal.persistence.object_file import as_bytes, checked, header, read_objects
from cusal.recalibration.scaling import Scaling

KIND = "cusal.model"
MOST_GONE = 100  # classes that were merged or deleted, for each that is left


def write_model(path: str | os.PathLike[str], state: Mapping[str, Any], card_text: str) -> None:
    """Write a model, completely or not at all; `state` is what `model_state` returns."""
    content = {**header(KIND), **state}
    write_whole(path, as_bytes(content, pickles=False, beside={"card.md": card_text.encode()}))


def model_state(model: ItemClassifier, head: FittedHead) -> dict[str, Any]:
    """Return a classifier as the content of a file."""
    outputs, vectoriser = model.outputs, model.vectoriser
    scaling = outputs.recalibration
    offsets = scaling.offsets if isinstance(scaling, Scaling) else None
    return {
        "classes": list(outputs.names),
        "columns": outputs.columns,
        "numbers": outputs.numbers,
        "features": {"name": vectoriser.name, "state": vectoriser.state()},
        "head": head.state(),
        "recalibration": {"temperature": float(scaling.temperature), "offsets": offsets},
        "card": model.card,
    }


def load_model(path: str | os.PathLike[str], *, trusted: bool = False) -> ItemClassifier:
    """Return the model of a file that `Session.export` or `cusal export` wrote, to classify new items with.

    Parameters
    ----------
    path : path
        The file, `model.cusal` for instance.
    trusted : bool, default False
        Whether code may run that the file names: a function that computes features, "package.module:function", or a
        classifier that is neither cusal's nor scikit-learn's. Set it only for files that you trust.

    Returns
    -------
    ItemClassifier
        With `classes_`, `predict`, `predict_proba` and `card`.

    Raises
    ------
    DataError
        If the file is missing, damaged or no model, or if it needs trust.

    Examples
    --------
    ::

        model = cusal.load_model("export/model.cusal")
        model.predict_proba(["photos/new.jpg"])
    """
    content = checked(read_objects(path, trusted=trusted), KIND, path)
    try:
        return _restored(content, trusted)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except (CusalError, AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{path} is damaged ({error}); export the model again.") from error


def _restored(content: Mapping[str, Any], trusted: bool) -> ItemClassifier:
    features, recalibration = content["features"], content["recalibration"]
    temperature = stored_number(recalibration["temperature"], "the temperature", 1e-6, 1e6)
    names, offsets = tuple(content["classes"]), recalibration["offsets"]
    numbers = stored_number(content["numbers"], "the number of classes", 1, MOST_GONE * (len(names) + 1), whole=True)
    if offsets is not None:
        stored_array(offsets, "the offsets", numbers)
    outputs = Outputs(
        restore_head(content["head"], trusted=trusted),
        Temperature(temperature) if offsets is None else Scaling(temperature, offsets),
        numbers,
        stored_indices(content["columns"], "the columns", len(names), below=numbers),
        names,
    )
    expect(names and all(map(is_hashable, names)) and isinstance(content["card"], dict), "the list of classes")
    vectoriser = restore_vectoriser(features["name"], features["state"], trusted=trusted)
    return ItemClassifier(vectoriser, outputs, content["card"])
