"""Write the tables of docs/speed.md from the figures that the benchmarks stored in benchmarks/results.

    python benchmarks/speed_page.py             tables between the marks `<!-- speed NAME -->` and `<!-- end -->`
    python benchmarks/speed_page.py --check     change nothing; exit 1 if a table is not what the figures give

`make bench` runs the benchmarks, then this. A table is a function with `@table(NAME)`.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
MARKED = re.compile(r"<!-- speed (.*?) -->\n.*?<!-- end -->", re.DOTALL)
PEERS = {"scikit-activeml": "same network", "scikit-activeml, plain network": "plain network"}

Cells = Sequence[str]
TABLES: dict[str, Callable[[], str]] = {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a table is out of date")
    options = parser.parse_args()
    text = PAGE.read_text()
    new = MARKED.sub(lambda mark: f"<!-- speed {mark[1]} -->\n{TABLES[mark[1]]()}\n<!-- end -->", text)
    if options.check:
        print(
            "docs/speed.md is up to date" if new == text else "docs/speed.md is out of date: run this without --check"
        )
        return int(new != text)
    PAGE.write_text(new)
    return 0


def table(name: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Mark a function that returns a table of the page."""

    def register(made: Callable[[], str]) -> Callable[[], str]:
        TABLES[name] = made
        return made

    return register


def stored(name: str) -> Any:
    """Return the figures of one benchmark."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def cases_of_all(name: str) -> list[Any]:
    """Return the cases of the quick run, which `make bench` does, and of the full one."""
    names = [name for name in (f"{name}_quick", name) if (RESULTS / f"{name}.json").exists()]
    return [case for name in names for case in stored(name)["cases"]]


def lines(head: str, rows: Sequence[Cells], *, words: int = 1) -> str:
    """Return a Markdown table; `head` has its columns, separated by |, of which the first `words` hold no numbers."""
    names = [name.strip() for name in head.split("|")]
    sides = ["---" if place < words else "---:" for place in range(len(names))]
    return (
        "\n".join(f"| {' | '.join(row)} |" for row in (names, sides, *rows))
        .replace("| ---", "|---")
        .replace("--- |", "---|")
        .replace("---: |", "---:|")
    )


def whole(number: float) -> str:
    return f"{number:,.0f}"


def ratio(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"


def between(values: Sequence[float], digits: int = 2) -> str:
    """Return the lowest, and the highest where it differs."""
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} - {high}"


def of_runs(values: Sequence[float], runs: int) -> str:
    """Return the lowest and the highest of repeated runs; nothing of a single one."""
    return between(values) if runs > 1 else ""


def spread(three: Sequence[float], digits: int = 2) -> str:
    """Return the median, with the lowest and the highest where they differ."""
    low, middle, high = three
    shown = f"{middle:.{digits}f}"
    return shown if between([low, high], digits) == shown else f"{shown} ({between([low, high], digits)})"


def at_load(load: float, cores: int) -> str:
    """Return what stands below a table of times by the clock."""
    return f"\n\nLoad while measuring: {load:.1f} on {cores} cores, which stretches the clock.\n"


def ratio_range(case: Any) -> str:
    """Return the lowest and the highest ratio of the turns of one run, where they were stored."""
    return between(case["cpu_ratio_range"], 1) if "cpu_ratio_range" in case else ""


@table("estimator")
def estimator() -> str:
    """The fast sum beside the dense one."""
    rows = [
        [
            *(case["name"], whole(case["n"]), whole(case["m"]), whole(case["K"])),
            *(f"{case['cpu']:.2f}", f"{case['rival_cpu']:.1f}", ratio(case["cpu_ratio"])),
            *(ratio_range(case), ratio(case["ratio"])),
            f"{100 * case['matter']:.2g} %" if case.get("matter") is not None else "",
        ]
        for case in stored("estimator")["cases"]
    ]
    head = "predictions | n | m | K | cusal, s | dense, s | ratio | lowest - highest | by the clock | pairs that matter"
    return lines(head, rows)


@table("estimator growth")
def growth() -> str:
    """How the ratio grows with each size."""
    rows = []
    for what, cases in stored("estimator")["growth"].items():
        letter = what[-1]
        for case in cases:
            others = ", ".join(f"{key} = {whole(case[key])}" for key in ("n", "m", "K") if key != letter)
            milliseconds = f"{1000 * case['cpu']:.1f}", f"{1000 * case['rival_cpu']:.0f}"
            rows.append([what, others, whole(case[letter]), *milliseconds, ratio(case["cpu_ratio"])])
            rows[-1].append(ratio_range(case))
    return lines("what grows | the others | size | cusal, ms | dense, ms | ratio | lowest - highest", rows, words=2)


@table("score")
def score() -> str:
    """Pools in files."""
    labelled = stored("score")["settings"]["labelled"]
    rows = [
        [
            *(case["form"], case["strategy"], whole(case["rows"]), whole(case["classes"])),
            whole(case.get("labelled", labelled[str(case["classes"])])),
            *(f"{case['cpu_seconds']:.1f}", f"{1e6 * case['cpu_seconds'] / case['rows']:.1f}"),
            *(whole(case["pool_bytes"] / 1e6), whole(case["peak_bytes"] / 1e6)),
        ]
        for case in cases_of_all("score")
    ]
    head = "file | strategy | rows | classes | labels | seconds | microseconds a row | pool, MB | peak memory, MB"
    return lines(head, rows, words=2)


@table("strategies")
def strategies() -> str:
    """Strategies that choose jointly, beside a peer's of the same name and size."""
    cases = cases_of_all("strategies")
    key = ("strategy", "items", "batch_size")
    theirs = {tuple(case[name] for name in key): case for case in cases if case["library"] != "cusal"}
    ours: dict[Any, list[Any]] = {}
    for case in (case for case in cases if case["library"] == "cusal"):
        ours.setdefault(tuple(case[name] for name in key), []).append(case)
    rows = []
    for same, peer in ((same, theirs.get(which)) for which, same in ours.items()):
        case = same[0]
        spent = [seconds for one in same for seconds in seconds_of(one)]
        beside = (between(seconds_of(peer), 1), ratio(peer["cpu_seconds"] / case["cpu_seconds"])) if peer else ("", "")
        size = (whole(case[name]) for name in ("items", "classes", "features", "batch_size"))
        runs = sum(one.get("runs", 1) for one in same)
        rows.append([case["strategy"], *size, str(runs), f"{case['cpu_seconds']:.2f}", of_runs(spent, runs), *beside])
    sizes = "items | classes | features | batch"
    return lines(f"strategy | {sizes} | runs | cusal, s | lowest - highest | scikit-activeml, s | ratio", rows)


