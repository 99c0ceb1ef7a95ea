"""Says in words which runs of a comparison are faster, how this was tested, and how many more sessions are needed.

A session is one repetition of a run with a new seed. In each session, the run's result is divided by the result of the
control library (the baseline). The tests compare these ratios.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.compared_runs import RUNS_MIN
from leaderboard.ranking.rank_intervals import MAX_POOLED_SESSIONS
from leaderboard.submissions.blocks import why_no_ratio
from results.counts import counted, listed
from results.stats.family import MARGIN_RATIO
from results.stats.pairs import FORECAST_MAX, Pair, Relation
from results.summary import RANKED_SESSIONS_MIN
from web.compare.axes import ratio_axis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leaderboard.compared_runs import RunComparison
    from web.compare.axes import LogAxis
    from web.compare.table import Column

# The margin as text. Differences below it count as none.
_MARGIN = f"{100 * (MARGIN_RATIO - 1):.0f} %"


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair of runs with the result of the test in words. `settled` says that no more sessions are needed."""

    first: Column
    second: Column
    pair: Pair
    words: str
    settled: bool


def pair_rows(found: RunComparison, columns: Sequence[Column]) -> list[PairRow]:
    """Return the tested pairs. Pairs of better runs come first."""
    if found.comparison is None:
        return []
    by_name = _by_name(columns)
    return [
        PairRow(
            first=by_name[pair.first],
            second=by_name[pair.second],
            pair=pair,
            words=_words(pair, by_name),
            settled=pair.relation in {Relation.APART, Relation.EQUAL},
        )
        for pair in found.comparison.pairs
    ]


def pair_axis(found: RunComparison) -> LogAxis | None:
    """Return the axis of the ratios of pairs, which includes the margin on both sides of 1."""
    if found.comparison is None:
        return None
    ends = [end for pair in found.comparison.pairs for end in (pair.low, pair.high)]
    return ratio_axis([*ends, MARGIN_RATIO, 1 / MARGIN_RATIO])


def _by_name(columns: Sequence[Column]) -> dict[str, Column]:
    return {f"run {column.run.pk}": column for column in columns}


def called(column: Column) -> str:
    """Return what the texts call a run: library, configuration and number."""
    configuration = column.run.submission.configuration
    library = f"{column.library} {configuration}" if configuration else column.library
    return f"{library} (run {column.run.pk})"


def _words(pair: Pair, by_name: Mapping[str, Column]) -> str:
    leader = called(by_name[pair.leader]) if pair.leader else ""
    if pair.relation is Relation.APART:
        return f"{leader} is better"
    if pair.relation is Relation.EQUAL:
        return f"equal within {_MARGIN}"
    if leader:
        start = f"{leader} is better, but perhaps by less than {_MARGIN}"
        question = f"whether the difference is less than {_MARGIN}"
    else:
        start = "undecided"
        question = f"which is better, or that the runs are equal within {_MARGIN}"
    if pair.more_sessions is None:
        return f"{start}; more than {FORECAST_MAX:,} more sessions of each run would be needed to show {question}"
    return (
        f"{start}; about {_sessions(pair.more_sessions)} of each run would probably show {question}"
    )


def _sessions(count: int) -> str:
    return counted(count, "more session")


def verdict(found: RunComparison, columns: Sequence[Column]) -> str:
    """Return the result of the whole comparison in one or two sentences."""
    comparison = found.comparison
    if comparison is None:
        return ""
    by_name = _by_name(columns)
    best = comparison.names[0]
    against_best = [pair for pair in comparison.pairs if best in {pair.first, pair.second}]
    undecided = [pair for pair in comparison.pairs if pair.relation in _OPEN]
    level = [pair for pair in against_best if pair.relation is not Relation.APART]
    if not level:
        text = f"{called(by_name[best])} is best."
    elif all(pair.relation is Relation.EQUAL for pair in comparison.pairs):
        return f"All these runs are equal within {_MARGIN}."
    else:
        others = [pair.second if pair.first == best else pair.first for pair in level]
        *first, last = (called(by_name[name]) for name in (best, *others))
        names = f"{', '.join(first)} and {last}"
        text = f"No single run is best: the sessions do not separate {names}."
    forecasts = [pair.more_sessions for pair in undecided]
    if not undecided:
        return text
    # If one run is best, only pairs of the other runs can be undecided.
    runs = "runs" if level else "other runs"
    if None in forecasts:
        return (
            f"{text} Some differences between the {runs} are so small that {FORECAST_MAX:,} more sessions would not "
            "decide them."
        )
    most = max(count for count in forecasts if count is not None)
    return f"{text} About {_sessions(most)} of each run would tell the {runs} apart, or show that they are equal."


def sessions_wanted(found: RunComparison) -> int:
    """Return how many sessions of new runs would probably decide all undecided pairs; 0 if nothing is undecided.

    The new runs are compared without the sessions of the old runs. So the number is the number of old sessions plus
    the number of further sessions that would decide the pairs. It lies between RANKED_SESSIONS_MIN and
    MAX_POOLED_SESSIONS.
    """
    comparison = found.comparison
    undecided = [pair for pair in comparison.pairs if pair.relation in _OPEN] if comparison else []
    if not undecided:
        return 0
    have = min(len(one.ratios) for one in found.runs if one.ratios)
    more = max(pair.more_sessions or MAX_POOLED_SESSIONS for pair in undecided)
    return min(max(have + more, RANKED_SESSIONS_MIN), MAX_POOLED_SESSIONS)


_OPEN = frozenset({Relation.AHEAD, Relation.UNDECIDED})


def _why_not_tested(found: RunComparison) -> str:
    """Return which of the runs the test cannot use, why, and what to do. The runs must be alike."""
    lacking = [one.run for one in found.runs if not one.ratios]
    waiting = [f"run {run.pk}" for run in lacking if not run.is_final]
    why = "; ".join(why_no_ratio(run) for run in lacking)
    advice = "Choose other runs."
    if waiting and len(found.runs) - len(lacking) + len(waiting) >= RUNS_MIN:
        ended = "has" if len(waiting) == 1 else "have"
        advice = f"Wait until {listed(waiting)} {ended} ended, or choose other runs."
    return (
        f"There is no statistical test, because it needs {RUNS_MIN} runs that have passed and have ratios to the "
        f"control library: {why}. {advice}"
    )


def method(found: RunComparison) -> str:
    """Return how the runs were tested, or why they were not."""
    if found.differences:
        return (
            f"There is no statistical test of these runs, because they did not measure the same thing: they differ in "
            f"{listed(found.differences)}. The page shows their ratios to the control library, but marks no best "
            "values."
        )
    if found.comparison is None:
        return _why_not_tested(found)
    rules = f"Differences of less than {_MARGIN} count as none."
    if found.paired:
        return (
            f"The runs have {found.shared} seeds in common. In sessions with the same seed, all libraries played the "
            "same operations. So the ratios are compared seed by seed, with the paired signed-rank test of keydrome "
            f"compare. {rules}"
        )
    why = (
        f"have only {counted(found.shared, 'seed')} in common"
        if found.shared
        else "have different seeds, so no two sessions played the same operations"
    )
    return (
        f"The ratios cannot be paired, because the runs {why}. The ratios are compared as two independent groups, with "
        f"the Mann-Whitney test that boards use for ranks. This test needs more sessions than keydrome compare, which "
        f"gives all libraries the same seeds. {rules}"
    )
