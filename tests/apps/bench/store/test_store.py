"""The store, on SQLite and on PostgreSQL: claims, rounds, leases, complaints."""

import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cusal.apps.bench.store import Claim, LeaseLost, Run, Store, leases, process_name, quarters
from cusal.apps.bench.store import store as store_module
from cusal.errors import StoreError
from cusal.session import Round, Session, simulate

ITEMS = np.random.default_rng(0).normal(size=(60, 3))
LABELS = (ITEMS[:, 0] > 0).astype(int)


def some_run(name: str = "a", *, rounds: int = 3, seed: int = 0) -> Run:
    return Run(name, "try", "blobs", "cusal", seed, rounds, 2, f'{{"name":"{name}"}}')


def some_rounds(rounds: int = 3) -> Iterator[tuple[Round, bytes]]:
    known = {int(i): int(LABELS[i]) for i in (*np.flatnonzero(LABELS)[:2], *np.flatnonzero(LABELS == 0)[:2])}
    session = Session(ITEMS, LogisticRegression(), "cusal", labelled=known)
    for record in simulate(session, LABELS, rounds=rounds, batch_size=2, test=(ITEMS, LABELS)):
        yield record, pickle.dumps(session.checkpoint())


def write(store: Store, claim: Claim, record: Round, state: bytes) -> None:
    items = [] if record.query is None else record.query.indices.tolist()
    store.write_round(claim, record, items=items, labels=[str(LABELS[i]) for i in items], state=state)


def test_keeps_a_round_with_all_that_belongs_to_it(place: str) -> None:
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"])
        assert claim is not None
        assert claim.run == some_run()
        assert claim.state is None
        rounds = list(some_rounds())
        for record, state in rounds:
            write(store, claim, record, state)
        (run,) = store.runs()
        assert (run["status"], run["owner"], run["lease"]) == ("done", None, None)
        assert [row["round"] for row in store.rounds()] == [0, 1, 2, 3]
        assert [row["labelled"] for row in store.rounds(["a"])] == [4, 6, 8, 10]
        assert {(row["split"], row["kind"]) for row in store.metrics()} == {
            (split, kind) for split in ("test", "pool") for kind in ("raw", "recalibrated")
        }
        stored = {row["name"]: row["value"] for row in store.metrics() if row["round"] == 2 and row["split"] == "test"}
        test = rounds[2][0].test
        assert test is not None
        assert stored == {name: test.recalibrated[name] for name in ("accuracy", "ece", "nll", "brier")}
        assert {row["round"] for row in store.bins()} == quarters(3)
        assert len(store.picks()) == 6
        query = rounds[0][0].query
        assert query is not None
        assert query.error is not None
        assert query.decided_by is not None
        first = store.picks(["a"])[0]
        assert first["item"] == query.indices[0]
        assert first["label"] == str(LABELS[query.indices[0]])
        assert (first["error"], first["decided_by"]) == (query.error[0], query.decided_by[0])


def test_goes_on_from_the_last_round_written(place: str) -> None:
    rounds = list(some_rounds())
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"])
        assert claim is not None
        write(store, claim, *rounds[0])
        assert store.release(process_name()) == ["a"]
        again = store.claim(["a"])
        assert again is not None
        assert again.state == rounds[0][1]
        for record, state in rounds[1:]:
            write(store, again, record, state)
        assert store.claim(["a"]) is None


def test_a_round_is_written_whole_or_not_at_all(place: str) -> None:
    (record, state), *_ = some_rounds()
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"])
        assert claim is not None
        with pytest.raises(StoreError):
            store.write_round(claim, record, items=[1, 2], labels=["0", None], state=state)  # type: ignore[list-item]
        assert store.rounds() == store.metrics() == store.picks() == []
        write(store, claim, record, state)
        assert len(store.rounds()) == 1


def test_a_run_is_given_to_one_owner_alone(place: str) -> None:
    with Store(place) as store:
        store.add([some_run("a"), some_run("b", seed=1)])
        first, second = store.claim(["a", "b"], "elsewhere/1/1"), store.claim(["a", "b"], "elsewhere/2/2")
        assert first is not None
        assert second is not None
        assert (first.run.id, second.run.id) == ("a", "b")
        assert store.claim(["a", "b"], "elsewhere/3/3") is None


