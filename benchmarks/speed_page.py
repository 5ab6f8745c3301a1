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


def spread(case: Any) -> str:
    """Return the lowest and the highest ratio of the turns of one run, where they were stored."""
    return between(case["cpu_ratio_range"], 1) if "cpu_ratio_range" in case else ""


@table("estimator")
def estimator() -> str:
    """The fast sum beside the dense one."""
    rows = [
        [
            *(case["name"], whole(case["n"]), whole(case["m"]), whole(case["K"])),
            *(f"{case['cpu']:.2f}", f"{case['rival_cpu']:.1f}", ratio(case["cpu_ratio"])),
            *(spread(case), ratio(case["ratio"])),
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
            rows[-1].append(spread(case))
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
    rows = []
    for case in (case for case in cases if case["library"] == "cusal"):
        peer = theirs.get(tuple(case[name] for name in key))
        beside = (f"{peer['cpu_seconds']:.1f}", ratio(peer["cpu_seconds"] / case["cpu_seconds"])) if peer else ("", "")
        sizes = (whole(case[name]) for name in ("items", "classes", "features", "batch_size"))
        rows.append([case["strategy"], *sizes, f"{case['cpu_seconds']:.2f}", *beside])
    return lines("strategy | items | classes | features | batch | cusal, s | scikit-activeml, s | ratio", rows)


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
        [name, f"{gain:.2f}", f"{found['training'][name]:.2f}" if name in found["training"] else ""]
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


@table("pools")
def pools() -> str:
    """The graph of `PoolClassifier`."""
    rows = [
        [
            *(
                whole(case["size"]),
                case["search"],
                f"{case['graph_s']:.1f}",
                f"{1e6 * case['graph_s'] / case['size']:.0f}",
            ),
            *(f"{case['fit_s']:.2f}", f"{case['predict_s']:.2f}", whole(case["mb"])),
            *(f"{case['accuracy'][count]:.1f}" for count in ("100", "400")),
        ]
        for case in stored("large_pools")
    ]
    head = "items | neighbours | graph, s | microseconds an item | fit, s | predict all, s | MB | accuracy, 100 | 400"
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
        [what, f"{case['announced']:.1f}", f"{case['first item']:.1f}", f"{case['processor']:.1f}"]
        for what, case in stored("label_start")["results"].items()
    ]
    return lines("cusal label | address shown, s | first item, s | processor, s", rows)


if __name__ == "__main__":
    sys.exit(main())
