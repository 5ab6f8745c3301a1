"""The Ray engine on two real nodes: the local engine's picks, also when a worker or a node dies."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pools import PRECISIONS, Pool, make_pool, rough_pool, write_labelled, write_part

import cusal
from cusal import strategies
from cusal.errors import DataError
from cusal.scale import Files, Request, score
from cusal.scale.candidates import Candidates
from cusal.scale.engines.local import LocalEngine
from cusal.scale.parts import Chunk
from cusal.scale.pool_files import cut_into_chunks, open_pool
from cusal.scale.scorer import Scorer

ray = pytest.importorskip("ray", reason="the Ray engine needs cusal[ray]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Ray's own, at start and shutdown
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import this file
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def pool() -> Pool:
    return make_pool(rows=3000)


@dataclass(frozen=True)
class Eventful:
    """Scores a chunk, but the first time that it meets the chunk at `row` it leaves a note and something happens."""

    scorer: Scorer
    note: Path
    event: str
    row: int = 1000

    def __call__(self, chunk: Chunk, advance: Any = None) -> Candidates:
        if chunk.first_row == self.row and not self.note.exists():
            self.note.write_text(f"{os.getpid()} {ray.get_runtime_context().get_node_id()}")
            if self.event == "worker killed":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)  # until the node is removed
        return self.scorer(chunk)


def merged(engine: Any, chunks: list[Chunk], work: Any) -> tuple[Candidates, list[int]]:
    found = list(engine.map(chunks, work, lambda rows: None))
    return Candidates.merge([each for _, each in found], 40), sorted(chunk.start for chunk, _ in found)


def wait_for(path: Path, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} was not written in {seconds} s"
        time.sleep(0.05)


def chunks_of(tmp_path: Path, pool: Pool) -> list[Chunk]:
    return cut_into_chunks(open_pool(write_part(tmp_path, "pool", "columns", pool.probs)), 100)


def assert_same(one: Candidates, other: Candidates) -> None:
    for name, values in one.arrays().items():
        np.testing.assert_array_equal(values, other.arrays()[name])


def test_the_picks_are_those_of_the_local_engine_bit_for_bit(
    cluster: Any, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cusal.scale.engines.ray_engine import RayEngine

    labelled = write_labelled(tmp_path, pool)
    monkeypatch.chdir(tmp_path)  # workers run in another folder
    path = write_part(tmp_path, "pool", "list", pool.probs).name
    for strategy in ("cusal", "random"):
        written = []
        for engine in (LocalEngine(), RayEngine(cluster.address)):
            out = tmp_path / "picks.csv"
            score(
                Files(path, out, labelled),
                Request(50, strategies.make(strategy)),
                engine=engine,
                quiet=True,
                chunk_rows=500,
            )
            written.append(out.read_bytes())
        assert written[0] == written[1]
    assert ray.is_initialized()  # a connection that was there before is left open


@pytest.mark.parametrize("precision", PRECISIONS)
def test_rows_of_any_precision_give_the_picks_of_query(cluster: Any, tmp_path: Path, precision: str) -> None:
    rough = rough_pool(precision)
    path, labelled = write_part(tmp_path, "pool", "list", rough.probs), write_labelled(tmp_path, rough)
    picks = cusal.score_files(path, labelled, batch_size=40, out=tmp_path / "picks.csv", engine="ray", strategy="cusal")
    query = cusal.query(rough.probs, rough.reference, rough.labels, batch_size=40, strategy="cusal")
    np.testing.assert_array_equal(picks.indices, query.indices)
    np.testing.assert_array_equal(picks.decided_by, query.decided_by)


def test_a_killed_worker_changes_nothing(cluster: Any, tmp_path: Path, pool: Pool) -> None:
    from cusal.scale.engines.ray_engine import RayEngine

    chunks, scorer = chunks_of(tmp_path, pool), Scorer(Request(40), (pool.reference, pool.labels))
    note = tmp_path / "note"
    found, starts = merged(RayEngine(), chunks, Eventful(scorer, note, "worker killed"))
    assert int(note.read_text().split()[0]) != os.getpid()
    assert starts == [chunk.start for chunk in chunks]
    assert_same(found, merged(LocalEngine(), chunks, scorer)[0])


def test_a_lost_node_changes_nothing(cluster: Any, tmp_path: Path, pool: Pool) -> None:
    from cusal.scale.engines.ray_engine import RayEngine

    chunks, scorer = chunks_of(tmp_path, pool), Scorer(Request(40), (pool.reference, pool.labels))
    # The note is left by a chunk that runs on the second node: the head's CPUs are taken meanwhile.
    second = next(node for node in cluster.list_all_nodes() if not node.is_head())
    head = cluster.head_node.node_id
    held = [tmp_path / f"held-{i}" for i in range(2)]
    holders = [_hold.options(scheduling_strategy=_on(head)).remote(path) for path in held]
    for path in held:
        wait_for(path)
    note = tmp_path / "note"

    def remove_when_noted() -> None:
        wait_for(note)
        cluster.remove_node(second, allow_graceful=False)
        for holder in holders:
            ray.cancel(holder, force=True)

    remover = threading.Thread(target=remove_when_noted, daemon=True)
    remover.start()
    found, starts = merged(RayEngine(), chunks, Eventful(scorer, note, "node lost"))
    remover.join()
    assert note.read_text().split()[1] == second.node_id
    assert starts == [chunk.start for chunk in chunks]
    assert_same(found, merged(LocalEngine(), chunks, scorer)[0])


@ray.remote(num_cpus=1, max_retries=0)
def _hold(path: Path) -> None:
    path.touch()
    time.sleep(600)


def _on(node: str) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node, soft=False)


def test_an_error_of_a_part_arrives_as_it_was_raised(cluster: Any, tmp_path: Path, pool: Pool) -> None:
    from cusal.scale.engines.ray_engine import RayEngine

    probs = pool.probs.copy()
    probs[2345, 0] = np.nan
    path = write_part(tmp_path, "pool", "columns", probs)
    files = Files(path, tmp_path / "picks.csv", write_labelled(tmp_path, pool))
    with pytest.raises(DataError, match=r"pool.parquet: probs: row 2345 \(row group 23\) holds NaN"):
        score(files, Request(5), engine=RayEngine(), quiet=True, chunk_rows=500)
    assert not (tmp_path / "picks.csv").exists()


def test_the_driver_cancels_what_runs_when_it_is_stopped(cluster: Any, tmp_path: Path, pool: Pool) -> None:
    from cusal.scale.engines.ray_engine import RayEngine

    chunks, scorer = chunks_of(tmp_path, pool), Scorer(Request(40), (pool.reference, pool.labels))
    note = tmp_path / "note"
    results = RayEngine().map(chunks, Eventful(scorer, note, "slow", row=0), lambda rows: None)

    def interrupt_when_noted() -> None:
        wait_for(note)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt_when_noted, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in results:
            pass
    pid = int(note.read_text().split()[0])
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999", "nowhere.invalid:6379", "nonsense"])
def test_no_cluster_at_an_address_is_one_line(tmp_path: Path, pool: Pool, address: str) -> None:
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    run = score_by_ray(tmp_path, path, "--address", address)
    assert run.returncode == 1
    last = run.stderr.splitlines()[-1]
    assert last.startswith(f"cusal: there is no Ray cluster at {address} (")
    assert last.endswith("start one with: ray start --head")
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "picks.csv").exists()


def test_a_ray_that_does_not_start_is_one_line(tmp_path: Path, pool: Pool) -> None:
    path = write_part(tmp_path, "pool", "npy", pool.probs)
    (tmp_path / "file").touch()
    run = score_by_ray(tmp_path, path, RAY_TMPDIR=str(tmp_path / "file"))  # it keeps its sockets and logs there
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("cusal: Ray does not start on this machine (")
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "picks.csv").exists()


def score_by_ray(folder: Path, path: Path, *options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", "from cusal.cli import main; main()", "score", "--pool", str(path), "-k", "5"]
    command += ["--strategy", "margin", "--engine", "ray", *options]
    everything = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"} | environment
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=everything, check=False)
