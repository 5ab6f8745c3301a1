"""Vectors on disk, found by a digest of what they were computed from."""

import os
import threading

import numpy as np
import pytest

from cusal.errors import CusalError
from cusal.features.vector_cache import FileState, VectorCache, digest_of

DIGESTS = [digest_of(str(number).encode()) for number in range(1200)]  # more than one query takes
ROWS = np.random.default_rng(0).normal(size=(1200, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path / "cache"))


def test_what_was_kept_is_found_by_another_process_that_opens_the_file():
    with VectorCache("net", 3) as cache:
        cache.keep(DIGESTS, ROWS)
    with VectorCache("net", 3) as cache:
        found = cache.find([*DIGESTS, b"unknown"])
    assert len(found) == 1200
    np.testing.assert_array_equal([found[digest] for digest in DIGESTS], ROWS)


def test_each_network_has_a_file_of_its_own():
    with VectorCache("net", 3) as cache, VectorCache("other", 3) as other:
        cache.keep(DIGESTS[:1], ROWS[:1])
        assert other.find(DIGESTS[:1]) == {}


def test_two_may_write_at_once():
    def write(numbers):
        with VectorCache("net", 3) as cache:
            for number in numbers:
                cache.keep([DIGESTS[number]], ROWS[number : number + 1])

    threads = [threading.Thread(target=write, args=(range(start, 60, 2),)) for start in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with VectorCache("net", 3) as cache:
        assert len(cache.find(DIGESTS[:60])) == 60


@pytest.mark.parametrize("damage", [lambda content: b"x" * 5000, lambda content: content[:9000]])
def test_a_damaged_file_is_replaced(damage, capsys):
    with VectorCache("net", 3) as cache:
        cache.keep(DIGESTS, ROWS)
        path = cache.path
    path.write_bytes(damage(path.read_bytes()))
    with VectorCache("net", 3) as cache:
        assert cache.find(DIGESTS) == {}
        cache.keep(DIGESTS, ROWS)
        assert len(cache.find(DIGESTS)) == 1200
    assert "is damaged" in capsys.readouterr().err


def test_a_file_that_changed_is_not_taken_for_what_it_was(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    with VectorCache("net", 3) as cache:
        old = FileState.of(str(path))
        cache.keep_files({old: DIGESTS[0]})
        assert cache.known_files([old]) == {str(path): DIGESTS[0]}
        path.write_bytes(b"new")
        os.utime(path, ns=(0, 0))
        assert cache.known_files([FileState.of(str(path))]) == {}


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path / "file"))
    with pytest.raises(CusalError, match="name a folder in CUSAL_CACHE"):
        VectorCache("net", 3)
