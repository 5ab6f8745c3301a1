"""Grids that nobody writes by accident: refused where they are read, in one line."""

from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from cusal.apps.bench.command import change_grid, parse_seeds
from cusal.apps.bench.grid import read_grid
from cusal.errors import CusalError, InvalidInput

REFUSED = [
    "seeds = true",
    "seeds = [true, 2]",
    "seeds = [1.0]",
    "seeds = 1979-05-27",
    "seeds = 99999999999999",
    "seeds = [2147483648]",
    "rounds = 99999999999999999999",
    "batch_size = 9223372036854775808",
    "rounds = true",
    "learning_rate = inf",
    "learning_rate = -inf",
    "learning_rate = nan",
    "weight_decay = inf",
    "audit = nan",
    "bandwidth = inf",
    "p = inf",
    "at_most = {pool = inf}",
    "at_most = {pool = true}",
    "sweep = {learning_rate = [0.1, inf]}",
    "tasks = [{dataset = 'letter', learning_rate = inf}]",
    "on = {svhn = {learning_rate = nan}}",
    "strategies = [{name = 'cusal', bandwidth = true}]",
    "strategies = [{name = 'cusal', bandwidth = inf}]",
    "strategies = [{name = 'cusal', label = nan}]",
    "strategies = [{name = 'margin', label = 1979-05-27}]",
    "network = {name = 'small_net', hidden = inf}",
    "network = {name = 'small_net', hidden = 1979-05-27}",
    "network = {name = 'mnist_net', dropout = nan}",
    "model = {name = 'energy', energy_weight = inf}",
    "model = " + "{name = 'temperature_scaled', of = " * 30 + "'plain'" + "}" * 30,
    *(f"{key} = {'[' * deep}{']' * deep}" for deep in (30, 400, 3000) for key in ("seeds", "strategies", "tasks")),
    *(f"network = {'{a=' * deep}1{'}' * deep}" for deep in (30, 300, 3000)),
    f"sweep = {{rounds = [{'[' * 50}{']' * 50}]}}",
    'extends = "x\\u0000.toml"',
    "[" * 100_000,
]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_is_refused_at_reading(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text if text.startswith(("extends", "[")) else f'extends = "digits"\n{text}\n')
    with pytest.raises(CusalError) as caught:
        read_grid(str(path))
    assert len(str(caught.value)) < 12_000


@pytest.mark.parametrize("change", ["learning_rate=inf", "seeds=true", f"network={'[' * 5000}", "epochs=1e400"])
def test_is_refused_on_the_command_line(change: str) -> None:
    with pytest.raises(CusalError):
        change_grid(read_grid("digits"), {}, [change]).specs()


@pytest.mark.parametrize("text", ["0-99999999999", "9-5", "1-2-3", "", "9" * 5000, "0,1.5", "-1"])
def test_odd_seeds_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="expected a number"):
        parse_seeds(text)


def test_labels_and_titles_may_hold_any_letter(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'extends = "digits"\ntitle = "\\u0000 🦊"\nstrategies = [{name = "margin", label = "$\\n\\u0000"}]\n'
    )
    assert read_grid(str(path)).specs()[0].label == "$\n\0"
