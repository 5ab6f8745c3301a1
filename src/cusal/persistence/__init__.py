"""Objects into files and back: what a saved session, model or audit may hold, and nothing else."""

__all__: list[str] = []
