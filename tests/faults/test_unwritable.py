"""Places that cannot be written, for everything that writes: one clear error, and what was there stays as it was."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.apps.bench.report import Curves, write_curves
from cusal.apps.bench.spec import Spec
from cusal.apps.bench.store import Store
from cusal.apps.label import NewItem, Project, Settings, write_export
from cusal.audit.prediction_table import read_predictions
from cusal.audit.report import write_report
from cusal.errors import CusalError, DataError
from cusal.tables import NamedColumns

ITEMS = np.random.default_rng(0).normal(size=(60, 3))
LABELS = (ITEMS[:, 0] > 0).astype(int)
PROBS = np.column_stack([1 / (1 + np.exp(ITEMS[:, 0])), 1 / (1 + np.exp(-ITEMS[:, 0]))])
Write = Callable[[Path], object]


def a_session() -> cusal.Session:
    return cusal.Session(ITEMS, LogisticRegression(), labelled={i: int(LABELS[i]) for i in range(20)})


@pytest.fixture(scope="module")
def sources() -> Iterator[Path]:
    """A folder with a pool, a project and predictions, which every user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="cusal-faults-"))
    folder.chmod(0o755)
    np.save(folder / "pool.npy", PROBS)
    with Project.create(str(folder / "texts.db"), Settings(title="Texts")) as project:
        project.items.add(
            NewItem(f"row {i}", f"a text of some words, number {i}", label="ab"[i % 2]) for i in range(90)
        )
    with (folder / "said.csv").open("w") as file:
        file.write("id,label,confidence\n" + "".join(f"{i},yes,0.{i + 10}\n" for i in range(60)))
    yield folder
    shutil.rmtree(folder)


@cache
def rounds() -> list[cusal.Round]:
    return list(cusal.simulate(a_session(), LABELS, rounds=3, batch_size=4, test=(ITEMS, LABELS)))


@pytest.fixture(params=["session", "audit", "audit report", "score", "model"])
def write_file(request: pytest.FixtureRequest, sources: Path) -> Write:
    """Everything that writes one file."""
    if request.param == "session":
        return a_session().save
    if request.param == "audit":
        return cusal.Audit(PROBS).save
    if request.param == "audit report":
        table = read_predictions(str(sources / "said.csv"), NamedColumns())
        return lambda path: write_report(str(path), cusal.Audit(PROBS), table)
    if request.param == "model":
        torch = pytest.importorskip("torch")
        model = cusal.models.TorchClassifier(torch.nn.Linear(3, 2), epochs=1)
        return model.fit(ITEMS.astype(np.float32), LABELS).save
    return lambda path: cusal.score_files(sources / "pool.npy", batch_size=50, out=path, strategy="margin")


@pytest.fixture(params=["report", "store export", "label export"])
def write_folder(request: pytest.FixtureRequest, sources: Path) -> Iterator[Write]:
    """Everything that writes a folder of files."""
    if request.param == "report":
        curves = Curves.of_rounds("normal", {("margin", 0): rounds()})
        yield lambda path: write_curves([curves], path)
        return
    if request.param == "label export":
        with Project(str(sources / "texts.db")) as project:
            yield lambda path: write_export(project, path, ["csv", "jsonl", "labelstudio"], force=True)
        return

    def export_store(path: Path) -> None:
        with Store(":memory:") as store:
            spec = Spec("try", "margin", "normal", "margin", seed=0, rounds=3, batch_size=4, warm_up=20, network={})
            store.add([spec.run])
            claim = store.claim([spec.id])
            assert claim is not None
            for record in rounds():
                items = [] if record.query is None else record.query.indices.tolist()
                store.write_round(claim, record, items=items, labels=["a"] * len(items), state=b"")
            store.export(path)

    yield export_store


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(write: Write, path: Path) -> str:
    with pytest.raises(CusalError) as error:
        write(path)
    text = str(error.value)
    assert str(path) in text or str(path.parent) in text
    assert ";" in text  # what was met; what to do
    return text


def test_a_missing_folder_is_named(write_file: Write, tmp_path: Path) -> None:
    assert "make" in refused(write_file, tmp_path / "none" / "file.csv")
    assert content(tmp_path) == {}


def test_a_folder_where_a_file_is_expected_is_named(write_file: Write, tmp_path: Path) -> None:
    (tmp_path / "file.csv").mkdir()
    refused(write_file, tmp_path / "file.csv")
    assert [path.name for path in tmp_path.rglob("*")] == ["file.csv"]


def test_a_file_in_the_path_is_named(write_file: Write, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused(write_file, tmp_path / "file" / "inner")
    assert content(tmp_path) == {"file": b"mine"}


def test_a_file_where_a_folder_is_expected_is_named(write_folder: Write, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused(write_folder, tmp_path / "file")
    refused(write_folder, tmp_path / "file" / "inner")
    assert content(tmp_path) == {"file": b"mine"}


def test_a_full_disk_leaves_the_file_that_was_there(write_file: Write, tmp_path: Path, little_space) -> None:
    path = tmp_path / "file.csv"
    write_file(path)
    before = content(tmp_path)
    with little_space(200):
        refused(write_file, path)
    assert content(tmp_path) == before


def test_a_full_disk_leaves_the_folder_that_was_there(write_folder: Write, tmp_path: Path, little_space) -> None:
    folder = tmp_path / "out"
    for size in (0, 300):
        with little_space(size):
            assert str(folder) in refused(write_folder, folder)  # not a hidden file beside it
        assert content(tmp_path) == {}
    write_folder(folder)
    before = content(tmp_path)
    with little_space(0), suppress(DataError):  # a run that says the same already is not written again
        write_folder(folder)
    assert content(tmp_path) == before


def test_a_file_that_may_not_be_written_is_named(write_file: Write, open_folder: Path, read_only) -> None:
    write_file(open_folder / "file.csv")
    before = content(open_folder)
    with read_only(open_folder):
        refused(write_file, open_folder / "other.csv")
        refused(write_file, open_folder / "file.csv")
    assert content(open_folder) == before


def test_a_folder_that_may_not_be_written_is_named(write_folder: Write, open_folder: Path, read_only) -> None:
    write_folder(open_folder / "out")
    before = content(open_folder)
    with read_only(open_folder):
        refused(write_folder, open_folder / "other")
        refused(write_folder, open_folder / "other" / "inner")
    assert content(open_folder) == before


READERS = {
    "session": lambda path: cusal.Session.load(path, ITEMS),
    "audit": cusal.Audit.load,
    "model": cusal.load_model,
    "score": lambda path: cusal.score_files(path, batch_size=1, out=path.with_name("out.csv"), strategy="margin"),
    "store": lambda path: Store(path, read_only=True),
}


@pytest.mark.parametrize("name", READERS)
def test_what_cannot_be_read_is_named(name: str, open_folder: Path, read_only) -> None:
    read = READERS[name]
    (open_folder / "folder.npy").mkdir()
    refused(read, open_folder / "folder.npy")
    refused(read, open_folder / "none.npy")
    closed = open_folder / "closed.npy"
    closed.write_bytes(b"closed to all others")
    refused(read, closed)
    (open_folder / "inner").mkdir()
    (open_folder / "inner" / "file.npy").write_bytes(b"PK")
    with read_only(open_folder):
        refused(read, closed)
