"""Experiments: a grid of settings becomes specs, and a runner does what is missing of them, in parallel."""
