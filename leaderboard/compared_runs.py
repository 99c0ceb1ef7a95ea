"""Compares two to six timed runs: reads the runs that a viewer may see, and tests which of them differ.

A run executes a library in sessions (repetitions). In each session, the library's result is divided by the result of
the control library, the baseline, which plays the same operations. These ratios are what the tests compare. Two
sessions with the same seed play the same operations, so their ratios can be paired. Runs have common seeds if they were
queued together for a comparison (submissions/blocks.py), or if a contest prescribes the same seeds for all its entries.
Other runs have seeds of their own, and their sessions are compared unpaired, as boards compare entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaderboard import catalogue
from leaderboard.queries import visible_runs
from leaderboard.ranking.rank_intervals import MAX_POOLED_SESSIONS
from leaderboard.submissions.report_columns import Curves, StoredSession
from results.stats.pairs import compare, compare_unpaired
from runner.manifest import Direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.models import Run, RunDetail
    from leaderboard.viewer import Viewer
    from results.stats.pairs import Comparison

RUNS_MIN = 2
RUNS_MAX = 6
# The largest number of runs that the page suggests for a comparison.
SUGGESTIONS_MAX = 20


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run with its counted sessions (those that were not discarded) and its curves. `ratios` maps seeds to ratios."""

    run: Run
    sessions: tuple[StoredSession, ...]
    ratios: dict[str, float]
    curves: Curves

    @property
    def name(self) -> str:
        """Return a name that no other run has. Exports use it to say which two runs a pair consists of."""
        return f"run {self.run.pk}"


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Runs side by side, and what the tests say about them.

    - `differences`: the properties, such as "instance", in which the runs differ, so that they cannot be compared. If
      there are any, or if fewer than two runs have ratios, nothing is tested.
    - `shared`: the number of seeds that all runs with ratios have in common. `paired`: whether the test uses only the
      sessions with these seeds.
    - `comparison`: the result of the test, which calls each run by its `name`.
    """

    runs: tuple[ComparedRun, ...]
    differences: tuple[str, ...]
    shared: int
    paired: bool
    comparison: Comparison | None

    @property
    def lower_is_better(self) -> bool:
        """Return True if a lower ratio is better. The answer is for all runs only if `differences` is empty."""
        return _lower_is_better(self.runs[0].run)


def compared_runs(run_ids: Sequence[int], viewer: Viewer) -> RunComparison | None:
    """Return the comparison of these runs in this order, or None if the viewer may not see one. 1 SQL statement."""
    found = visible_runs(viewer).select_related("detail").defer("detail__log", "detail__findings")
    by_id = {run.pk: run for run in found.filter(pk__in=run_ids)}
    if not all(run_id in by_id for run_id in run_ids):
        return None
    runs = tuple(_compared_run(by_id[run_id]) for run_id in run_ids)
    return _compare(runs)


def suggestions(run_ids: Sequence[int], viewer: Viewer) -> list[Run]:
    """Return other runs that can be compared with the last of these runs, best first. At most 2 SQL statements.

    Only eligible runs are suggested, which are those that a board may rank.
    """
    visible = visible_runs(viewer)
    last = visible.filter(pk__in=run_ids[-1:]).first()
    if last is None or last.is_gate:
        return []
    same = visible.filter(
        eligible=True,
        benchmark=last.benchmark,
        benchmark_version=last.benchmark_version,
        instance=last.instance,
        scale=last.scale,
        verified=last.verified,
    )
    if last.machine is not None:
        same = same.filter(machine__machine_class=last.machine.machine_class)
    order = "score" if _lower_is_better(last) else "-score"
    return list(same.exclude(pk__in=run_ids).order_by(order, "pk")[:SUGGESTIONS_MAX])


def _lower_is_better(run: Run) -> bool:
    benchmark = catalogue.benchmarks().get(run.benchmark)
    metric = benchmark.metric if benchmark else None
    return metric is None or metric.direction is Direction.LOWER


def _compared_run(run: Run) -> ComparedRun:
    detail: RunDetail | None = getattr(run, "detail", None)  # absent until the run has ended
    stored = [StoredSession.from_json(row) for row in detail.sessions] if detail else []
    sessions = tuple(session for session in stored if not session.discarded)
    # `detail.ratios` is empty unless the run passed. Ratios of a failed run are not results.
    ratios = {
        session.seed: session.ratio
        for session in sessions
        if detail and detail.ratios and session.ratio is not None
    }
    curves = Curves.from_json(detail.series if detail else {})
    return ComparedRun(run, sessions, ratios, curves)


def _compare(runs: tuple[ComparedRun, ...]) -> RunComparison:
    differences = tuple(name for name in _measured(runs[0].run) if _differs(runs, name))
    tested = [one for one in runs if one.ratios]
    shared = set.intersection(*(set(one.ratios) for one in tested)) if tested else set()
    # Few seeds are shared if many sessions were discarded. If the runs share fewer than half of the seeds of the run
    # with the fewest seeds, the unpaired test of all sessions is more likely to find a difference.
    paired = bool(shared) and 2 * len(shared) >= min(len(one.ratios) for one in tested)
    if differences or len(tested) < RUNS_MIN:
        return RunComparison(runs, differences, len(shared), paired=False, comparison=None)
    lower = _lower_is_better(runs[0].run)
    if paired:
        order = sorted(shared)[:MAX_POOLED_SESSIONS]
        values = {one.name: [one.ratios[seed] for seed in order] for one in tested}
        return RunComparison(
            runs, (), len(shared), paired=True, comparison=compare(values, lower_is_better=lower)
        )
    values = {one.name: list(one.ratios.values())[:MAX_POOLED_SESSIONS] for one in tested}
    found = compare_unpaired(values, lower_is_better=lower)
    return RunComparison(runs, (), len(shared), paired=False, comparison=found)


def _measured(run: Run) -> dict[str, Any]:
    """Return what must be the same in runs that are compared. A run without a machine has not started yet."""
    return {
        "benchmark": run.benchmark,
        "benchmark version": run.benchmark_version,
        "instance": run.instance,
        "scale": run.scale,
        "mode": run.verified,
        "machine class": run.machine.machine_class if run.machine else "",
    }


def _differs(runs: Sequence[ComparedRun], name: str) -> bool:
    values = {
        _measured(one.run)[name] for one in runs if name != "machine class" or one.run.machine
    }
    return len(values) > 1
