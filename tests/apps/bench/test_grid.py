"""Presets and grids: the paper's settings, overrides, complaints, ids that last."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from cusal.apps.bench import datasets
from cusal.apps.bench.command import change_grid, check_models, list_presets, run
from cusal.apps.bench.experiment import build_strategy
from cusal.apps.bench.grid import Grid, preset_names, read_grid
from cusal.apps.bench.spec import Spec
from cusal.errors import DataError, InvalidInput, UnknownName

HERE = Path(__file__).parent
PAPER = {  # warm-up, batch size, rounds, epochs, network: appendix "Experimental settings"
    "mnist": (20, 10, 40, 30, "mnist_net"),
    "fashion_mnist": (20, 10, 100, 60, "garment_classifier"),
    "svhn": (500, 50, 100, 30, "resnet18"),
    "cifar10": (1000, 100, 100, 30, "resnet18"),
    "cifar10_lt": (1000, 100, 100, 30, "resnet18"),
    "imagenet": (30000, 10000, 8, 30, "resnet50"),
}
MAIN_TABLE = ["random", "least_confidence", "margin", "bald", "coreset", "badge", "cusal"]


@pytest.mark.parametrize("name", sorted(PAPER))
def test_presets_have_the_papers_settings(name: str) -> None:
    spec, *_ = read_grid(name).specs()
    assert (spec.warm_up, spec.batch_size, spec.rounds, spec.epochs, spec.network["name"]) == PAPER[name]
    assert (spec.learning_rate, spec.train_batch_size, spec.warm_start) == (1e-3, 128, True)
    assert (spec.bandwidth, spec.p, spec.reference, spec.pool) == (1e-3, 1, "fitted", None)
    assert spec.balanced == (name != "cifar10_lt")
    assert spec.model == ({"name": "augmented"} if name == "cifar10_lt" else {})
    assert spec.estimator_every == spec.rounds // 4
    assert {s.seed for s in read_grid(name).specs()} == set(range(10))
    assert set(MAIN_TABLE) <= {s.label for s in read_grid(name).specs()}


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_listed_and_its_data_set_is_known(name: str) -> None:
    assert {spec.dataset for spec in read_grid(name).specs()} <= set(datasets.names())
    assert name in list_presets()


def test_the_listing_is_a_strategy_of_the_mnist_preset() -> None:
    (spec,) = [s for s in read_grid("mnist").specs() if s.seed == 0 and s.strategy == "cusal_listing"]
    assert (spec.label, spec.settings) == ("cusal-listing", {"bandwidth": 1e-3, "p": 1})


def test_a_grid_may_still_call_the_listing_by_its_former_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    tables = '{name = "cusal", numerics = "listing", bandwidth = 0.01}, {name = "cusal", numerics = "exact"}'
    path.write_text(f'extends = "mnist"\nseeds = 1\nstrategies = [{tables}]\n')
    listing, exact = read_grid(str(path)).specs()
    assert (listing.strategy, listing.label) == ("cusal_listing", "cusal-listing bandwidth=0.01")
    assert (exact.strategy, exact.label) == ("cusal", "cusal")


def test_the_listing_is_stored_as_it_always_was() -> None:
    (spec, *_) = read_grid("mnist").choose(["cusal-listing"]).specs()
    stored = json.loads(spec.json)
    assert (stored["strategy"], stored["numerics"]) == ("cusal", "listing")
    assert Spec.of(spec.json) == spec


def test_all_strategies_of_a_seed_come_before_the_next_seed() -> None:
    specs = read_grid("mnist").choose(["random", "cusal"]).override({"seeds": [4, 2]}).specs()
    assert [(s.seed, s.label) for s in specs] == [(4, "random"), (4, "cusal"), (2, "random"), (2, "cusal")]


def test_the_command_line_overrides_any_value() -> None:
    options = {"strategies": "cusal-listing, margin", "seeds": "3-4", "rounds": 20, "pool": 10000}
    grid = change_grid(read_grid("mnist"), options, ["epochs=5", "network={name='mnist_net', dropout=0.5}"])
    specs = grid.specs()
    assert [(s.label, s.seed) for s in specs[:2]] == [("cusal-listing", 3), ("margin", 3)]
    assert {(s.rounds, s.pool, s.epochs, s.network["dropout"]) for s in specs} == {(20, 10000, 5, 0.5)}
    assert grid.name.startswith("mnist epochs=5 network=")
    assert grid.name.endswith("pool=10000 rounds=20")


def test_a_grid_of_ones_own_extends_a_preset(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        """
        extends = "mnist"
        seeds = 2
        recalibrate = "none"
        bandwidth = 0.02
        strategies = [
            "margin",
            "cusal",
            { name = "cusal", bandwidth = 0.01, reference = "cross-fit" },
            { name = "cusal", label = "wide", bandwidth = 0.1 },
        ]
        """
    )
    grid = read_grid(str(path))
    specs = grid.specs()
    assert grid.name == "mine"
    assert len(specs) == 8
    assert [s.label for s in specs[:4]] == ["margin", "cusal", "cusal bandwidth=0.01 reference=cross-fit", "wide"]
    assert [s.settings.get("bandwidth") for s in specs[:4]] == [None, 0.02, 0.01, 0.1]
    assert [s.reference for s in specs[:4]] == ["fitted", "fitted", "cross-fit", "fitted"]
    assert {s.recalibrate for s in specs} == {None}
    assert specs[0].warm_up == 20
    child = tmp_path / "child.toml"
    child.write_text('extends = "mine.toml"\nseeds = 1\n')
    assert len(read_grid(str(child)).specs()) == 4


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("epoch = 3", UnknownName, "did you mean 'epochs'"),
        ('strategies = ["cusl"]', UnknownName, "did you mean 'cusal'"),
        ('strategies = [{name = "cusal", bandwith = 1}]', UnknownName, "did you mean 'bandwidth'"),
        ('strategies = [{name = "margin", numerics = "listing"}]', InvalidInput, "is for cusal"),
        ('strategies = [{name = "cusal", numerics = "float32"}]', UnknownName, "no numerics named 'float32'"),
        ('strategies = ["margin", "margin"]', InvalidInput, "two strategies shown as 'margin'"),
        ('strategies = [{label = "x"}]', InvalidInput, "a table with a name"),
        ("strategies = []", InvalidInput, "expected a list of names and tables"),
        ('network = "mnistnet"', UnknownName, "did you mean 'mnist_net'"),
        ('reference = "fited"', UnknownName, "did you mean 'fitted'"),
        ('recalibrate = "never"', UnknownName, "recalibrate"),
        ("rounds = -1", InvalidInput, "rounds is -1; expected a whole number"),
        ("rounds = 2.5", InvalidInput, r"mine.toml: rounds is 2.5; expected a whole number, 0 or more\."),
        ("epochs = 0", InvalidInput, "epochs is 0; expected a whole number above 0"),
        ("pool = true", InvalidInput, "pool is True; expected a whole number"),
        ("network = {hidden = 3}", InvalidInput, "expected a name, or a table such as"),
        ("warm_start = 1", InvalidInput, "true or false"),
        ("learning_rate = 'fast'", InvalidInput, "expected a number"),
        ("seeds = [1, 1]", InvalidInput, "distinct"),
        ("rounds = ", DataError, "is no TOML"),
        ('extends = "mine.toml"', InvalidInput, "extends itself"),
        ('extends = "mnst"', UnknownName, "did you mean 'mnist'"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, kind: type[Exception], message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text if "extends" in text else f'extends = "mnist"\n{text}\n')
    with pytest.raises(kind, match=message):
        read_grid(str(path)).specs()


def test_a_grid_without_what_it_needs_says_what(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('dataset = "digits"\nnetwork = "small_net"\nrounds = 1\nbatch_size = 1\n')
    with pytest.raises(InvalidInput, match="has no warm_up"):
        read_grid(str(path)).specs()
    with pytest.raises(DataError, match="cannot read the grid"):
        read_grid(str(tmp_path / "none.toml"))


def test_an_unknown_strategy_on_the_command_line_is_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'cusal-listing'"):
        read_grid("mnist").choose(["cusal-listin"])
    with pytest.raises(InvalidInput, match="a range"):
        change_grid(read_grid("mnist"), {"seeds": "a-b"}, [])
    with pytest.raises(InvalidInput, match="key=value"):
        change_grid(read_grid("mnist"), {}, ["epochs"])


def test_a_spec_comes_back_from_its_json() -> None:
    for spec in read_grid("cifar10_lt").specs()[:12]:
        assert Spec.of(spec.json) == spec
        assert Spec.of(spec.json).id == spec.id


def test_the_id_of_a_run_never_changes() -> None:
    # Stores and exports hold these ids: a run that is done must be found again by every later version.
    grid = Grid("mnist", read_grid("mnist").values).choose(["random", "cusal-listing"])
    assert [spec.id for spec in grid.specs()[:2]] == ["ca1bfca351d394ef", "f8c9e150d7791b7b"]


def ids_of(grid: Grid) -> str:
    lines = "\n".join(f"{spec.id} {spec.content}" for spec in grid.specs())
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


@pytest.mark.parametrize(("name", "expected"), json.loads((HERE / "run_ids.json").read_text()).items())
def test_the_ids_and_contents_of_a_grid_never_change(name: str, expected: str) -> None:
    # A digest for each grid, computed before the listing became a strategy and sweeps became data.
    place, _, stage = name.partition(" on ")
    grid = read_grid(str(HERE.parents[2] / place) if place.endswith(".toml") else place, on=stage or None)
    assert ids_of(grid) == expected


def test_runs_that_differ_have_different_ids() -> None:
    grid = read_grid("mnist")
    specs = grid.specs() + grid.override({"pool": 1000}).specs() + grid.override({"epochs": 3}).specs()
    assert len({spec.id for spec in specs}) == len(specs)


def test_a_sweep_repeats_the_grid_with_each_value_as_experiments_of_their_own() -> None:
    specs = read_grid("ablation-warm-up").choose(["margin", "cusal"]).specs()
    assert [(s.seed, s.warm_up, s.label) for s in specs[:4]] == [
        (0, 10, "margin"),
        (0, 10, "cusal"),
        (0, 20, "margin"),
        (0, 20, "cusal"),
    ]
    assert {s.experiment for s in specs} == {f"ablation-warm-up warm_up={n}" for n in (10, 20, 40)}
    assert len(specs) == 10 * 3 * 2
    assert specs[0].sweep == {"name": "ablation-warm-up", "over": {"warm_up": 10}}


def test_a_sweep_is_kept_in_a_spec_but_not_in_its_id() -> None:
    swept, *_ = read_grid("ablation-warm-up").specs()
    plain = replace(swept, sweep={})
    assert Spec.of(swept.json) == swept
    assert "sweep" not in plain.json
    assert (swept.id, swept.content) == (plain.id, plain.content)


def test_a_sweep_can_be_changed_on_the_command_line() -> None:
    grid = change_grid(read_grid("ablation-warm-up", on="svhn"), {}, ["sweep={warm_up=[250, 500]}"])
    assert {(s.warm_up, s.dataset, s.rounds) for s in grid.specs()} == {(250, "svhn", 100), (500, "svhn", 100)}


def test_a_comparison_goes_to_other_data_with_its_strategies() -> None:
    there, here = read_grid("ablation-bandwidth", on="svhn"), read_grid("ablation-bandwidth")
    assert there.name == "ablation-bandwidth on svhn"
    assert (there.values["dataset"], there.values["network"], there.values["warm_up"]) == ("svhn", "resnet18", 500)
    assert there.values["strategies"] == here.values["strategies"]


def test_a_strategy_has_its_own_model_and_network(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'extends = "digits"\nmodel = "energy"\nstrategies = ["margin", {name = "ddu", network = "mnist_net", '
        'model = {name = "temperature_scaled", method = "cross-fit", of = "augmented"}}]'
    )
    margin, ddu = read_grid(str(path)).override({"seeds": 1}).specs()
    assert (margin.model, margin.network["name"]) == ({"name": "energy"}, "small_net")
    assert (ddu.model["of"], ddu.network) == ("augmented", {"name": "mnist_net"})
    assert ddu.label == "ddu model=temperature_scaled/method=cross-fit/of=augmented network=mnist_net"


def test_none_stands_for_no_floor() -> None:
    specs = {s.label: s for s in read_grid("ablation-norm-floor").specs()}
    assert specs["cusal, no floor"].settings["density_floor"] is None


def test_the_same_run_under_two_names_has_the_same_content() -> None:
    one = {s.label: s for s in read_grid("ablation-bandwidth").specs() if s.seed == 0}["cusal"]
    two = {s.label: s for s in read_grid("ablation-weighted").specs() if s.seed == 0}["cusal"]
    assert one.id != two.id
    assert one.content == two.content != one.json


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('model = "enrgy"', "did you mean 'energy'"),
        ('model = {name = "energy", of = "plain"}', "goes around no other model"),
        ('model = {name = "uncalibrated", of = "plane"}', "did you mean 'plain'"),
        ("model = 3", "expected a name, or a table"),
        ('model = {name = "uncalibrated", of = 3}', "of is 3; expected the name of a model"),
        ("sweep = {warm_up = 20}", "expected a table of distinct values"),
        ("sweep = {warm_up = [20, 20]}", "expected a table of distinct values"),
        ("sweep = {warm_upp = [20]}", "did you mean 'warm_up'"),
        ('sweep = {warm_up = ["a"]}', "sweep: warm_up is 'a'; expected a whole number"),
        ("sweep = {seeds = [1, 2]}", "not over seeds"),
        ('strategies = [{name = "cusal", model = "enrgy"}]', "did you mean 'energy'"),
        ('strategies = [{name = "cusal", network = 7}]', "network is 7; expected a name"),
    ],
)
def test_mistakes_in_variants_and_sweeps_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'extends = "digits"\n{text}\n')
    with pytest.raises((InvalidInput, UnknownName), match=message):
        read_grid(str(path))


def test_a_value_that_a_sweep_goes_over_is_not_overridden_in_silence() -> None:
    with pytest.raises(InvalidInput, match=r"goes over values of warm_up itself; give it others: sweep={warm_up"):
        change_grid(read_grid("ablation-warm-up"), {}, ["warm_up=50"])


def test_settings_of_models_and_networks_are_checked_before_anything_runs() -> None:
    grid = read_grid("digits").override({"model": {"name": "augmented", "copees": 2}})
    with pytest.raises(UnknownName, match="did you mean 'copies'"):
        check_models(grid.specs())


def test_nothing_stands_in_for_a_preset_that_extends_none() -> None:
    with pytest.raises(InvalidInput, match=r"mnist extends no other grid.*leave it out"):
        read_grid("mnist", on="digits")


def test_an_ablation_on_the_papers_data_has_the_papers_values() -> None:
    def swept(name: str, on: str | None, key: str) -> set[int]:
        return {getattr(spec, key) for spec in read_grid(name, on=on).specs()}

    assert swept("ablation-warm-up", "svhn", "warm_up") == {250, 500, 1000}
    assert (
        swept("ablation-warm-up", None, "warm_up") == swept("ablation-warm-up", "mnist-10k", "warm_up") == {10, 20, 40}
    )
    assert swept("ablation-batch-size", "svhn", "batch_size") == {25, 50, 100}
    assert swept("ablation-uncalibrated", "mnist", "rounds") == {50}
    assert swept("ablation-uncalibrated", None, "rounds") == {20}


def test_what_a_stage_changes_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "digits"\n[on.svhn]\nround = 3\n')
    with pytest.raises(UnknownName, match=r"on svhn.*'round'"):
        read_grid(str(path))
    path.write_text('extends = "digits"\non = 3\n')
    with pytest.raises(InvalidInput, match="on is 3; expected a table"):
        read_grid(str(path))


def test_no_strategy_at_all_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="no strategy is named"):
        change_grid(read_grid("digits"), {"strategies": " , "}, [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("pool=100000", r"pool is 100000, but digits has \d+ train items"),
        ("warm_up=25", "10 classes cannot share equally"),
        ("network=mnist_net", r"does not accept items of shape \(1, 8, 8\)"),
        ("model={name='augmented', operations=['flop']}", "no operation named 'flop'; did you mean 'flip'"),
    ],
)
def test_what_every_run_would_meet_is_told_before_any_starts(change: str, message: str, tmp_path: Path) -> None:
    grid = change_grid(read_grid("digits"), {"strategies": "random", "seeds": "2"}, [change])
    with pytest.raises((InvalidInput, UnknownName), match=message):
        run(grid, place=str(tmp_path / "runs.db"), workers=1)
    assert not (tmp_path / "runs.db").exists()


@pytest.mark.parametrize(("name", "rounds"), [("mnist", 20), ("fashion_mnist", 50)])
def test_the_best_presets_stand_beside_the_papers_methods_at_equal_labels(name: str, rounds: int) -> None:
    best, *others = read_grid(f"{name}-best").override({"seeds": 1}).specs()
    assert (best.strategy, best.model["name"], best.model["of"]["name"]) == ("diverse_margin", "ensemble", "augmented")
    assert {spec.label for spec in others} >= {"margin", "cusal-listing", "cusal", "badge"}
    assert {(spec.rounds, spec.batch_size, spec.warm_up, spec.pool, spec.test) for spec in (best, *others)} == {
        (rounds, 10, 20, 10000, "test")
    }
    stage = read_grid(f"{name}-10k").override({"seeds": 1, "estimator_every": 0, "rounds": rounds}).specs()
    contents = {spec.label: spec.content for spec in stage}
    assert all(spec.content == contents[spec.label] for spec in others)  # their runs are shared with the other preset's


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_candidates_for_the_best_presets_never_meet_the_test_items(name: str) -> None:
    specs = read_grid(str(HERE.parents[2] / "results" / "grids" / f"{name}-choose.toml")).specs()
    assert {(spec.test, spec.pool) for spec in specs} == {("validation", 10000)}
    assert read_grid(f"{name}-best").specs()[0].model in [spec.model for spec in specs]


@pytest.mark.parametrize(
    "path", sorted((HERE.parents[2] / "results" / "grids").glob("*.toml")), ids=lambda path: path.stem
)
def test_the_grids_of_committed_runs_can_be_run(path: Path) -> None:
    specs = read_grid(str(path)).override({"seeds": 1}).specs()
    assert specs
    for spec in specs:
        build_strategy(spec)
