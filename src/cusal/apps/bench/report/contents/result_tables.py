"""The paper's tables: each measure at four moments, the area under the curves, and where runs stopped."""

from cusal.apps.bench.report.curves import Curves
from cusal.apps.bench.report.exhibits import Exhibit, exhibit
from cusal.apps.bench.report.styles import Styles
from cusal.apps.bench.report.tables import result_tables, stop_table


@exhibit(order=20)
def tables_exhibit(curves: Curves, looks: Styles) -> Exhibit | None:
    """Return the tables of every measure that the curves have."""
    return Exhibit.of(None, *result_tables(curves), stop_table(curves))
