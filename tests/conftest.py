"""How the tests run: the process they need, the quick ones by themselves, and no skip unnoticed where all is installed.

--quick             only tests that take less than a quarter of a second of processor time: `make check`
--write-durations   write down the tests that take longer, in tests/durations.json: `make durations`
--hypothesis-profile=explore   other examples each time, and more of them: `make explore`
--fuzz N            so many examples for each public call and file reader, in place of a few: `make fuzz`
--no-skips          a skipped test is a failed one: CI, which has every extra, every data set and PostgreSQL
"""

import importlib.util
import json
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from browsers import chromium  # noqa: F401 - fixture of all folders
from cusal.errors import MissingExtra
from databases import own_postgres_server, place, postgres_server  # noqa: F401 - fixtures of all folders

# The models of the tests are tiny: threads that wait for each other would take longer than the work.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that starts pytest in the background lets it ignore Ctrl-C, and with it every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest gives the hooks below no say when the conftest of a folder cannot be imported.
collect_ignore = [] if importlib.util.find_spec("sqlalchemy") else ["apps/bench/report"]

# Whoever runs the tests runs the same ones. What exploring finds becomes an `@example` of its test.
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile("same")

DURATIONS = Path(__file__).with_name("durations.json")
QUICK = 0.25  # seconds of processor time; thousands of tests that each take less make up a minute
SECONDS = pytest.StashKey[float]()
FIXTURES: dict[tuple[Any, int], float] = {}  # what each fixture took, by its definition and parameter


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cusal")
    group.addoption("--quick", action="store_true", help="only tests that take less than a quarter of a second")
    group.addoption("--write-durations", action="store_true", help=f"write the longer tests to {DURATIONS.name}")
    group.addoption("--fuzz", type=int, default=15, help="how many examples the fuzzer tries for each call and reader")
    group.addoption("--no-skips", action="store_true", help="a skipped test is a failed one")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.write_durations and not hasattr(config, "workerinput"):
        config.pluginmanager.register(DurationsFile())


@pytest.fixture(scope="session", autouse=True)
def _cache_of_these_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is computed for data sets out of the user's cache, and processes that test at once apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUSAL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


# What tests counted is said at the end, also by those that ran in other processes.


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [one for status in ("passed", "failed") for one in terminalreporter.stats.get(status, [])]
    found = [item for one in reports for item in getattr(one, "user_properties", [])]
    for line in sorted({str(value) for name, value in found if name == "said"}):
        terminalreporter.write_line(line)
    kills = sum(value for name, value in found if name == "kills")
    if kills:
        terminalreporter.write_line(f"{kills} processes were killed at random moments; nothing was lost or wrong")


# --quick: a test that was never timed counts as quick, so that a new one is run before every commit.


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.quick:
        longer = json.loads(DURATIONS.read_text())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in longer])
        items[:] = [item for item in items if item.nodeid not in longer]


# --write-durations: processor time of the test and of its fixtures, shared ones included, which hardly depends
# on what else the machine does.


def processor_seconds() -> float:
    """Return the processor time of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
    start = processor_seconds()
    value = yield
    key = fixturedef, request.param_index
    FIXTURES[key] = max(processor_seconds() - start, FIXTURES.get(key, 0.0))
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    start = processor_seconds()
    try:
        return (yield)
    finally:
        chosen = getattr(getattr(item, "callspec", None), "indices", {})
        definitions = item._fixtureinfo.name2fixturedefs.items()  # type: ignore[attr-defined]
        fixtures = sum(FIXTURES.get((found[-1], chosen.get(name, 0)), 0.0) for name, found in definitions)
        item.stash[SECONDS] = processor_seconds() - start + fixtures


class DurationsFile:
    """Gathers the durations of all tests, also those that other processes ran, and writes the longer ones."""

    def __init__(self) -> None:
        self.longer: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        seconds = dict(report.user_properties).get("seconds", 0.0)
        if report.when == "call" and isinstance(seconds, float) and seconds >= QUICK:
            self.longer[report.nodeid] = round(seconds, 1)

    def pytest_sessionfinish(self) -> None:
        DURATIONS.write_text(json.dumps(self.longer, indent=2, sort_keys=True) + "\n")


# A test that needs an extra which is not installed is skipped; with --no-skips, whatever is skipped fails. Import
# errors say so by themselves; `@pytest.mark.needs("torch")` is for tests whose other processes would meet them.


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        pytest.importorskip(*mark.args)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and SECONDS in item.stash:
        report.user_properties.append(("seconds", item.stash[SECONDS]))
    if not hasattr(report, "wasxfail"):
        judge_skips(report, call, item)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    judge_skips(report, report.call, collector)
    return report


def judge_skips(
    report: pytest.TestReport | pytest.CollectReport, call: pytest.CallInfo[Any], node: pytest.Item | pytest.Collector
) -> None:
    """Skip what failed for want of a package; then, if nothing may be skipped, fail what was."""
    missing = missing_package(call.excinfo.value) if report.failed and call.excinfo else None
    if missing:
        report.outcome, report.longrepr = "skipped", (str(node.path), 0, f"Skipped: {missing}")
    if report.skipped and node.config.option.no_skips:
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"{report.nodeid}: nothing may be skipped here, but: {reason}"


def missing_package(error: BaseException | None) -> str | None:
    """Return the message of the missing package that led to an error, or None if that was not the reason."""
    while error is not None:
        if isinstance(error, MissingExtra):
            return str(error)
        if isinstance(error, ModuleNotFoundError) and error.name:
            return None if importlib.util.find_spec(error.name.split(".")[0]) else str(error)
        error = error.__cause__ or error.__context__
    return None
