"""`score`: the picks of `cusal.query`, from files."""

import csv
import itertools
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pools import KINDS, Pool, as_table, make_pool, write_labelled, write_part

import cusal
from cusal import strategies
from cusal._checks import as_probs
from cusal.errors import CusalError, DataError, InvalidInput, PoolExhausted, UnknownName
from cusal.scale import Files, LocalEngine, Request, parts, score
from cusal.strategies import Cusal
from cusal.strategies._view import View


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "TILE_ROWS", 64)


@pytest.fixture(scope="module")
def pool() -> Pool:
    return make_pool()


def read_picks(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def assert_as_query(picks: list[dict[str, str]], pool: Pool, count: int) -> None:
    query = cusal.query(pool.probs, pool.reference, pool.labels, batch_size=count, strategy="cusal")
    assert [int(pick["id"]) for pick in picks] == query.indices.tolist()
    assert [float(pick["error"]) for pick in picks] == pytest.approx(query.error.tolist(), abs=1e-9)
    assert [float(pick["confidence"]) for pick in picks] == query.confidence.tolist()
    assert [pick["decided_by"] for pick in picks] == query.decided_by.tolist()
    assert [int(pick["rank"]) for pick in picks] == list(range(1, count + 1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 40, 700])
def test_every_format_gives_the_picks_of_query(tmp_path: Path, pool: Pool, kind: str, count: int) -> None:
    files = Files(
        write_part(tmp_path, "pool", kind, pool.probs), tmp_path / "picks.csv", write_labelled(tmp_path, pool)
    )
    score(files, Request(count), quiet=True, chunk_rows=150)
    assert_as_query(read_picks(tmp_path / "picks.csv"), pool, count)


@pytest.mark.parametrize("dtype", ["float16", "float64", ">f4"])
def test_every_precision_gives_the_picks_of_query(tmp_path: Path, dtype: str) -> None:
    pool = make_pool(dtype=dtype)
    files = Files(
        write_part(tmp_path, "pool", "npy", pool.probs), tmp_path / "picks.csv", write_labelled(tmp_path, pool)
    )
    score(files, Request(40), quiet=True)
    assert_as_query(read_picks(tmp_path / "picks.csv"), pool, 40)


def test_a_folder_of_mixed_parts_is_one_pool_in_name_order(tmp_path: Path, pool: Pool) -> None:
    folder = tmp_path / "pool"
    folder.mkdir()
    edges = np.linspace(0, len(pool.probs), len(KINDS) + 1).astype(int)
    for i, (kind, (a, b)) in enumerate(zip(KINDS, itertools.pairwise(edges), strict=True)):
        write_part(folder, f"part-{i}", kind, pool.probs[a:b])
    np.save(folder / "part-9.npy", pool.probs[:0])  # an empty part is no fault
    (folder / "_SUCCESS").touch()
    score(Files(folder, tmp_path / "picks.csv", write_labelled(tmp_path, pool)), Request(50), quiet=True)
    assert_as_query(read_picks(tmp_path / "picks.csv"), pool, 50)


def test_picks_do_not_depend_on_tiles_and_chunks(tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    labelled, out = write_labelled(tmp_path, pool), tmp_path / "picks.csv"
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    written = set()
    for tile, chunk in [(1, 37), (7, 7), (333, None), (5000, 1000)]:
        monkeypatch.setattr(parts, "TILE_ROWS", tile)
        score(Files(path, out, labelled), Request(30), quiet=True, chunk_rows=chunk)
        written.add(out.read_bytes())
    assert len(written) == 1


@pytest.mark.parametrize("name", ["least_confidence", "margin", "entropy", "random"])
def test_other_strategies_pick_what_they_pick_in_memory(tmp_path: Path, pool: Pool, name: str) -> None:
    path = write_part(tmp_path, "pool", "list", pool.probs)
    score(Files(path, tmp_path / "picks.csv"), Request(60, strategies.make(name), 5), quiet=True, chunk_rows=200)
    empty = (np.empty((0, 4)), np.empty(0, dtype=np.int64))
    view = View.of_arrays(np.arange(len(pool.probs)), np.random.default_rng(5), probs=pool.probs, reference=empty)
    picks = read_picks(tmp_path / "picks.csv")
    assert [int(pick["id"]) for pick in picks] == strategies.find(name)().select(view, 60).tolist()
    assert {(pick["error"], pick["supported"], pick["decided_by"]) for pick in picks} == {("", "", "")}
    exact = as_probs(pool.probs).max(axis=1)
    assert all(float(pick["confidence"]) == exact[int(pick["id"])] for pick in picks)


@pytest.mark.parametrize("kind", ["npz", "npz compressed", "columns"])
def test_ids_are_carried_through_to_the_picks(tmp_path: Path, pool: Pool, kind: str) -> None:
    ids = np.array([f'item "{i}", é' for i in range(len(pool.probs))])
    path = write_part(tmp_path, "pool", kind, pool.probs, ids if kind.startswith("npz") else pa.array(ids.tolist()))
    score(Files(path, tmp_path / "picks.csv", write_labelled(tmp_path, pool)), Request(20), quiet=True, chunk_rows=100)
    query = cusal.query(pool.probs, pool.reference, pool.labels, batch_size=20, strategy="cusal")
    assert [pick["id"] for pick in read_picks(tmp_path / "picks.csv")] == ids[query.indices].tolist()


def test_labelled_points_come_in_parquet_parts_too(tmp_path: Path, pool: Pool) -> None:
    folder = tmp_path / "labelled"
    folder.mkdir()
    for name, rows in [("a", slice(0, 20)), ("b", slice(20, 60))]:
        table = as_table("list", pool.reference[rows]).append_column("label", pa.array(pool.labels[rows]))
        pq.write_table(table, folder / f"{name}.parquet")
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    score(Files(path, tmp_path / "picks.csv", folder), Request(20), quiet=True)
    assert_as_query(read_picks(tmp_path / "picks.csv"), pool, 20)


def test_the_bandwidth_is_that_of_the_strategy(tmp_path: Path, pool: Pool) -> None:
    files = Files(
        write_part(tmp_path, "pool", "npy", pool.probs), tmp_path / "picks.csv", write_labelled(tmp_path, pool)
    )
    picks = score(files, Request(20, Cusal(bandwidth=0.05)), quiet=True)
    query = cusal.query(pool.probs, pool.reference, pool.labels, batch_size=20, bandwidth=0.05, strategy="cusal")
    np.testing.assert_array_equal(picks.indices, query.indices)


class Stopping(LocalEngine):
    """Ends with an error after some chunks, and remembers which it scored."""

    def __init__(self, after: int | None = None, error: BaseException | None = None) -> None:
        self.after, self.error, self.scored = after, error, []

    def map(self, chunks, work, advance):  # type: ignore[no-untyped-def]
        for chunk, found in super().map(chunks, work, advance):
            if self.error is not None and len(self.scored) == self.after:
                raise self.error
            self.scored.append(chunk.first_row)
            yield chunk, found


def test_a_stopped_run_goes_on_where_it_stopped(tmp_path: Path, pool: Pool) -> None:
    out = tmp_path / "picks.csv"
    files = Files(write_part(tmp_path, "pool", "columns", pool.probs), out, write_labelled(tmp_path, pool))
    with pytest.raises(KeyboardInterrupt):
        score(files, Request(30), quiet=True, chunk_rows=100, engine=Stopping(4, KeyboardInterrupt()))
    assert not out.exists()

    rest = Stopping()
    score(files, Request(30), quiet=True, chunk_rows=100, engine=rest)
    assert rest.scored == [400, 500, 600]
    assert_as_query(read_picks(out), pool, 30)
    assert not (tmp_path / "picks.csv.partial").exists()


@pytest.mark.parametrize("change", ["request", "labels", "part", "damage"])
def test_what_was_kept_is_not_used_for_anything_else(tmp_path: Path, pool: Pool, change: str) -> None:
    out, request = tmp_path / "picks.csv", Request(30)
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    files = Files(path, out, write_labelled(tmp_path, pool))
    with pytest.raises(KeyboardInterrupt):
        score(files, request, quiet=True, chunk_rows=100, engine=Stopping(3, KeyboardInterrupt()))
    if change == "request":
        request = Request(31)
    elif change == "labels":
        pool = pool._replace(labels=pool.labels[::-1])
        write_labelled(tmp_path, pool)
    elif change == "part":
        pool = pool._replace(probs=pool.probs[::-1])
        time.sleep(0.02)
        write_part(tmp_path, "pool", "npy", pool.probs)
    else:
        for kept in (tmp_path / "picks.csv.partial").iterdir():
            kept.write_bytes(kept.read_bytes()[:100])
    again = Stopping()
    score(files, request, quiet=True, chunk_rows=100, engine=again)
    assert again.scored[0] == 0
    assert_as_query(read_picks(out), pool, request.batch_size)


def test_ctrl_c_ends_without_output(tmp_path: Path) -> None:
    pool = make_pool(rows=300_000)
    out = tmp_path / "picks.csv"
    files = [write_part(tmp_path, "pool", "npy", pool.probs), out, write_labelled(tmp_path, pool)]
    program = (
        "import sys; from cusal.scale import *\n"
        "print('begun', flush=True); score(Files(*sys.argv[1:]), Request(10), chunk_rows=65536)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, *map(str, files)], stdout=-1, stderr=-1, text=True)
    partial = tmp_path / "picks.csv.partial"
    while process.poll() is None and not any(partial.glob("*.npz")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in told
    assert not out.exists()
    assert any(partial.glob("*.npz"))


def test_an_earlier_output_stays_when_scoring_fails(tmp_path: Path, pool: Pool) -> None:
    out = tmp_path / "picks.csv"
    out.write_text("what was there")
    probs = pool.probs.copy()
    probs[650, 2] = np.nan
    files = Files(write_part(tmp_path, "pool", "npy", probs), out, write_labelled(tmp_path, pool))
    with pytest.raises(DataError, match="row 650 holds NaN"):
        score(files, Request(5), quiet=True)
    assert out.read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labelled.npz", "picks.csv", "pool.npy"]


def test_a_full_disk_is_named(tmp_path: Path, pool: Pool) -> None:
    files = [write_part(tmp_path, "pool", "npy", pool.probs), tmp_path / "picks.csv", write_labelled(tmp_path, pool)]
    # A limit on the size of files is met like a full disk: the write fails.
    program = (
        "import resource, signal, sys; from cusal.scale import *\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "score(Files(*sys.argv[1:]), Request(500), quiet=True)"
    )
    run = subprocess.run([sys.executable, "-c", program, *map(str, files)], capture_output=True, text=True, check=False)
    assert "picks.csv cannot be written (File too large)" in run.stderr
    assert not (tmp_path / "picks.csv").exists()


@pytest.mark.parametrize(
    ("request_of", "error", "words"),
    [
        (lambda: Request(0), InvalidInput, "batch_size"),
        (
            lambda: Request(5, strategies.make("badge")),
            InvalidInput,
            "Badge looks at the whole pool at once.*cusal, entropy",
        ),
        (lambda: Request(5, strategies.make("marginn")), UnknownName, "did you mean 'margin'"),
        (lambda: Request(5, seed=-1), InvalidInput, "seed"),
        (lambda: Request(701), PoolExhausted, "only 700"),
        (lambda: Request(5, Cusal(bandwidth=-1.0)), InvalidInput, "bandwidth"),
        (lambda: Request(5, strategies.make("cluster_cusal")), InvalidInput, "ClusterCusal looks at the whole pool"),
        (lambda: Request(5, Cusal(batch_aware=True)), InvalidInput, "batch_aware looks at the whole pool"),
        (lambda: Request(5, Cusal(tie_break="diverse")), InvalidInput, "diverse"),
        (
            lambda: Request(5, strategies.make("margin", bandwidth=1)),
            InvalidInput,
            "margin has no settings",
        ),
        (lambda: Request(5, strategies.make(Cusal)), InvalidInput, "give an object of it"),
    ],
)
def test_a_wrong_request_is_refused(tmp_path, pool, request_of, error, words) -> None:  # type: ignore[no-untyped-def]
    files = Files(
        write_part(tmp_path, "pool", "npy", pool.probs), tmp_path / "picks.csv", write_labelled(tmp_path, pool)
    )
    with pytest.raises(error, match=words):
        score(files, request_of(), quiet=True)


def test_cusal_needs_labelled_points(tmp_path: Path, pool: Pool) -> None:
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    with pytest.raises(CusalError, match="needs labelled points"):
        score(Files(path, tmp_path / "picks.csv"), Request(5), quiet=True)


def test_a_missing_folder_for_the_output_is_known_at_once(tmp_path: Path, pool: Pool) -> None:
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    with pytest.raises(DataError, match="there is no folder"):
        score(Files(path, tmp_path / "none" / "picks.csv"), Request(5, strategies.make("margin")), quiet=True)


def test_progress_is_a_bar_on_a_terminal(tmp_path: Path, pool: Pool) -> None:
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    program = (
        "import sys; from cusal import *; score_files(sys.argv[1], batch_size=5, out=sys.argv[2], strategy='margin')"
    )
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", program, path, tmp_path / "picks.csv"], stderr=theirs, check=True)
    os.close(theirs)
    told = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "700/700" in told
    assert "rows/s" in told
