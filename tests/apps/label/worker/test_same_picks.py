"""A person who answers each batch in the app gets the picks of a plain session, also when the worker was killed."""

from working_projects import Person, X, Y, run_until, wait_until

import cusal
from cusal.apps.label.worker.process import Worker
from cusal.apps.label.worker.saved import read_saved
from cusal.models import PoolClassifier

ROUNDS = 6


def plain_picks(items=300, rounds=ROUNDS, batch=10, audit=0.1, seed=5):
    """Return the picks of each round of a plain session with the same settings, and which of them were drawn."""
    session = cusal.Session(X[:items].astype("float32"), PoolClassifier(), audit=audit, seed=seed)
    asked, drawn = [], []
    for _ in range(rounds):
        query = session.ask(batch)
        asked.append(query.indices.tolist())
        drawn.append([] if query.audit is None else query.indices[query.audit].tolist())
        session.tell(query.indices, Y[query.indices])
    return asked, drawn


def batch_of(person, project):
    """Return the picks that the session of the last round asked for, as they come in the queue."""
    asked = read_saved(project.rounds.last().session).asked
    return [pick for pick in person.look(30) if pick.item in asked]


def test_each_round_asks_what_a_plain_session_asks(make_project):
    project = make_project()
    person, worker = Person(project, Y), Worker(project)
    asked, drawn = plain_picks()
    for number in range(1, ROUNDS + 1):
        run_until(worker, lambda number=number: project.rounds.last_number() == number)
        picks = batch_of(person, project)
        own = [item for item in asked[number - 1] if item not in drawn[number - 1]]
        assert [pick.item for pick in picks if pick.origin != "audit"] == own
        assert [pick.item for pick in picks if pick.origin == "audit"] == drawn[number - 1]
        person.label(asked[number - 1])


def test_a_worker_that_was_killed_between_rounds_continues_with_the_same_picks(make_project, start_worker):
    project = make_project()
    person = Person(project, Y)
    asked, _ = plain_picks()
    for number in range(1, ROUNDS + 1):
        process = start_worker(project)
        wait_until(lambda number=number: project.rounds.last_number() == number)
        if number % 2:  # also in the middle of a batch
            person.label(asked[number - 1][:4])
        process.kill()
        process.wait()
        picks = batch_of(person, project)
        rest = [item for item in asked[number - 1] if item not in project.answers.labels()]
        assert sorted(pick.item for pick in picks) == sorted(rest)
        person.label(rest)


def test_labels_that_came_before_the_vectors_are_told_and_count_as_drawn(make_project):
    project = make_project()
    person, worker = Person(project, Y), Worker(project)
    worker.first_queue.keep_filled()
    first = person.look(20)
    assert {pick.origin for pick in first} == {"random"}
    person.label(pick.item for pick in first)
    run_until(worker, lambda: project.rounds.last_number() == 1)
    report = project.rounds.last().report
    assert report["labels"] == 20
    assert report["accuracy"]["drawn"] == 20