def seconds_of(case: Any) -> list[float]:
    """Return the lowest and the highest processor seconds of a case, or those of its single run."""
    found: list[float] = case.get("cpu_range", [case["cpu_seconds"]])
    return found


@table("rounds")
def rounds() -> str:
    """Rounds beside scikit-activeml with skorch; the range is that of the processes."""
    rows = []
    for case in stored("rounds")["rounds"]:
        libraries, cells = case["libraries"], [whole(case["pool"]), whole(case["labels"])]
        cells.append(between(libraries["cusal"]["all"]))
        for peer in PEERS:
            if peer in libraries:
                cells += [between(libraries[peer]["all"]), f"{case['ratios'][peer]:.2f}"]
        rows.append(cells + [""] * (7 - len(cells)))
    columns = " | ".join(f"theirs, {kind}, s | ratio" for kind in PEERS.values())
    return lines(f"pool | labels | cusal, s | {columns}", rows, words=0)


@table("phases")
def phases() -> str:
    """Where our round's time goes."""
    names = ("fit", "predict pool", "select", "test", "other")
    rows = [
        [
            *(whole(case["pool"]), whole(case["labels"]), f"{case['libraries']['cusal']['cpu_seconds']:.2f}"),
            *(f"{100 * case['shares'][name]:.1f} %" for name in names),
        ]
        for case in stored("rounds")["rounds"]
    ]
    return lines("pool | labels | seconds | fit | predict the pool | select | test | other", rows, words=0)


@table("limit")
def limit() -> str:
    """The network beside what the processor can do."""
    hardware = stored("rounds")["hardware"]
    named = {
        "`predict_proba`, with checks and the softmax in float64": "predict_gflops",
        "the bare network on prepared tiles": "network_gflops",
        "the matrix products that its layers come down to, inputs laid out already": "own_products_gflops",
        "a matrix product of 1024 x 1024 x 1024": "large_product_gflops",
    }
    highest = hardware["large_product_gflops"]
    rows = [[what, f"{hardware[key]:.1f}", f"{100 * hardware[key] / highest:.0f} %"] for what, key in named.items()]
    return lines("one thread | Gflop/s | of the large product", rows)


