"""Checks of input by scikit-learn, under one name in all its versions."""

from typing import Any

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6

    def validate_data(estimator: Any, *args: Any, **settings: Any) -> Any:
        """Return checked items, or items and labels, by the method that older estimators have."""
        return estimator._validate_data(*args, **settings)


def validate(estimator: Any, *data: Any, **settings: Any) -> Any:
    """Return checked items, or items and labels; columns are counted, or compared with those of the last fit.

    Raises
    ------
    ValueError
        If they are not finite or not of the expected shape.
    """
    return validate_data(estimator, *data, **settings)