def test_a_run_whose_lease_ended_is_free_and_its_old_owner_is_told(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (record, state), *_ = some_rounds()
    with Store(place) as store:
        store.add([some_run()])
        monkeypatch.setattr(leases, "LEASE_SECONDS", -1.0)
        slow = store.claim(["a"], "elsewhere/1/1")
        assert slow is not None
        assert store.claim(["a"], "elsewhere/2/2") is not None
        with pytest.raises(LeaseLost, match="taken over"):
            write(store, slow, record, state)
        assert store.rounds() == []


def test_a_lease_is_renewed(place: str) -> None:
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"], "elsewhere/1/1")
        assert claim is not None
        before = store.runs()[0]["lease"]
        time.sleep(0.01)
        store.renew(claim)
        assert store.runs()[0]["lease"] > before


def test_a_run_of_a_dead_process_is_free_at_once(place: str) -> None:
    script = "import sys; from cusal.apps.bench.store import Store; Store(sys.argv[1]).claim(['a'])"
    with Store(place) as store:
        store.add([some_run()])
        subprocess.run([sys.executable, "-c", script, place], check=True)
        assert store.runs()[0]["status"] == "running"
        assert store.claim(["a"]) is not None


def test_a_process_number_used_again_is_not_the_owner(place: str) -> None:
    host, pid, started = process_name().split("/")
    assert started
    with Store(place) as store:
        store.add([some_run()])
        store.claim(["a"], f"{host}/{pid}/{int(started) - 1}")
        assert store.claim(["a"]) is not None


def test_a_failure_is_kept_with_its_traceback_and_tried_again_when_added(place: str) -> None:
    rounds = list(some_rounds())
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"])
        assert claim is not None
        write(store, claim, *rounds[0])
        store.fail(claim, "Traceback: ...")
        assert store.runs()[0]["traceback"] == "Traceback: ..."
        assert store.claim(["a"]) is None
        store.add([some_run()])
        again = store.claim(["a"])
        assert again is not None
        assert again.state == rounds[0][1]


def test_rounds_whose_session_is_lost_are_done_again(place: str) -> None:
    rounds = list(some_rounds())
    with Store(place) as store:
        store.add([some_run(rounds=9)])
        claim = store.claim(["a"])
        assert claim is not None
        write(store, claim, *rounds[0])
        with store._writing() as connection:
            connection.execute(store_module.CHECKPOINTS.delete())
        store.release(process_name())
        again = store.claim(["a"])
        assert again is not None
        assert again.state is None
        assert store.rounds() == store.metrics() == store.bins() == store.picks() == []


def test_what_is_not_a_number_becomes_null(place: str) -> None:
    (record, state), *_ = some_rounds()
    record.measured["share"] = float("nan")
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"])
        assert claim is not None
        write(store, claim, record, state)
        (row,) = [row for row in store.metrics() if row["split"] == "estimate"]
        assert (row["kind"], row["name"], row["value"]) == ("measured", "share", None)


def claim_all(place: str, names: list[str], owner: str) -> list[str]:
    taken = []
    with Store(place) as store:
        while (claim := store.claim(names, owner)) is not None:
            taken.append(claim.run.id)
    return taken


@pytest.mark.slow
def test_processes_that_open_and_claim_at_once_share_the_runs(place: str) -> None:
    names = [f"run{i}" for i in range(20)]
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        waiting = [pool.apply_async(prepare_and_claim, (place, names, f"elsewhere/{i}/0")) for i in range(4)]
        taken = [name for result in waiting for name in result.get(timeout=120)]
    assert sorted(taken) == sorted(names)


def prepare_and_claim(place: str, names: list[str], owner: str) -> list[str]:
    with Store(place) as store:
        store.add(some_run(name, seed=seed) for seed, name in enumerate(names))
    return claim_all(place, names, owner)


def test_sqlite_files_are_in_write_ahead_mode(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db"), sqlite3.connect(tmp_path / "runs.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_complains_about_what_is_no_store(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no database, but longer than the header of one would be, " * 10)
    with pytest.raises(StoreError, match=r"notes\.txt: file is not a database"):
        Store(text)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    connection.close()
    with pytest.raises(StoreError, match=r"tables of its own .customers., but not a store of cusal"):
        Store(other)
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="a folder that does not exist"):
        Store(tmp_path / "nowhere" / "runs.db")
    with pytest.raises(StoreError, match="there is no store"):
        Store(tmp_path / "new.db", read_only=True)
    assert not (tmp_path / "new.db").exists()


def test_complains_about_a_store_of_another_version(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db"):
        pass
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        connection.execute("UPDATE cusal_store SET version = 99")
    connection.close()
    with pytest.raises(StoreError, match="version 99"):
        Store(tmp_path / "runs.db")


def test_complains_about_a_server_that_is_not_there() -> None:
    with pytest.raises(StoreError, match="server is up"):
        Store("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(StoreError, match="no database URL"):
        Store("nosuchdatabase://host/name")


def test_the_name_of_a_process_is_its_own() -> None:
    assert process_name() == process_name(os.getpid())
    assert process_name() != process_name(os.getppid())
