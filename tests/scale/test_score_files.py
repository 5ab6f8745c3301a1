"""`cusal.score_files`: the library's twin of `cusal score`."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pools import KINDS, PRECISIONS, Pool, as_table, make_pool, rough_pool, write_labelled, write_part

import cusal
from cusal._checks import Rows, UnitRows
from cusal.calibration import pruned, pruned_few_classes, pruned_many_classes
from cusal.calibration.pointwise import TOLERANCE
from cusal.errors import CusalError, InvalidInput, PoolExhausted, UnknownName
from cusal.scale import find_engine, parts, pool_files
from cusal.strategies import Cusal, _calibration_strategy


@pytest.fixture(scope="module")
def pool() -> Pool:
    return make_pool()


def assert_as_query(picks: cusal.Picks, pool: Pool) -> None:
    query = cusal.query(pool.probs, pool.reference, pool.labels, batch_size=len(picks), strategy="cusal")
    np.testing.assert_array_equal(picks.indices, query.indices)
    np.testing.assert_array_equal(picks.confidence, query.confidence)
    np.testing.assert_allclose(picks.error, query.error, rtol=0, atol=TOLERANCE)
    np.testing.assert_array_equal(picks.decided_by, query.decided_by)


def test_returns_what_it_writes(tmp_path: Path, pool: Pool) -> None:
    path, labelled = write_part(tmp_path, "pool", "npz", pool.probs), write_labelled(tmp_path, pool)
    picks = cusal.score_files(path, labelled, batch_size=30, out=tmp_path / "picks.csv", strategy="cusal")
    assert len(picks) == 30
    assert_as_query(picks, pool)
    with (tmp_path / "picks.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == picks.ids.tolist() == [str(index) for index in picks.indices]
    assert [float(row["error"]) for row in rows] == picks.error.tolist()
    assert [row["supported"] for row in rows] == [str(value) for value in picks.supported.tolist()]
    assert [row["decided_by"] for row in rows] == picks.decided_by.tolist()


def test_the_output_is_picks_csv_here_unless_another_is_named(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_part(tmp_path, "pool", "npy", pool.probs)
    picks = cusal.score_files("pool.npy", batch_size=3, strategy="margin")
    assert (tmp_path / "picks.csv").is_file()
    assert (picks.error, picks.supported, picks.decided_by) == (None, None, None)


def test_settings_are_those_of_a_strategy(tmp_path: Path, pool: Pool) -> None:
    path, labelled = write_part(tmp_path, "pool", "npy", pool.probs), write_labelled(tmp_path, pool)
    strategy = Cusal(bandwidth=0.05, tie_break="random")
    picks = cusal.score_files(path, labelled, batch_size=20, out=tmp_path / "a.csv", strategy=strategy, seed=3)
    query = cusal.query(
        pool.probs,
        pool.reference,
        pool.labels,
        batch_size=20,
        bandwidth=0.05,
        tie_break="random",
        seed=3,
        strategy="cusal",
    )
    np.testing.assert_array_equal(picks.indices, query.indices)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_rows_of_any_precision_give_the_picks_of_query(tmp_path: Path, kind: str, precision: str) -> None:
    pool = rough_pool(precision)
    path, labelled = write_part(tmp_path, "pool", kind, pool.probs), write_labelled(tmp_path, pool)
    assert_as_query(
        cusal.score_files(path, labelled, batch_size=40, out=tmp_path / "picks.csv", strategy="cusal"), pool
    )


@pytest.mark.parametrize("precision", PRECISIONS)
def test_labelled_rows_of_any_precision_come_in_parquet_too(tmp_path: Path, precision: str) -> None:
    pool = rough_pool(precision)
    path, labelled = write_part(tmp_path, "pool", "npy", pool.probs), tmp_path / "labelled.parquet"
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(as_table("list", pool.reference).append_column("label", pa.array(pool.labels)), labelled)
    assert_as_query(
        cusal.score_files(path, labelled, batch_size=40, out=tmp_path / "picks.csv", strategy="cusal"), pool
    )


@pytest.mark.parametrize("precision", PRECISIONS)
def test_many_classes_of_any_precision_give_the_picks_of_query(tmp_path: Path, precision: str) -> None:
    pool = rough_pool(precision, classes=80)
    path, labelled = write_part(tmp_path, "pool", "npy", pool.probs), write_labelled(tmp_path, pool)
    assert_as_query(
        cusal.score_files(path, labelled, batch_size=40, out=tmp_path / "picks.csv", strategy="cusal"), pool
    )


def test_labelled_parts_may_differ_in_precision(tmp_path: Path) -> None:
    pool = rough_pool("float64", classes=80)
    folder = tmp_path / "labelled"
    folder.mkdir()
    single = pool.reference[:30].astype(np.float32)
    np.savez(folder / "a.npz", probs=single, labels=pool.labels[:30])
    np.savez(folder / "b.npz", probs=pool.reference[30:], labels=pool.labels[30:])
    picks = cusal.score_files(
        write_part(tmp_path, "pool", "npy", pool.probs),
        folder,
        batch_size=40,
        out=tmp_path / "picks.csv",
        strategy="cusal",
    )
    assert_as_query(picks, pool._replace(reference=np.concatenate([single, pool.reference[30:]])))


@pytest.mark.parametrize("classes", [4, 80])
def test_labelled_points_are_prepared_once_for_all_tiles(
    tmp_path: Path, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = pruned_few_classes if classes == 4 else pruned_many_classes
    prepared: list[int] = []
    build = module.build

    def counted(reference: Rows, *rest: Any) -> Any:
        prepared.append(len(reference))
        return build(reference, *rest)

    monkeypatch.setattr(module, "build", counted)
    monkeypatch.setattr(parts, "TILE_ROWS", 100)
    monkeypatch.setattr(pruned, "SAMPLE", 0)  # the share of pairs that matter is not sampled
    monkeypatch.setattr(_calibration_strategy, "is_small", lambda *_: False)
    pool = make_pool(classes=classes)
    path, labelled = write_part(tmp_path, "pool", "npy", pool.probs), write_labelled(tmp_path, pool)
    cusal.score_files(path, labelled, batch_size=40, out=tmp_path / "picks.csv", strategy="cusal")
    assert prepared == [len(pool.reference)]


def test_every_row_is_checked_once(tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    check = pool_files.UnitRows

    def counted(values: np.ndarray, name: str) -> UnitRows:
        seen.append(len(values))
        return check(values, name)

    monkeypatch.setattr(pool_files, "UnitRows", counted)
    path, labelled = write_part(tmp_path, "pool", "columns", pool.probs), write_labelled(tmp_path, pool)
    cusal.score_files(path, labelled, batch_size=5, out=tmp_path / "picks.csv", strategy="cusal")
    assert sum(seen) == len(pool.probs) + len(pool.reference)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"batch_size": 0}, InvalidInput, "batch_size"),
        ({"batch_size": 701}, PoolExhausted, "only 700"),
        ({"batch_size": 5, "strategy": "cusl"}, UnknownName, "did you mean 'cusal'"),
        ({"batch_size": 5, "strategy": "coreset"}, InvalidInput, "Coreset looks at the whole pool at once"),
        ({"batch_size": 5, "strategy": Cusal}, InvalidInput, "give an object of it"),
        ({"batch_size": 5, "engine": "spark"}, UnknownName, "no engine named 'spark'"),
        ({"batch_size": 5, "labelled": None}, CusalError, "needs labelled points"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, pool, settings, error, words) -> None:  # type: ignore[no-untyped-def]
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    settings = {"labelled": write_labelled(tmp_path, pool), "strategy": "cusal", **settings}
    with pytest.raises(error, match=words):
        cusal.score_files(path, out=tmp_path / "picks.csv", **settings)
    assert not (tmp_path / "picks.csv").exists()


def test_engines_and_picks_show_themselves() -> None:
    assert repr(find_engine("local")) == "LocalEngine()"
    with pytest.raises(InvalidInput, match="the local engine has no address"):
        find_engine("local", "10.0.0.1:6379")


NEW_FORMAT = """
import json

