"""A run's curves as the rows of tables, for pages, which know the leaderboard and not the runner."""

from runner.curves import LatencyRow, ThroughputRow, latency_rows, throughput_rows

__all__ = ["LatencyRow", "ThroughputRow", "latency_rows", "throughput_rows"]
