"""Makes the curves of a run's page: throughput and latency of the submitted library and of the control library.

The control library is the baseline. In every session (repetition of a run), it executes the same operations as the
submitted library. The functions use no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from results.curves import latency_rows
from web.compare.curves import latency_plots, throughput_plot, throughput_table

if TYPE_CHECKING:
    from leaderboard.submissions.report_columns import Curves
    from results.curves import LatencyRow
    from web.compare.curves import Plot, ThroughputTable

LIBRARY = "this library"
CONTROL = "control library"


@dataclass(frozen=True, slots=True)
class RunCurves:
    """The plots of a run's page, and their numbers.

    - `names`: the names of the lines. The first name belongs to the lines with `Line.style` 1, the second to those with
      style 2.
    - `throughput`: commits per second over time, or None if the run counted no commits.
    - `rates`: the numbers of `throughput` as tables, each with the names of its columns.
    - `latency`: one plot for each transaction class.
    - `percentiles`: the numbers of `latency`, each row with the name of its library.
    """

    names: tuple[str, ...]
    throughput: Plot | None
    rates: list[tuple[tuple[str, ...], ThroughputTable]]
    latency: list[Plot]
    percentiles: list[tuple[str, LatencyRow]]


def run_curves(stored: Curves) -> RunCurves:
    """Return the curves of a session. The control has lines only if the control's curves are stored."""
    curves = [stored] if stored.control is None else [stored, stored.control]
    names = (LIBRARY, CONTROL)[: len(curves)]
    common = throughput_table(curves)
    if common is not None:
        rates = [(names, common)]
    else:  # the curves count commits in windows of different lengths, or not at all
        single = [
            ((name,), throughput_table([one])) for name, one in zip(names, curves, strict=True)
        ]
        rates = [(name, table) for name, table in single if table is not None]
    found = [
        (name, row)
        for name, one in zip(names, curves, strict=True)
        for row in latency_rows(one.latency)
    ]
    # Sort the rows, so that each class has its rows for both libraries next to each other.
    classes = list(dict.fromkeys(row.transaction_class for _, row in found))
    found.sort(key=lambda each: classes.index(each[1].transaction_class))
    return RunCurves(names, throughput_plot(curves), rates, latency_plots(curves), found)
