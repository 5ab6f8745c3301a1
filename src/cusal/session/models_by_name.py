"""Models that a command makes: one that the user names, and one for thousands of labels."""

from typing import Any

from cusal._import_name import import_name
from cusal._protocol import Model
from cusal.errors import InvalidInput
from cusal.session.arguments import as_model


def named_model(name: str) -> Model:
    """Return a new model: "package.module:Name" is called without arguments.

    Raises
    ------
    InvalidInput, UnknownName, MissingMethod
        If there is no such thing, or it has no `fit` and `predict_proba`.

    Examples
    --------
    >>> named_model("sklearn.linear_model:LogisticRegression")
    LogisticRegression()
    """
    found: Any = import_name(name, "model")
    if name.startswith("sklearn.") and not hasattr(found, "get_params"):  # anybody's project may name scikit-learn's
        raise InvalidInput(f"{name} is no model of scikit-learn; name one of its classes.")
    return as_model(found() if isinstance(found, type) or not hasattr(found, "fit") else found)


def for_many_labels(*, scaled: bool) -> Model:
    """Return a logistic regression, whose time does not grow with the cube of the labels.

    scaled: whether the columns of the items share one scale, as those of texts and image features do.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler

    if scaled:
        head = LogisticRegression(C=30, class_weight="balanced", max_iter=1000)
        return make_pipeline(Normalizer(), head)  # type: ignore[no-any-return]
    return make_pipeline(  # type: ignore[no-any-return]
        StandardScaler(with_mean=False), LogisticRegression(class_weight="balanced", max_iter=1000)
    )