import numpy as np

from cusal.scale.parts import Contents, Tile

SUFFIXES = (".json",)


def describe(path, column):
    rows = json.loads(path.read_text())
    return Contents(len(rows[0]), [len(rows)])


def read(chunk):
    yield Tile(np.array(json.loads(chunk.part.path.read_text())), None)
"""

NEW_ENGINE = """
from cusal.scale.engines import Engine


class BackwardsEngine(Engine):
    def map(self, chunks, work, advance):
        for chunk in reversed(chunks):
            yield chunk, work(chunk, advance)
"""


def test_a_format_is_added_with_one_file(tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    from cusal.scale import formats

    (tmp_path / "json_of_a_test.py").write_text(NEW_FORMAT)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    formats._formats.cache_clear()
    try:
        path = tmp_path / "pool.json"
        path.write_text(json.dumps(pool.probs.astype(float).tolist()))
        labelled = write_labelled(tmp_path, pool)
        picks = cusal.score_files(path, labelled, batch_size=20, out=tmp_path / "picks.csv", strategy="cusal")
        np.testing.assert_array_equal(
            picks.indices, cusal.query(pool.probs, pool.reference, pool.labels, batch_size=20, strategy="cusal").indices
        )
    finally:
        formats._formats.cache_clear()


def test_an_engine_is_added_with_one_file(tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    from cusal.scale import engines

    (tmp_path / "backwards_engine.py").write_text(NEW_ENGINE)
    monkeypatch.setattr(engines, "__path__", [*engines.__path__, str(tmp_path)])
    assert "backwards" in engines.names()
    path, labelled = write_part(tmp_path, "pool", "npy", pool.probs), write_labelled(tmp_path, pool)
    picks = cusal.score_files(
        path, labelled, batch_size=20, out=tmp_path / "picks.csv", engine="backwards", strategy="cusal"
    )
    assert_as_query(picks, pool)
