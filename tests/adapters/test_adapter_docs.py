"""Every public name of the adapters describes its parameters and shows an example."""

import inspect
import re

import pytest

import cusal


@pytest.mark.peer
@pytest.mark.parametrize("name", cusal.adapters.__all__)
def test_it_describes_every_parameter_and_shows_an_example(name):
    value = getattr(cusal.adapters, name)
    text = inspect.getdoc(value)
    assert "Examples\n--------" in text
    headings = re.findall(r"^([*\w]+(?:, [*\w]+)*)(?: : .*)?\n    ", text, re.MULTILINE)
    described = {one.strip("*") for heading in headings for one in heading.split(", ")}
    assert [one for one in inspect.signature(value).parameters if one not in described] == []
