"""How long a run is held: what another machine holds is free again within its lease, whatever clocks do."""

import pytest
from test_store import some_rounds, some_run, write

from cusal.apps.bench.store import LEASE_SECONDS, LeaseLost, Store, leases, process_name

ELSEWHERE = "elsewhere/1/1"


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self, connection: object) -> float:
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(leases, "now", clock)
    return clock


def test_a_run_of_another_machine_is_free_when_its_lease_ends(place: str, clock: Clock) -> None:
    with Store(place) as store:
        store.add([some_run()])
        assert store.claim(["a"], ELSEWHERE) is not None
        clock.time += LEASE_SECONDS - 1
        assert store.claim(["a"]) is None
        clock.time += 2
        assert store.claim(["a"]) is not None


def test_a_lease_that_is_renewed_does_not_end(place: str, clock: Clock) -> None:
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"], ELSEWHERE)
        assert claim is not None
        for _ in range(10):
            clock.time += LEASE_SECONDS / 2
            store.renew(claim)
            assert store.claim(["a"], "third/3/3") is None


def test_a_clock_that_jumps_forward_takes_nothing_from_the_living(place: str, clock: Clock) -> None:
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"])  # this process
        assert claim is not None
        clock.time += 86_400
        assert store.claim(["a"], ELSEWHERE) is None
        for record, state in some_rounds():
            write(store, claim, record, state)
        assert store.runs()[0]["status"] == "done"


def test_a_clock_that_jumps_forward_loses_and_doubles_no_round(place: str, clock: Clock) -> None:
    rounds = list(some_rounds())
    with Store(place) as store:
        store.add([some_run()])
        first = store.claim(["a"], ELSEWHERE)
        assert first is not None
        write(store, first, *rounds[0])
        clock.time += 86_400
        second = store.claim(["a"])
        assert second is not None
        assert second.state == rounds[0][1]
        with pytest.raises(LeaseLost, match="it continues there"):
            write(store, first, *rounds[1])
        for record, state in rounds[1:]:
            write(store, second, record, state)
        assert [row["round"] for row in store.rounds()] == [0, 1, 2, 3]


def test_a_clock_that_jumps_back_holds_no_run_for_longer_than_a_lease(place: str, clock: Clock) -> None:
    with Store(place) as store:
        store.add([some_run()])
        claim = store.claim(["a"], ELSEWHERE)
        assert claim is not None
        clock.time -= 86_400
        assert store.claim(["a"]) is None
        clock.time += LEASE_SECONDS - 1
        store.renew(claim)  # it lives
        clock.time += LEASE_SECONDS - 1
        assert store.claim(["a"]) is None
        clock.time += 2
        assert store.claim(["a"]) is not None


def test_the_clock_is_the_same_for_all_who_share_a_store(place: str) -> None:
    with Store(place) as one, Store(place) as other, one._reading() as first, other._reading() as second:
        assert abs(leases.now(first) - leases.now(second)) < 60.0
    assert leases.is_here(process_name())
    assert not leases.is_here(ELSEWHERE)
