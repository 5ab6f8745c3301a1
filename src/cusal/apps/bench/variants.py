"""Training variants by the names that grids call them: what the network is trained on, and what is put around it.

model = "energy"
model = {name = "augmented", copies = 2}
model = {name = "temperature_scaled", method = "held-out", of = "energy"}     # around another, "plain" without `of`
model = {name = "sklearn.ensemble:RandomForestClassifier", n_estimators = 50}  # one of your own

A name is that of a file: an objective in `models/objectives/`, or a `Wrapper` in `models/` or `recalibration/`. "plain"
is the objective `cross_entropy`. What "package.module:Name" names may be

| a class | is made with |
|---|---|
| of `Objective` | its settings; a `TorchClassifier` trains the network on it |
| of `Wrapper`, or whose first parameter is `model` | the model that `of` names, and its settings |
| whose first parameter is `estimator`, where the table has `of` | the same |
| whose first parameter is `module` | the network, those of the grid's settings that it takes, and its own |
| any other with `fit` and `predict_proba` | its settings; it has no use for the network |

A torch module in this place is the grid's network, with plain training.
"""

import ast
import functools
import importlib
import importlib.util
import inspect
import math
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any, Literal

import cusal.models
import cusal.recalibration
from cusal._checks import import_name, is_import_name
from cusal.errors import InvalidInput, UnknownName
from cusal.models import networks, objectives

PLAIN = {"plain": "cross_entropy"}  # the name that grids had for it before there were objectives
WRAPPER_ROOMS = (cusal.models, cusal.recalibration)

Kind = Literal["objective", "wrapper", "trainer", "classifier", "module"]


def names() -> list[str]:
    """Return the names of all variants, without loading torch."""
    return sorted({*PLAIN, *objectives.names(), *_wrappers()})


