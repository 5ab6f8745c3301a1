"""Tables of predictions as language models and other tools write them."""

import json

import numpy as np
import pytest

from cusal.audit.prediction_table import read_predictions
from cusal.errors import DataError
from cusal.tables import NamedColumns


def read(tmp_path, *objects):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    return read_predictions(str(path), NamedColumns())


@pytest.mark.parametrize(
    "tokens",
    [
        [-0.1, -0.2],
        [{"token": "ca", "logprob": -0.1}, {"token": "t", "logprob": -0.2}],
        {"content": [{"token": "ca", "logprob": -0.1, "top_logprobs": []}, {"token": "t", "logprob": -0.2}]},
        {"tokens": ["ca", "t"], "token_logprobs": [-0.1, -0.2]},
        "[-0.1, -0.2]",
    ],
)
def test_log_probabilities_of_tokens_are_summed(tmp_path, tokens):
    table = read(tmp_path, {"custom_id": "a", "answer": "cat", "logprobs": tokens}, {"custom_id": "b", "answer": "dog"})
    assert table.ids == ["a", "b"]
    assert table.confidence[0] == pytest.approx(np.exp(-0.3))
    assert np.isnan(table.confidence[1])


@pytest.mark.parametrize(
    "first",
    [
        {"cat": 0.9, "dog": 0.1},
        [{"label": "dog", "score": 0.1}, {"label": "cat", "score": 0.9}],
        {"cat": float(np.log(0.9)), "dog": float(np.log(0.1))},
    ],
)
def test_one_column_may_hold_the_probabilities_of_all_classes(tmp_path, first):
    table = read(tmp_path, {"id": 1, "probs": first}, {"id": 2, "probs": {"cat": 0.3, "dog": 0.7}})
    assert table.labels == ["cat", "dog"]
    assert list(table.confidence) == pytest.approx([0.9, 0.7])
    assert table.slices == {}


def test_log_probabilities_by_class_name_and_the_confidence_of_the_label_that_was_given(tmp_path):
    logs = {"cat": float(np.log(0.6)), "dog": float(np.log(0.4))}
    assert list(read(tmp_path, {"id": 1, **logs}, {"id": 2, **logs}).confidence) == pytest.approx([0.6, 0.6])
    shares = {"cat": 0.6, "dog": 0.4}
    table = read(tmp_path, {"id": 1, "label": "dog", **shares}, {"id": 2, "label": "cat", **shares})
    assert list(table.confidence) == pytest.approx([0.4, 0.6])


def test_a_confidence_out_of_range_names_its_column(tmp_path):
    (tmp_path / "p.csv").write_text("id,label,confidence\n1,cat,-3\n2,dog,1.7\n")
    with pytest.raises(DataError, match=r"column confidence goes from -3 to 1\.7"):
        read_predictions(str(tmp_path / "p.csv"), NamedColumns())


def test_a_confidence_above_one_by_rounding_is_one_and_no_percentage(tmp_path):
    table = read(tmp_path, {"label": "cat", "confidence": 1 + 2e-16}, {"label": "dog", "confidence": 0.5})
    assert list(table.confidence) == [1.0, 0.5]
    table = read(tmp_path, {"label": "cat", "confidence": 1 + 5e-7}, {"label": "dog", "confidence": 0.5})
    assert list(table.confidence) == [1.0, 0.5]
    table = read(tmp_path, {"label": "cat", "confidence": 97}, {"label": "dog", "confidence": 50})
    assert list(table.confidence) == [0.97, 0.5]


def test_scores_slightly_above_one_are_neither_probabilities_nor_percentages(tmp_path):
    with pytest.raises(DataError, match=r"goes from 0\.5 to 1\.3"):
        read(tmp_path, {"label": "cat", "confidence": 1.3}, {"label": "dog", "confidence": 0.5})
