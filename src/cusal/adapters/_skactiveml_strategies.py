"""Query strategies of scikit-activeml as strategies of cusal: "skactiveml.pool:UncertaintySampling".

A class of theirs becomes a class of ours with the same settings, except `missing_label` and `random_state`, which the
session decides. One that asks for a classifier is given the session's fitted model and the items. One that asks for an
ensemble is given the model's samples. One that asks for neither is given the embeddings as its X.
"""

import dataclasses
import functools
import importlib.util
import inspect
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cusal._checks import as_array, import_name
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput, MissingLibrary, MissingMethod
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

LIBRARY = "skactiveml"
THEIR_BASE = "SingleAnnotatorPoolQueryStrategy"
DECIDED = ("missing_label", "random_state")  # by the session, not by settings
MODELS = ("clf", "estimator", "discriminator")  # parameters of `query` that take a classifier
SAMPLES = 10  # members of an ensemble that is made of the model's samples
EMBEDDINGS_FLAG = "clf_embedding_flag_name"  # the setting that names the argument of `predict_proba`


def adapted(name: str) -> type[Strategy]:
    """Return the class of cusal that stands for the class called "skactiveml.module:Name", or that class if it is ours.

    Raises
    ------
    MissingLibrary
        If scikit-activeml is not installed.
    InvalidInput
        If the name cannot be imported, or is a strategy that cusal cannot drive.
    """
    if importlib.util.find_spec(LIBRARY) is None:
        raise MissingLibrary(f"the strategy {name!r}", "scikit-activeml")
    found = import_name(name, "strategy")
    theirs = any(base.__name__ == THEIR_BASE for base in getattr(found, "__mro__", ()))
    return _class_of(found) if theirs else found


@functools.cache
def _class_of(theirs: type) -> type[Strategy]:
    """Return the class of cusal that stands for a class of theirs."""
    parameters = [p for p in inspect.signature(theirs).parameters.values() if p.name not in DECIDED]
    if any(p.name == "query_strategy" for p in parameters) or "reg" in _query_parameters(theirs):
        raise InvalidInput(
            f"{_name(theirs)} wraps another strategy or needs a regressor; give a strategy for classifiers."
        )
    # Theirs without a default, the classes, are filled in when the strategy is asked.
    fields = [(p.name, Any, _field(None if p.default is p.empty else p.default)) for p in parameters]
    return dataclasses.make_dataclass(
        theirs.__name__,
        fields,
        bases=(_OfSkactiveml,),
        namespace={"theirs": theirs, "__module__": __name__},
        frozen=True,
    )


@dataclass(frozen=True)
class _OfSkactiveml(Strategy):
    """The base of the classes that `adapted` returns."""

    theirs: ClassVar[type]

    @property
    def name(self) -> str:
        return _name(self.theirs)

    def __reduce__(self) -> Any:
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return _made, (self.theirs, settings)

    def select(self, view: View, batch_size: int) -> Indices:
        wanted = _query_parameters(self.theirs)
        asks_for_model = bool(set(wanted) & {*MODELS, "ensemble"})
        X = _items(view) if asks_for_model else _all_embeddings(view)
        labels = view.reference_labels
        y = np.full(len(X), np.nan)
        y[view.answers.labelled] = labels  # type: ignore[attr-defined]
        arguments = self._models(view, X, y, wanted) if asks_for_model else {}
        query = self._strategy(view).query
        try:
            picks = query(X, y, candidates=view.candidates, batch_size=batch_size, **arguments)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"strategy {self.name}: scikit-activeml refuses this session: {error}") from error
        return np.asarray(picks, dtype=np.int64)

    def _strategy(self, view: View) -> Any:
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if "classes" in settings and settings["classes"] is None:
            settings["classes"] = list(range(view.probs.shape[1]))
        if EMBEDDINGS_FLAG in settings and settings[EMBEDDINGS_FLAG] is None:
            settings[EMBEDDINGS_FLAG] = "return_embeddings"
        return self.theirs(**settings, missing_label=np.nan, random_state=int(view.rng.integers(2**31 - 1)))

    def _models(self, view: View, X: Floats, y: Floats, wanted: list[str]) -> dict[str, Any]:
        """Return the classifiers among the arguments of their `query`."""
        from cusal.adapters._skactiveml_classifier import classifier_of, committee_of

        predictions = view.answers.predictions  # type: ignore[attr-defined]
        arguments: dict[str, Any] = {}
        for name in wanted:
            if name == "ensemble":
                arguments |= {name: committee_of(predictions, X, y, SAMPLES), "fit_ensemble": False}
            elif name in MODELS:
                arguments[name] = classifier_of(predictions, X, y)
                # One that simulates further labels fits copies of the model in any case, and this one first.
                simulates = "ignore_partial_fit" in wanted
                arguments |= {f"fit_{name}": simulates} if f"fit_{name}" in wanted else {}
                arguments |= {"ignore_partial_fit": True} if simulates else {}
        return arguments


def _items(view: View) -> Floats:
    """Return the session's items as an array of numbers."""
    predictions = getattr(view.answers, "predictions", None)
    if predictions is None:
        raise MissingMethod("it asks for the model itself, not for probabilities alone; use it in a Session.")
    items = predictions.items
    array = np.empty(0, dtype=object) if hasattr(items, "tocsr") else as_array(items)
    if array.dtype.kind not in "biuf":
        raise MissingMethod(
            "scikit-activeml hands items to the model as arrays of numbers, and these are none; turn them into "
            "vectors first, for instance by cusal.features, or use a strategy that asks for no model."
        )
    return array


def _all_embeddings(view: View) -> Floats:
    """Return the embeddings of all items; those that are neither open nor labelled are no candidates."""
    predictions = getattr(view.answers, "predictions", None)
    if predictions is None:
        raise MissingMethod("it asks for all items, not for probabilities alone; use it in a Session.")
    size = predictions.items.shape[0] if hasattr(predictions.items, "shape") else len(predictions.items)
    return np.asarray(predictions.embeddings(np.arange(size)), dtype=np.float64)


def _query_parameters(theirs: type) -> list[str]:
    return list(inspect.signature(theirs.query).parameters)  # type: ignore[attr-defined]


def _field(default: Any) -> Any:
    return dataclasses.field(default_factory=lambda: default)  # a default of theirs may be a list


def _made(theirs: type, settings: dict[str, Any]) -> Strategy:
    return _class_of(theirs)(**settings)


def _name(theirs: type) -> str:
    """Return the name by which users import a class: files that begin with an underscore are left out."""
    parts = theirs.__module__.split(".")
    return f"{'.'.join(part for part in parts if not part.startswith('_'))}:{theirs.__name__}"
