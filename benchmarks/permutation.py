"""Renumbering the classes changes nothing, mathematically: which picks does it change in floating point?

    python benchmarks/permutation.py --rounds 10 --permutations 5

A network is trained as the MNIST preset says, its picks taken by margin. In each round the exact estimator and the
paper's float32 listing choose ten items, and choose again after the class columns were permuted. Printed: how many
of the ten picks stay, how many picks of the listing lie below the density floor, and how many of the pool do.
"""

import argparse

import numpy as np

from cusal import Session
from cusal.apps.bench.experiment import Experiment
from cusal.apps.bench.grid import read_grid
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View
from cusal.strategies.cusal import Cusal
from cusal.strategies.cusal_listing import CusalListing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="mnist")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--permutations", type=int, default=5)
    parser.add_argument("--pool", type=int, default=0, help="how many items are open; 0 is all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    changes = {"rounds": options.rounds, "pool": options.pool, "seeds": [options.seed], "estimator_every": 0}
    (spec,) = read_grid(options.preset).choose(["margin"]).override(changes).specs()
    experiment = Experiment(spec)
    print("round  labelled  exact: same picks  listing: same picks  listing: unsupported picks  pool: unsupported")
    session = experiment.start()
    for _ in range(options.rounds + 1):
        print_round(session, spec.batch_size, options.permutations)
        query = session.ask(spec.batch_size)
        session.tell(query.indices, experiment.labels[query.indices])


def print_round(session: Session, batch_size: int, permutations: int) -> None:
    view = session.view
    rng = np.random.default_rng([session.seed, session.round, 5])
    orders = [rng.permutation(view.probs.shape[1]) for _ in range(permutations)]
    exact, listing = (picks_kept(strategy, view, batch_size, orders) for strategy in (Cusal(), CusalListing()))
    supported = Cusal().estimate(view).supported
    picked = view.positions(CusalListing().select(view, batch_size))
    print(
        f"{session.round:5}  {len(session.labels):8}  {exact:12.1f} of {batch_size}  {listing:14.1f} of {batch_size}"
        f"  {(~supported[picked]).sum():21} of {batch_size}  {100 * (~supported).mean():15.1f} %",
        flush=True,
    )


def picks_kept(strategy: Strategy, view: View, batch_size: int, orders: list[np.ndarray]) -> float:
    """Give the mean number of picks that stay when the classes are renumbered."""
    picks = set(strategy.select(view, batch_size).tolist())
    kept = [len(picks & set(strategy.select(renumbered(view, order), batch_size).tolist())) for order in orders]
    return float(np.mean(kept))


def renumbered(view: View, order: np.ndarray) -> View:
    """Give the view with its class columns in another order."""
    number = np.argsort(order)
    reference = (view.reference_probs[:, order], number[view.reference_labels])
    return View.of_arrays(view.candidates, view.rng, probs=view.probs[:, order], reference=reference)


if __name__ == "__main__":
    main()
