"""The paper's tables: each measure at four moments, and the area under the curves."""

from cusal.bench.report.blocks import Block, block
from cusal.bench.report.curves import Curves
from cusal.bench.report.styles import Styles
from cusal.bench.report.tables import result_tables


@block(order=20)
def tables_block(curves: Curves, looks: Styles) -> Block | None:
    """Return the tables of every measure that the curves have."""
    return Block.of(None, *result_tables(curves))
