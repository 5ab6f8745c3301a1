"""What must not reach a screen or a spreadsheet: passwords of database URLs, and cells that are formulas."""

import pickle
import stat
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from hypothesis import given
from hypothesis import strategies as st

from cusal.apps.bench.store import Store
from cusal.apps.label.server.token_file import token_of
from cusal.apps.label.store import Project
from cusal.errors import CusalError, ProjectError, StoreError, without_passwords
from cusal.tables import plain_cell, safe_cell

SECRET = "s3cret"
URLS = [
    f"postgresql://ann:{SECRET}@127.0.0.1:1/none",
    f"postgresql://ann:{SECRET}@@:{SECRET}/x@127.0.0.1:1/none",
    f"postgresql://ann:{SECRET}@127.0.0.1:port/none",
    f"postgresql://:{SECRET}@127.0.0.1:1/none",
    f"postgresql://ann:x@127.0.0.1:1/none?sslpassword={SECRET}",
    f"postgresql://ann:{SECRET}:{SECRET}/{SECRET}@127.0.0.1:1/none",
    f"postgresql://ann:{SECRET} {SECRET}@127.0.0.1:1/none",
    f"postgresql://127.0.0.1:1/none?user=ann&password={SECRET}",
    f"postgresql:ann:{SECRET}@127.0.0.1:1/none",
    f"host=127.0.0.1 port=1 dbname=none password={SECRET}",
    f"dbname = none password = {SECRET}",
    f"nothing://ann:{SECRET}@127.0.0.1/none",
    f"://ann:{SECRET}@127.0.0.1",
]


@pytest.mark.parametrize("url", URLS)
def test_no_error_shows_the_password_of_a_database(url: str) -> None:
    for open_it in (Store, Project):
        with pytest.raises(CusalError) as caught:
            open_it(url)
        assert SECRET not in str(caught.value)
        assert SECRET not in repr(caught.value)


@pytest.mark.parametrize("url", URLS)
def test_no_text_shows_the_password_of_a_url(url: str) -> None:
    assert SECRET not in without_passwords(f"{url}: 3 runs, into {url!r}.")
    for kind in (StoreError, ProjectError):
        error = kind(f"cannot use {url}; try another.")
        assert SECRET not in str(error)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_text_without_passwords_stays_as_it_is() -> None:
    for text in (
        "runs.db",
        "postgresql://host/name",
        "postgresql://ann@host:5432/name",
        "a: b@c.org, http://x.org:80/",
        "a token: 5; the password is asked for",
    ):
        assert without_passwords(text) == text


def test_a_command_that_fails_does_not_print_the_password(capsys: pytest.CaptureFixture[str]) -> None:
    from typer.testing import CliRunner

    from cusal.cli import app

    for command in (
        ["report", URLS[0]],
        ["store", "load", URLS[0], "x"],
        ["export", URLS[0]],
        ["label", ".", "--store", URLS[0]],
    ):
        result = CliRunner().invoke(app, command)
        assert result.exit_code != 0
        assert SECRET not in result.output + str(result.exception)
    assert SECRET not in "".join(capsys.readouterr())


@given(st.text(alphabet="=+-@\t\r\n'aé0.e5"))
def test_every_text_comes_back_from_its_cell_and_no_cell_is_a_formula(text: str) -> None:
    cell = safe_cell(text)
    assert plain_cell(cell) == text
    if cell[:1] in "=+-@\t\r\n" and cell:
        float(cell)  # a number, which a spreadsheet takes for one


@pytest.mark.parametrize("number", ["-5", "+3", "-1.5e-7", "-.5", "+0."])
def test_numbers_stay_numbers(number: str) -> None:
    assert safe_cell(number) == number


@pytest.mark.parametrize(
    "formula", ["-5+1", "+1-555", "-5\n", "- 5", "-1e5x", "=1", "@x", "\t=1", "-", "-\u0665", "\uff1d1"]
)
def test_formulas_are_none(formula: str) -> None:
    assert safe_cell(formula) == f"'{formula}"


def test_tokens_are_for_the_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUSAL_CACHE", str(tmp_path))
    token_of("project")
    (path,) = (tmp_path / "label").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
