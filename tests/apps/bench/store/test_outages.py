"""A database server that goes away for a moment, and machines of one name."""

import threading
import time

import pytest
from test_store import some_rounds, some_run, write

from cusal.apps.bench.store import Store, process_name
from cusal.apps.bench.store.leases import is_dead, through_outages
from cusal.errors import StoreError


@pytest.mark.slow
def test_a_server_that_is_restarted_loses_and_doubles_nothing(own_postgres_server) -> None:
    rounds = list(some_rounds())
    with Store(f"{own_postgres_server.url}/postgres") as store:
        store.add([some_run()])
        claim = store.claim(["a"])
        assert claim is not None
        write(store, claim, *rounds[0])
        for record in rounds[1:]:
            own_postgres_server.stop()
            restart = threading.Timer(3, own_postgres_server.start)
            restart.start()
            write(store, claim, *record)
            restart.join()
        assert [row["round"] for row in store.rounds()] == [0, 1, 2, 3]
        assert store.runs()[0]["status"] == "done"


@pytest.mark.slow
def test_a_round_that_was_taken_without_an_answer_is_not_written_twice(own_postgres_server) -> None:
    (first, state), *_ = some_rounds()
    with Store(f"{own_postgres_server.url}/postgres") as store:
        store.add([some_run()])
        claim = store.claim(["a"])
        assert claim is not None
        write(store, claim, first, state)
        store._write_round(claim, first.round, {}, state, again=True)
        assert [row["round"] for row in store.rounds()] == [0]


def test_a_server_that_stays_away_is_given_up_with_its_reason() -> None:
    started = time.monotonic()
    with pytest.raises(StoreError, match="postgresql"):
        through_outages(lambda: Store("postgresql://nobody@127.0.0.1:1/nothing"), patience=0.5)
    assert time.monotonic() > started + 0.2


def test_other_errors_are_raised_at_once() -> None:
    tries = []

    def fail() -> None:
        tries.append(1)
        raise StoreError("it is no store")

    with pytest.raises(StoreError):
        through_outages(fail)
    assert len(tries) == 1


def test_a_process_of_another_container_of_the_same_name_may_live() -> None:
    machine, pid, started = process_name().split("/")
    host, *marks = machine.split(":")
    assert not is_dead(f"{host}:{':'.join(marks)}0/{pid}/{int(started) - 1}")
    assert is_dead(f"{machine}/{pid}/{int(started) - 1}")
