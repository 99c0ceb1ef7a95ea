"""Says in rows and words what `keydrome score` found, for the screen and for Markdown.

An instance is a benchmark with a named set of parameter values.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from statistics import median
from typing import TYPE_CHECKING

from cli.output.compare_text import Rows, rank_text
from cli.output.markdown_text import bullets, titled_table
from results.counts import counted
from results.summary import RANKED_SESSIONS_MIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from results.suite_score import SuiteScore


def scores(score: SuiteScore) -> Rows:
    """Return one row per library, best first."""
    conditions = ", ".join(f"{what}: {value}" for what, value in score.counted[0].conditions)
    rows = (
        (
            rank_text(one.rank),
            one.library,
            *(f"{value:.3f}" for value in (one.score, one.low, one.high)),
        )
        for one in score.scores
    )
    return Rows(
        f"Score over {counted(len(score.counted), 'instance')} ({conditions})",
        ("rank", "library", "score", "from", "to"),
        (False, False, True, True, True),
        tuple(rows),
    )


def speeds(score: SuiteScore) -> Rows:
    """Return one row per instance, with a column for each library, best first."""
    names = tuple(one.library for one in score.scores)
    rows = (
        (
            f"{one.instance.benchmark}/{one.instance.instance} version {one.benchmark_version}",
            str(one.blocks),
            *(f"{median(one.speeds[name]):.3f}" for name in names),
        )
        for one in score.counted
    )
    return Rows(
        "Speed on each instance, divided by the speed of the control library",
        ("instance", "blocks", *names),
        (False, True, *(True for _ in names)),
        tuple(rows),
    )


def notes(score: SuiteScore) -> Iterator[str]:
    """Yield what the numbers mean, and which instances are left out or have few blocks."""
    yield (
        'The score is the geometric mean of a library\'s speeds. The columns "from" and "to" have the ends of its 95 % '
        "interval. Libraries whose ranks overlap may be equally fast."
    )
    for instance, reason in score.left_out.items():
        yield (
            f"The instance {instance} is left out, because {reason}. To include it, repeat its comparison so that "
            "every library passes, or leave the libraries without a result out of all comparisons."
        )
    if score.short:
        one = len(score.short) == 1
        yield (
            f"{'The instance' if one else 'The instances'} {', '.join(score.short)} {'has' if one else 'have'} fewer "
            f"than {RANKED_SESSIONS_MIN} blocks, so the intervals are rough: repeat the comparison of "
            f"{'this instance' if one else 'each of these instances'} with --sessions {RANKED_SESSIONS_MIN} or more."
        )


def markdown(score: SuiteScore) -> str:
    """Return both tables, the notes and the conditions as Markdown that ends with a newline."""
    parts = (
        titled_table(scores(score)),
        titled_table(speeds(score)),
        bullets(notes(score)),
        "**Conditions**",
        bullets(_conditions(score)),
    )
    return "\n\n".join(parts) + "\n"


def _conditions(score: SuiteScore) -> Iterator[str]:
    """Yield what a reader needs to compute the scores again."""
    yield f"date of this score: {datetime.now(tz=UTC):%Y-%m-%d}"
    yield f"Keydrome: version {version('keydrome')}"
    identities = score.counted[0].identities
    yield from (f"library {one.library}: {identities[one.library].text}" for one in score.scores)