def as_table(value: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return what a grid calls by a name alone, or by a table with a name and settings, as a table."""
    return {"name": value} if isinstance(value, str) else dict(value)


def check_model(model: str | Mapping[str, Any]) -> None:
    """Raise `UnknownName` for names that no variant has; torch is not loaded, but for classes of the user's own."""
    table = as_table(model)
    kind = _kind(table)
    if "of" in table:
        if kind != "wrapper":
            raise InvalidInput(f"{table['name']} goes around no other model; leave `of` out.")
        if not isinstance(table["of"], str | Mapping):
            raise InvalidInput(f"of is {table['of']!r}; expected the name of a model, or a table with its name.")
        check_model(table["of"])


def build_variant(model: str | Mapping[str, Any], make_module: Callable[[], Any], training: Mapping[str, Any]) -> Any:
    """Return the untrained classifier.

    Parameters
    ----------
    model : str or table
        A name, or a table with a name and settings.
    make_module : callable
        Returns the torch module; called where the variant trains one.
    training : mapping
        The settings of `TorchClassifier` that all variants of a grid share.
    """
    check_model(model)
    table = as_table(model)
    kind, constructor = _kind(table), _find(table["name"])
    name, inner = table.pop("name"), table.pop("of", "plain")
    if kind == "wrapper":
        _check(name, table, _parameters(constructor)[1:])
        return constructor(build_variant(inner, make_module, training), **table)
    if kind == "module":
        raise InvalidInput(
            f"the model {name!r} is a torch module, which goes into `network`; other models train it there."
        )
    if kind == "objective":
        return _train_on(constructor, table, name, make_module, training)
    known = _parameters(constructor)
    if kind == "trainer":
        _check(name, table, [key for key in known[1:] if key not in training])
        shared = {key: value for key, value in training.items() if key in known}
        return constructor(make_module(), **shared, **table)
    _check(name, table, known)
    return constructor(**table)


def _train_on(
    objective: Any, settings: dict[str, Any], name: str, make_module: Callable[[], Any], training: Mapping[str, Any]
) -> Any:
    """Return a `TorchClassifier` with this objective; settings that the objective lacks are the classifier's."""
    from cusal.models import TorchClassifier  # it loads torch

    inner = _parameters(objective)
    outer = [key for key in _parameters(TorchClassifier) if key not in ("module", "objective", *training)]
    _check(name, settings, [*inner, *outer])
    made = objective(**{key: value for key, value in settings.items() if key in inner})
    more = {key: value for key, value in settings.items() if key not in inner}
    return TorchClassifier(make_module(), objective=made, **training, **more)


def is_module(model: str | Mapping[str, Any]) -> bool:
    """Return whether a grid's model is a torch module of the user's own, which is a network."""
    return _kind(as_table(model)) == "module"


def needs_network(model: str | Mapping[str, Any]) -> bool:
    """Return whether a model trains the grid's network: neither scikit-learn's does, nor one that is a network."""
    table = as_table(model)
    kind = _kind(table)
    return needs_network(table.get("of", "plain")) if kind == "wrapper" else kind not in ("classifier", "module")


def takes_rows(model: str | Mapping[str, Any]) -> bool:
    """Return whether a model is scikit-learn's or of its kind, and does not say that it takes more than rows."""
    table = as_table(model)
    kind = _kind(table)
    if kind == "wrapper":
        return takes_rows(table.get("of", "plain"))
    if kind != "classifier":
        return False
    made = _find(table["name"])(**{key: value for key, value in table.items() if key != "name"})
    from sklearn.base import BaseEstimator  # loaded by those who name such a model only

    if not hasattr(BaseEstimator, "__sklearn_tags__"):  # before scikit-learn 1.6
        return isinstance(made, BaseEstimator)
    return hasattr(made, "__sklearn_tags__") and not made.__sklearn_tags__().input_tags.three_d_array


def _kind(table: Mapping[str, Any]) -> Kind:
    name = str(table.get("name"))
    if not is_import_name(name):
        if name in _wrappers():
            return "wrapper"
        if name in names():
            return "objective"
        raise UnknownName("model", name, names())
    found = _find(name)
    if isinstance(found, type) and issubclass(found, objectives.Objective):
        return "objective"
    first = next(iter(_parameters(found)), "") if callable(found) else ""
    if first == "model" or (first == "estimator" and "of" in table):
        return "wrapper"
    if first == "module":
        return "trainer"
    if hasattr(found, "forward") and hasattr(found, "named_parameters"):
        return "module"
    if not callable(found) or (isinstance(found, type) and not hasattr(found, "predict_proba")):
        raise InvalidInput(
            f"the model {name!r} is not something that makes a classifier with fit and predict_proba; "
            "expected a classifier, a Wrapper, an Objective or a torch module."
        )
    return "classifier"


def _find(name: str) -> Any:
    if is_import_name(name):
        return import_name(name, "model")
    if name not in _wrappers():
        return objectives.find(PLAIN.get(name, name))
    module = importlib.import_module(_wrappers()[name])
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    return next(value for value in own if "Wrapper" in {base.__name__ for base in value.__mro__})


@functools.cache
def _wrappers() -> dict[str, str]:
    """Return the modules that hold a wrapper, by file name; they are read as text, since some would load torch."""
    found = {}
    for room in WRAPPER_ROOMS:
        for file in pkgutil.iter_modules(room.__path__):
            module = f"{room.__name__}.{file.name}"
            if not file.name.startswith("_") and not file.ispkg and _defines_wrapper(module):
                found[file.name] = module
    return found


def _defines_wrapper(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    source = spec.loader.get_source(module) if spec and spec.loader else None  # type: ignore[attr-defined]
    classes = [node for node in ast.parse(source or "").body if isinstance(node, ast.ClassDef)]
    return any(ast.unparse(base).split(".")[-1] == "Wrapper" for node in classes for base in node.bases)


def _parameters(constructor: Any) -> list[str]:
    return list(inspect.signature(constructor).parameters)


def _check(name: str, settings: Mapping[str, Any], known: list[str]) -> None:
    for key in settings:
        if key not in known:
            raise UnknownName(f"setting of the model {name}", key, {*known, "name"})


# The networks of grids: a name, or a table with a name and settings.


def build_module(network: dict[str, Any], item_shape: tuple[int, ...], classes: int) -> Any:
    """Return the torch module of a grid's `network`.

    Parameters
    ----------
    network : dict
        Its name and its settings.
    item_shape : tuple of int
        The shape of one item; networks with a parameter `inputs` or `channels` are told theirs.
    classes : int
        The number of classes.
    """
    settings = {key: value for key, value in network.items() if key != "name"}
    name = network["name"]
    constructor = networks.find(name)
    parameters = inspect.signature(constructor).parameters
    if "classes" not in parameters:
        raise InvalidInput(f"the network {name!r} has no parameter `classes`; add it, the number of its outputs.")
    known = set(parameters) - {"classes"}
    for key in settings:
        if key not in known:
            raise UnknownName(f"setting of {name}", key, known)
    if "inputs" in known:  # a network for items of any size is told theirs
        settings.setdefault("inputs", math.prod(item_shape))
    if "channels" in known and len(item_shape) == 3:
        settings.setdefault("channels", item_shape[0])
    return constructor(classes=classes, **settings)
