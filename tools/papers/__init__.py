"""The papers' experiments, played here: experiments.toml says which, the page shows ours beside what was printed."""
