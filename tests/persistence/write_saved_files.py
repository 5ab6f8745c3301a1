"""Write a small session, model and audit of the present format: `python write_saved_files.py FOLDER`."""

import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.deploy.model_file import model_state, write_model
from cusal.deploy.session_model import model_of
from cusal.features import GivenVectors

ITEMS = np.arange(20, dtype=np.float64)[:, None]


def main() -> None:
    """Write the three."""
    folder = Path(sys.argv[1])
    session = cusal.Session(ITEMS, LogisticRegression(), labelled={0: "a", 1: "a", 18: "b", 19: "b"})
    session.save(folder / "small.session")
    write_model(
        folder / "small.cusal", model_state(*model_of(session, GivenVectors(), {"a": "a", "b": "b"})), "# A card"
    )
    audit = cusal.Audit(session.predict_proba(ITEMS))
    asked = audit.ask(2)
    audit.tell(asked, right=[True, True])
    audit.save(folder / "small.audit")


if __name__ == "__main__":
    main()
