"""The active-learning loop: the session with `ask` and `tell`, its pool, one query, a simulated oracle."""

__all__: list[str] = []
