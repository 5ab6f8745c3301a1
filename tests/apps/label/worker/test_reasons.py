"""Why items are asked about: between two classes, unlike anything labelled, typical, or drawn at random."""

import numpy as np

import cusal
from cusal.apps.label.worker.reasons import closest_classes, in_reserve, reasons_of
from cusal.models import PoolClassifier

rng = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
LABELS = np.arange(150) % 3
POINTS = CENTRES[LABELS] + rng.normal(size=(150, 2))
FAR = np.array([[30.0, 30.0], [31.0, 30.0]])
ITEMS = np.concatenate([POINTS, FAR])
CLASS_IDS = np.array([40, 41, 42])  # of the project


def labelled_session(audit=0.0):
    session = cusal.Session(ITEMS, PoolClassifier(), audit=audit)
    session.tell(np.arange(60), CLASS_IDS[LABELS[:60]])
    return session


def test_without_a_model_items_are_typical():
    session = cusal.Session(ITEMS, PoolClassifier())
    assert reasons_of(session.ask(3), session) == [{"kind": "typical"}] * 3


def test_an_unsure_item_is_between_its_two_most_probable_classes():
    session = labelled_session()
    query = session.ask(1)
    (reason,) = reasons_of(query, session)
    best = session.classes_[np.argsort(-query.probs[0])[:2]].tolist()
    assert reason in ({"kind": "between", "classes": best}, {"kind": "new"})
    assert set(best) <= set(CLASS_IDS.tolist())


def test_an_item_far_from_all_labelled_ones_is_new():
    session = labelled_session()
    query = session.ask(92)  # everything that is open
    reasons = dict(zip(query.indices.tolist(), reasons_of(query, session), strict=True))
    assert reasons[150] == reasons[151] == {"kind": "new"}
    kinds = [reason["kind"] for reason in reasons.values()]
    assert kinds.count("between") > 0.8 * len(kinds)


def test_audit_picks_are_random_checks():
    session = labelled_session(audit=0.3)
    query = session.ask(10)
    reasons = reasons_of(query, session)
    assert [reason["kind"] == "random" for reason in reasons] == query.audit.tolist()


def test_the_reserve_goes_by_margin_and_leaves_out_what_is_taken():
    session = labelled_session()
    taken = session.ask(5).indices.tolist()
    reserve = in_reserve(session, taken, 20)
    items = [item for item, _ in reserve]
    assert len(items) == 20
    assert not set(items) & set(taken)
    probs = np.sort(session.view.probs_of(np.array(items)), axis=1)
    margins = probs[:, -1] - probs[:, -2]
    assert (np.diff(margins) >= 0).all()
    assert all(reason["kind"] == "reserve" and len(reason["classes"]) == 2 for _, reason in reserve)
    assert len(in_reserve(session, taken, 1000)) == 92 - 5


def test_equal_probabilities_keep_the_order_of_the_classes():
    assert closest_classes(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([3, 9])) == [[3, 9], [9, 3]]
