"""The audit of a project with the answers that people have given so far."""

import numpy as np

from cusal import Audit
from cusal.apps.label.store.project import Project
from cusal.errors import ProjectError


class Checking:
    """The predictions of a project in their order of checking, and what became of each.

    Parameters
    ----------
    project : Project
        One that `cusal label --audit` began.

    Raises
    ------
    ProjectError
        If it is no audit, or its beginning was not written.
    """

    def __init__(self, project: Project) -> None:
        found, wrong = project.rounds.last(), project.settings.wrong_class
        if wrong is None or found is None or found.session is None:
            raise ProjectError(f"{project.place} holds no audit; begin one with `cusal label PREDICTIONS --audit`.")
        self.project, self.wrong = project, wrong
        self._unchecked = Audit.from_bytes(found.session)

    def audit(self) -> Audit:
        """Return the audit with all present answers.

        A label that differs from the prediction, or "wrong", is an error; what people passed over, and items whose
        file is gone or broken, are unknown.
        """
        audit, names = self._unchecked.as_after(0), self.project.classes.names()
        labels = self.project.answers.labels()
        named = {item: names[label] for item, label in labels.items() if label != self.wrong}
        wrong = [item for item, label in labels.items() if label == self.wrong]
        if named:
            audit.tell(list(named), list(named.values()))
        if wrong:
            audit.tell(wrong, right=[False] * len(wrong))
        unknown = [item for item in self._unknown() if item not in labels]
        if unknown:
            audit.skip(unknown)
        return audit

    def _unknown(self) -> list[int]:
        aside = np.setdiff1d(np.arange(self.project.items.count()), self.project.items.ids("ok"))
        return [*self.project.answers.skipped(), *np.setdiff1d(aside, self.project.answers.skipped()).tolist()]
