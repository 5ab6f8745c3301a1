"""Data sets of Hugging Face in, labelled ones out; pandas in and out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.adapters import from_hugging_face, to_hugging_face, to_pandas
from cusal.errors import CusalError, InvalidInput

TEXTS = ["good film", "bad film", "fine plot", "dull plot", "good plot", "bad acting", "fine acting", "dull film"]


def reviews():
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"text": Value("string"), "label": ClassLabel(names=["neg", "pos"])})
    return Dataset.from_dict({"text": TEXTS, "label": [1, 0, -1, -1, -1, -1, -1, -1]}, features=features)


@pytest.mark.peer
def test_texts_come_in_and_go_out_with_names():
    data = reviews()
    items, labelled = from_hugging_face(data)
    assert (items, labelled) == (TEXTS, {0: "pos", 1: "neg"})
    session = cusal.Session(items, labelled=labelled)
    query = session.ask(2)
    session.tell(query.indices, ["pos" if TEXTS[i][0] in "gf" else "neg" for i in query.indices])
    out = to_hugging_face(session, data)
    assert len(out) == 4
    assert out.features["label"].names == ["neg", "pos"]
    assert {row["text"]: out.features["label"].int2str(row["label"]) for row in out} == {
        TEXTS[i]: label for i, label in session.labels.items()
    }
    again, known = from_hugging_face(to_hugging_face(session, data, predictions=True), "text")
    assert (again, known) == (TEXTS, session.labels)


@pytest.mark.peer
def test_its_own_pipeline_feeds_the_session_and_splits_what_comes_back():
    from datasets import Dataset

    images, labels = load_digits(return_X_y=True)
    data = Dataset.from_dict({"pixels": images[:300].tolist(), "label": labels[:300].tolist()})
    data = data.map(lambda row: {"pixels": [value / 16 for value in row["pixels"]]}).shuffle(seed=0)
    items, known = from_hugging_face(data)
    assert items.shape == (300, 64)
    first = {row: known[row] for row in range(60)}
    session = cusal.Session(items, LogisticRegression(max_iter=200), labelled=first)
    for _ in range(3):
        query = session.ask(10)
        session.tell(query.indices, [known[i] for i in query.indices.tolist()])
    out = to_hugging_face(session, data, predictions=True)
    assert out.column_names == ["pixels", "label", "prediction", "confidence"]
    agree = out.filter(lambda row: row["label"] is not None and row["label"] == row["prediction"])
    assert len(agree) >= 85
    assert len(to_hugging_face(session, data).train_test_split(0.2, seed=0)["test"]) == 18


@pytest.mark.peer
def test_images_and_tables_come_in():
    from datasets import Dataset
    from PIL import Image

    pictures = [Image.fromarray(np.full((4, 4, 3), shade, dtype=np.uint8)) for shade in (0, 255)]
    items, labelled = from_hugging_face(Dataset.from_dict({"image": pictures}))
    assert (items.shape, labelled) == ((2, 4, 4, 3), {})
    assert items.max() == 1.0
    table, _ = from_hugging_face(Dataset.from_dict({"age": [1, 2], "town": ["a", "b"], "y": [0, 1]}))
    assert table.columns.tolist() == ["age", "town"]


@pytest.mark.peer
def test_what_does_not_fit_is_said():
    data = reviews()
    with pytest.raises(CusalError, match="did you mean 'text'"):
        from_hugging_face(data, "txt")
    session = cusal.Session(TEXTS[:4], labelled={0: "pos", 1: "neg"})
    with pytest.raises(InvalidInput, match="8 rows, the session 4 items"):
        to_hugging_face(session, data)


def test_pandas_goes_in_and_comes_out_with_its_index():
    images, labels = load_digits(return_X_y=True)
    frame = pd.DataFrame(images[:100], index=[f"row {i}" for i in range(100)]).add_prefix("p")
    first = pd.Series(labels[:30], index=frame.index[:30])
    session = cusal.Session(frame, LogisticRegression(max_iter=500), strategy="cusal", labelled=first)
    query = session.ask(5)
    session.tell(query.indices, pd.Series(labels[query.indices]))
    session.skip(session.pool.open[-1:])
    out = to_pandas(session)
    assert out.index.equals(frame.index)
    assert out["status"].value_counts().to_dict() == {"open": 64, "labelled": 35, "skipped": 1}
    assert out.loc["row 3", "label"] == labels[3]
    np.testing.assert_allclose(out["confidence"], session.predict_proba(frame).max(axis=1))
    picks = to_pandas(query)
    assert picks.columns.tolist() == ["item", "confidence", "error", "decided_by"]
    assert picks["item"].tolist() == query.indices.tolist()


def test_a_session_without_a_model_has_no_predictions():
    out = to_pandas(cusal.Session(np.eye(3), LogisticRegression()))
    assert out["prediction"].isna().all()
    assert out["status"].eq("open").all()
