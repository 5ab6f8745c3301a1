"""scikit-activeml's own conformance template, which its wheel of version 0.6.1 has and later ones have not.

`make test-peers` runs this file with that version; with a later one there is nothing to run here.
"""

import importlib.util
import unittest

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import cusal

pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

TEMPLATE = "skactiveml.tests.template_query_strategy"


def has_template() -> bool:
    """Return whether this version of scikit-activeml brings the template."""
    return bool(importlib.util.find_spec("skactiveml") and importlib.util.find_spec("skactiveml.tests"))


if has_template():
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.tests.template_query_strategy import TemplateSingleAnnotatorPoolQueryStrategy

    from cusal.adapters import SkactivemlStrategy

    class OneStrategy(TemplateSingleAnnotatorPoolQueryStrategy):
        """What the template asks of a test of a query strategy."""

        name: str

        def setUp(self):
            super().setUp(
                qs_class=SkactivemlStrategy,
                init_default_params={"strategy": self.name},
                query_default_params_clf={
                    "X": np.linspace(0, 1, 20).reshape(10, 2),
                    "y": np.array([0, 1, 0, 1, *[np.nan] * 6]),
                    "clf": SklearnClassifier(RandomForestClassifier(3, random_state=0), classes=[0, 1]),
                },
            )

        def test_init_param_strategy(self):
            self._test_param("init", "strategy", [("margn", ValueError), (1, ValueError), ("margin", None)])

        def test_query_param_clf(self):
            super().test_query_param_clf(test_cases=[])

        def test_query(self):
            params = {**self.query_default_params_clf, "batch_size": 3, "return_utilities": True}
            picks, utilities = self.qs_class(self.name, random_state=0).query(**params)
            for step, pick in enumerate(picks):
                assert utilities[step, pick] == np.nanmax(utilities[step])
                assert np.isnan(utilities[step, picks[:step]]).all()

    for strategy in cusal.strategies.names():
        title = f"Test{strategy.title().replace('_', '')}"
        globals()[title] = type(title, (OneStrategy, unittest.TestCase), {"name": strategy, "__module__": __name__})
