"""Runs the papers' experiments, which experiments.toml lists, and shows our results next to the printed ones."""
