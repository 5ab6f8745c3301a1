"""Items as vectors: computed once, kept on disk."""
