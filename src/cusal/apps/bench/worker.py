"""One process of a runner: take a run, do its rounds, take the next."""

import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection

from cusal.apps.bench.experiment import Experiment
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import LEASE_SECONDS, Claim, LeaseLost, Store
from cusal.apps.bench.store.records import check_claimed
from cusal.errors import StoreError

REFUSED = (
    "starts again, because its checkpoint was not written by you on this machine, and reading it could run code; "
    "--trusted resumes it"
)
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class News:
    """What a worker reports to the runner: a run started, a round ended, or the run ended, well or with an error."""

    run_id: str
    kind: str  # "started", "round", "done", "failed", "lost"; "ended" of the process itself
    round: int = -1
    accuracy: float = float("nan")
    ece: float = float("nan")
    seconds: float = 0.0
    text: str = ""  # the traceback, the reason, or what there is to say about a start


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit processes that are started in this block to one thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def work(place: str, run_ids: Sequence[str], channel: Connection, trusted: bool = False) -> None:
    """Do runs, one after the other, until none is left to take; the main function of a worker process.

    trusted: whether to resume from checkpoints that somebody else wrote.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the runner ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # scikit-learn takes many classes among few labels for a regression: here they are the usual case.
    warnings.filterwarnings("ignore", message="The number of unique classes")
    try:
        with Store(place) as store:
            while (claim := store.claim(run_ids, trusted=trusted)) is not None:
                channel.send(News(claim.run.id, "started", text=REFUSED if claim.refused else ""))
                channel.send(run(store, claim, channel))
    except StoreError as error:
        channel.send(News("", "ended", text=str(error)))  # the reason, which the exit code alone would not tell
        sys.exit(1)


def run(store: Store, claim: Claim, channel: Connection | None = None) -> News:
    """Do the rounds that are left of a claimed run, each written as it ends; an error is recorded, not raised."""
    try:
        with _holding(store, claim):
            _run_rounds(store, claim, channel)
    except LeaseLost as error:
        return News(claim.run.id, "lost", text=str(error))
    except Exception:  # whatever a strategy or a network raises must not stop the other runs
        text = traceback.format_exc()
        store.fail(claim, text)
        return News(claim.run.id, "failed", text=text)
    return News(claim.run.id, "done")


def _run_rounds(store: Store, claim: Claim, channel: Connection | None) -> None:
    check_claimed(claim.run.id, claim.run.spec)
    spec = Spec.of(claim.run.spec)
    spec.check_algorithm()
    experiment = Experiment(spec)
    session = experiment.start(claim.state)
    started = time.perf_counter()
    for record in experiment.rounds(session):
        items = [] if record.query is None else experiment.rows[record.query.indices].tolist()
        labels = [experiment.data.classes[number] for number in experiment.data.train_labels[items]]
        state = pickle.dumps(session.checkpoint(), protocol=5)
        store.write_round(claim, record, items=items, labels=labels, state=state)
        if channel is not None:
            assert record.test is not None
            now = time.perf_counter()
            accuracy, ece = record.test.raw["accuracy"], record.test.raw["ece"]
            channel.send(News(claim.run.id, "round", record.round, accuracy, ece, now - started))
            started = now


@contextmanager
def _holding(store: Store, claim: Claim) -> Iterator[None]:
    """Renew the lease in the background: a round may take longer than it lasts."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(LEASE_SECONDS / 5):
            try:
                store.renew(claim)
            except LeaseLost:
                return  # the next round's write meets the same and ends the run
            except StoreError:
                continue  # the lease lasts for several tries; a lasting fault shows when the round is written

    keeper = threading.Thread(target=renew, daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