@table("networks")
def networks() -> str:
    """Layout, precision, compilation."""
    found = stored("networks")
    rows = [
        [name, spread(gain), spread(found["training"][name]) if name in found["training"] else ""]
        for name, gain in found["prediction"].items()
    ]
    return lines("ResNet-18 | prediction | training", rows)


@table("images")
def images() -> str:
    """Features of image files."""
    rows = []
    for case in stored("image_features")["cases"]:
        spent, (low, middle, high) = case["milliseconds"], case["openvino_over_torch"]
        shares = [f"{case['share_of_limit'][engine]:.2f}" for engine in ("torch", "openvino")]
        times = [f"{spent[name]:.2f}" for name in ("read", "torch", "openvino")]
        rows.append([case["file"], str(case["side"]), *times, f"{middle} ({low} - {high})", " / ".join(shares)])
    head = "JPEG file | side | reading, ms | torch, ms | OpenVINO, ms | gain | of a matrix product's rate"
    return lines(head, rows)


@table("sentences")
def sentences() -> str:
    """Vectors of sentences: torch as it is used, and what would be faster or slower."""
    names = {"openvino": "OpenVINO", "onnxruntime": "ONNX Runtime", "unsorted": "torch, texts as they come"}
    rows = []
    for case in stored("sentences")["cases"]:
        spent, limit = case["milliseconds"], case["milliseconds"]["limit"]
        for way, name in ({"torch": "torch, texts by tokens"} | names).items():
            if way in spent:
                gain = spread(case["gain"][way]) if way != "torch" else ""
                difference = case["largest_difference"].get(way)
                cells = [f"{spent[way]:.2f}", gain, f"{100 * limit / spent[way]:.0f} %"]
                rows.append(
                    [case["data"], name, *cells, f"{difference:.0e}".replace("e-0", "e-") if difference else ""]
                )
    return lines("texts | by | ms a text | gain | of a matrix product's rate | largest difference", rows, words=2)


@table("report")
def report() -> str:
    """How long a report takes."""
    rows = [
        [f"`--format {case['formats']}`", *(spread(case[name]) for name in ("processor", "clock"))]
        for case in stored("report")["cases"]
    ]
    found = stored("report")
    return lines("50 runs | processor, s | by the clock, s", rows) + at_load(found["load_average"], found["cores"])


@table("pools")
def pools() -> str:
    """The graph of `PoolClassifier`."""
    cases = stored("large_pools")
    found = {case["size"]: f"{100 * case['share']:.1f} %" for case in cases if case["search"] == "found"}
    rows = [
        [
            *(whole(case["size"]), case["search"], "all" if case["search"] == "exact" else found[case["size"]]),
            *(f"{case['graph_s']:.2f}", of_runs([case["graph_lowest_s"], case["graph_highest_s"]], case["runs"])),
            *(str(case["runs"]), f"{1e6 * case['graph_s'] / case['size']:.0f}"),
            *(f"{case['fit_s']:.2f}", f"{case['predict_s']:.2f}", whole(case["mb"])),
            *(f"{case['accuracy'][count]:.1f}" for count in ("100", "400")),
        ]
        for case in cases
        if case["search"] != "found"
    ]
    head = (
        "items | neighbours | true ones found | graph, s | lowest - highest | runs | microseconds an item | fit, s | "
        "predict all, s | MB | accuracy, 100 | 400"
    )
    return lines(head, rows, words=0)


@table("start")
def start() -> str:
    """What starting costs."""
    rows = [
        [f"`{what}`" if what.startswith(("import", "cusal -")) else what, f"{middle:.2f}", between([low, high])]
        for what, (low, middle, high) in stored("start")["seconds"].items()
    ]
    return lines("a new process | seconds | lowest - highest", rows)


@table("label start")
def label_start() -> str:
    """How long `cusal label` takes to show the first item."""
    rows = [
        [what, *(spread(case[name], 1) for name in ("announced", "first item", "processor"))]
        for what, case in stored("label_start")["results"].items()
    ]
    settings = stored("label_start")["settings"]
    head = "cusal label | address shown, s | first item, s | processor, s"
    return lines(head, rows) + at_load(settings["load_average"][0], settings["cores"])


if __name__ == "__main__":
    sys.exit(main())
