"""A project of Label Studio (1.23.2): its labels become a session, and what the session would ask becomes its order.

Label Studio's "uncertainty sampling" serves tasks by the scores of predictions, the lowest first: those of the one
`model_version` that is set in the project. Predictions are pushed under a new version, "cusal-N", which is then set;
after that, earlier versions of cusal's are removed. Annotators are never without an order.
"""

import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from cusal._checks import as_count
from cusal._types import Indices
from cusal.adapters._label_studio_order import rank_open_items
from cusal.adapters._label_studio_pull import TaskList
from cusal.adapters._label_studio_server import LabelStudioServer
from cusal.adapters._label_studio_tasks import Question, Task, read_question, read_task
from cusal.adapters._label_studio_vectors import FetchedImages, check_features, text_vectors
from cusal.errors import InvalidInput, NotReady, ServerAway, ServerError
from cusal.session.classifiers import for_many_labels
from cusal.session.session import Session
from cusal.strategies._strategy import Strategy

URL, TOKEN = "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"  # as Label Studio's own SDK calls them
DEFAULT_URL = "http://localhost:8080"
UNCERTAINTY = "Uncertainty sampling"
OWN_VERSION = re.compile(r"cusal-(\d+)")
CHUNK = 5000  # predictions in one call; each call counts those of all tasks again
MOST_FOR_KERNEL = 1500  # labels: the time of a kernel classifier grows with their cube


@dataclass(frozen=True, repr=False)
class LabelStudioPush:
    """What was pushed to a project.

    Attributes
    ----------
    version : str
        The model version of the predictions.
    tasks : (n,) int64 array
        The ids of the open tasks with a prediction, in the order in which they will be served.
    refused : int
        How many predictions Label Studio did not take.
    sampling : str
        The order of tasks that was set in the project before.

    Examples
    --------
    >>> LabelStudioPush("cusal-3", np.array([17, 5, 9]), refused=0, sampling="Uncertainty sampling")
    LabelStudioPush(cusal-3: 3 open tasks, 17 is next)
    """

    version: str
    tasks: Indices
    refused: int
    sampling: str

    def __repr__(self) -> str:
        refused = f", {self.refused} refused" if self.refused else ""
        return f"LabelStudioPush({self.version}: {len(self.tasks)} open tasks, {self.tasks[0]} is next{refused})"


