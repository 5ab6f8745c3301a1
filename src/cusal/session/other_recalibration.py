"""The recalibration that a session would have with another setting of `recalibrate`."""

from typing import get_args

from cusal.session.arguments import check_name
from cusal.session.honesty import AnyRecalibration, Honesty, Recalibrate
from cusal.session.session import Session


def recalibration_by(session: Session, method: str) -> AnyRecalibration:
    """Return what would turn this round's raw predictions, columns by class number, into recalibrated ones.

    The session stays as it is, but for copies of its model: "cross-fit", "vector" and "held-out" fit them where the
    session has not done so itself.
    """
    check_name("recalibration", method, get_args(Recalibrate))
    own = session._honesty
    other = Honesty(session._learner, session._books, method)  # type: ignore[arg-type]
    other.evidence, other.origins = own.evidence, own.origins
    return other.recalibration(session.fit)
