"""How many items a query may ask for."""

from cusal.checks import as_count
from cusal.errors import PoolExhausted


def as_batch_size(value: object, left: int) -> int:
    """Give `value` as the number of items to choose from the `left` that are open."""
    count = as_count(value, "batch_size")
    if count > left:
        raise PoolExhausted(f"asked for {count} items, but only {left} are open; lower batch_size or stop.")
    return count