class LabelStudioProject:
    """A project of a Label Studio server, with single choices about texts or images.

    Use it to let Label Studio serve the tasks that cusal would ask next: `session` pulls the labels, `push` sets the
    order. `cusal labelstudio` does both, once or as often as labels come in. Tasks with several annotations have the
    label of the majority, and of the latest where choices have equally many votes; annotations that are marked as
    ground truth decide alone. Skipped tasks, and those whose image cannot be read, are set aside and come last.

    Parameters
    ----------
    number : int
        Of the project, as in the address of its page.
    url : str, optional
        Of the server. By default the environment variable LABEL_STUDIO_URL, or http://localhost:8080.
    token : str, optional
        A personal access token or a legacy token of an account that may change the project. By default the environment
        variable LABEL_STUDIO_API_KEY. It is never shown.
    choices : str, optional
        The name of the tag <Choices>, where the project has several.

    Attributes
    ----------
    tasks : list of Task
        As they were when the session was made; the items of the session are theirs, position by position.
    unreadable : dict
        Why tasks could not be read, by their id.

    Raises
    ------
    InvalidInput
        If there is no token, or the address is none.

    Examples
    --------
    ::

        project = cusal.adapters.LabelStudioProject(7, token="...")
        session = project.session()
        print(session.estimate_accuracy())
        project.push(session)
    """

    def __init__(
        self, number: int, url: str | None = None, *, token: str | None = None, choices: str | None = None
    ) -> None:
        self.number, self.choices = as_count(number, "number"), choices
        token = token or os.environ.get(TOKEN)
        if not token:
            raise InvalidInput(f"there is no token for Label Studio; copy one from Account & Settings into {TOKEN}.")
        self.server = LabelStudioServer(url or os.environ.get(URL) or DEFAULT_URL, token)
        self.tasks: list[Task] = []
        self.unreadable: dict[int, str] = {}
        self._images, self._list = FetchedImages(self.server), TaskList(self.server, self.number)
        self._question: Question | None = None

    def __repr__(self) -> str:
        return f"LabelStudioProject({self.number}, {self.server.url!r})"

    def session(
        self,
        model: Any = None,
        strategy: str | Strategy = "diverse_margin",
        *,
        features: str | None = None,
        seed: int = 0,
    ) -> Session:
        """Return a session over the project's tasks as they are now, with the labels that they have.

        Parameters
        ----------
        model : object with fit(X, y) and predict_proba(X), optional
            By default `cusal.models.PoolClassifier`, or a logistic regression where there are thousands of labels.
        strategy : str or Strategy, default "diverse_margin"
            As for `Session`.
        features : str, optional
            Of texts "minilm" (by default, where it is installed) or "tfidf"; of images "efficientnet_lite0".
        seed : int, default 0
            Seed of every random choice.

        Raises
        ------
        ServerAway, ServerError
            If the server does not answer, or refuses.
        InvalidInput
            If the project asks for something else than a single choice about texts or images, or has no tasks.
        """
        settings = self.settings()
        question = read_question(settings["parsed_label_config"], self.choices)
        tasks = [read_task(task, question) for task in self._list.pull(settings["task_number"])]
        if not tasks:
            raise InvalidInput(f"project {self.number} has no tasks; import some.")
        vectors = self._vectors(tasks, question, check_features(features, question.kind))
        self.tasks = [task for task in tasks if task.id not in self.unreadable]
        self._question = question
        labelled = {place: task.label for place, task in enumerate(self.tasks) if task.label is not None}
        if model is None and len(labelled) > MOST_FOR_KERNEL:
            model = for_many_labels(scaled=True)
        session = Session(vectors, model, strategy, labelled=labelled, seed=seed)
        skipped = [place for place, task in enumerate(self.tasks) if task.skipped]
        if skipped:
            session.skip(skipped)
        return session

    def push(self, session: Session, *, batch_size: int = 10, most: int = 1000) -> LabelStudioPush:
        """Make Label Studio serve the open tasks in the order in which the session would ask.

        The order of tasks in the project is set to "uncertainty sampling". Predictions have the class and, in the
        result, its confidence; their score is at most that, and lowered where the order demands it. Before there are
        labels of two classes, predictions have no class. Predictions of others stay as they are.

        Parameters
        ----------
        session : Session
            That `session` returned last. It may have been told more.
        batch_size : int, default 10
            How many tasks to choose as one batch; the others follow by their margin.
        most : int, default 1000
            How many tasks get a prediction, the first ones; Label Studio serves the others after them. It takes some
            milliseconds to remove an old prediction.

        Returns
        -------
        LabelStudioPush

        Raises
        ------
        NotReady
            If `session` was not called before.
        PoolExhausted
            If no task is open.
        ServerAway, ServerError
            If the server does not answer, or refuses.
        """
        if self._question is None or len(session.pool) != len(self.tasks):
            raise NotReady("push needs the session of this project's tasks; call project.session() first.")
        ranking = rank_open_items(session, batch_size).first(as_count(most, "most"))
        ids = np.array([self.tasks[place].id for place in ranking.indices.tolist()], dtype=np.int64)
        results: list[list[dict[str, Any]]] = [[]] * len(ids)
        if ranking.labels is not None and ranking.confidence is not None:
            pairs = zip(ranking.labels.tolist(), ranking.confidence.tolist(), strict=True)
            results = [self._question.prediction(label, confidence) for label, confidence in pairs]
        old = [version for version in self._call("GET", "model-versions") if OWN_VERSION.fullmatch(version)]
        version = f"cusal-{1 + max((int(name.removeprefix('cusal-')) for name in old), default=0)}"
        rows = [
            {"task": task, "score": score, "result": result, "model_version": version}
            for task, score, result in zip(ids.tolist(), ranking.scores.tolist(), results, strict=True)
        ]
        taken = sum(self._import(rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK))
        if not taken:
            raise ServerAway(f"Label Studio took none of {len(rows)} predictions; its log says why.")
        sampling = self.settings()["sampling"]
        self._call("PATCH", "", {"model_version": version, "sampling": UNCERTAINTY})
        for name in old:
            self._call("DELETE", "model-versions", {"model_version": name})
        return LabelStudioPush(version, ids, len(rows) - taken, sampling)

    def settings(self) -> dict[str, Any]:
        """Return the project as the server describes it.

        Raises
        ------
        ServerAway, ServerError
            If the server does not answer, or there is no such project.
        """
        found = self._call("GET", "")
        if not isinstance(found, dict) or "parsed_label_config" not in found:
            raise self.server.stranger()
        return found

    def state(self) -> tuple[Any, ...]:
        """Return what differs after any change of tasks, annotations, labelling interface or model version."""
        found = self.settings()
        return found["task_number"], self._list.latest(), found["label_config"], found["model_version"]

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        try:
            return self.server.call(method, f"/api/projects/{self.number}/{path}", body)
        except ServerError as error:
            if error.status != 404 or path:
                raise
            raise ServerError(
                f"there is no project {self.number} at {self.server.url} that this token may see; its number is in the "
                "address of its page.",
                404,
            ) from None

    def _import(self, rows: list[dict[str, Any]]) -> int:
        return int(self._call("POST", "import/predictions", rows)["created"])

    def _vectors(self, tasks: list[Task], question: Question, features: str) -> Any:
        values = [task.value for task in tasks]
        self.unreadable = {}
        if question.kind == "text":
            return text_vectors(values, features)
        vectors, broken = self._images.vectors(values)
        self.unreadable = {tasks[row].id: reason for row, reason in broken.items()}
        if not len(vectors):
            raise InvalidInput(f"no image of project {self.number} can be read: {next(iter(broken.values()))}")
        return vectors
