"""What a session or a query knows, as a data frame of pandas.

Frames go in everywhere: as items, as probabilities, and as first labels by the index of the frame.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cusal.adapters._library import library_needed
from cusal.strategies._query_result import Query

if TYPE_CHECKING:
    from cusal.session.session import Session


def to_pandas(source: "Session | Query") -> Any:
    """Return a session or a query as a data frame.

    Parameters
    ----------
    source : Session or Query
        A session has a row for each item, with the index of its items if these are a frame: `status` ("open",
        "labelled" or "skipped"), `label`, `prediction` and its `confidence`. A query has a row for each pick, best
        first: `item`, `confidence`, and `error` and `decided_by` where the strategy knows them.

    Returns
    -------
    pandas.DataFrame
        Predictions are missing as long as no model can be fitted.

    Examples
    --------
    >>> import cusal
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.linspace(-1, 1, 4)[:, None]
    >>> session = cusal.Session(X, LogisticRegression(), labelled={0: "low", 3: "high"})
    >>> to_pandas(session)[["status", "label", "prediction"]]
         status label prediction
    0  labelled   low        low
    1      open   NaN        low
    2      open   NaN       high
    3  labelled  high       high
    >>> to_pandas(session.ask(1))["item"].tolist()
    [1]
    """
    with library_needed("cusal.adapters.to_pandas"):
        import pandas as pd
    if isinstance(source, Query):
        parts = {name: getattr(source, name) for name in ("confidence", "error", "decided_by", "audit")}
        known = {name: values for name, values in parts.items() if values is not None}
        return pd.DataFrame({"item": source.indices, **known})
    size = len(source.pool)
    status = np.full(size, "open", dtype=object)
    status[source.pool.labelled] = "labelled"
    status[np.setdiff1d(np.arange(size), np.union1d(source.pool.labelled, source.pool.open))] = "skipped"
    told = source.labels
    index = source.items.index if hasattr(source.items, "iloc") else pd.RangeIndex(size)
    labels = np.array([told.get(row, np.nan) for row in range(size)], dtype=object)
    return pd.DataFrame({"status": status, "label": labels, **predicted_columns(source)}, index=index)


def predicted_columns(session: "Session") -> dict[str, NDArray[Any]]:
    """Return `prediction` and `confidence` of all items, (n,) each; missing before a model can be fitted."""
    size = len(session.pool)
    if len(set(session.labels.values())) < 2:
        return {"prediction": np.full(size, None, dtype=object), "confidence": np.full(size, np.nan)}
    probs = session.predict_proba(session.items)
    return {"prediction": session.classes_[probs.argmax(axis=1)], "confidence": probs.max(axis=1)}
