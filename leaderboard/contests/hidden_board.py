"""Makes the board of a contest's hidden instance, from the rules that were stored when the instance was added.

A hidden instance is a benchmark instance whose parameters stay secret from contestants until the instance is public.

The board of a hidden instance switches to a newer benchmark version by itself (`shown_version`). An organiser of the
site does not switch it, because the page for a switch would show the runs. An organiser who is in a team of the contest
must not see these runs. The site's own boards are still switched by an organiser, who compares the ranks first.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leaderboard.boards import JAIL_LEVELS, Board

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from leaderboard.contests.models import HiddenInstance
    from leaderboard.models import Run
    from runner.manifest import Metric


def rules_for(
    benchmark: str, metric: Metric, scale: str, boards: Sequence[Board]
) -> dict[str, Any]:
    """Return the rules of a hidden instance's board, which the caller stores. `boards` are those of the contest.

    Where the contest's boards differ in gates (required correctness tests), isolation level or limit per user, the
    strictest rule counts. But if one of them accepts stale reads (reads that miss data committed earlier), the hidden
    instance's board does, too. It shows as many libraries as the contest's board that shows the most, and accepts runs
    with any number of repetitions. The contest itself decides which class of machines counts, so the board accepts all
    classes.
    `boards` must not be empty.
    """
    rules = Board(
        slug="",
        title="",
        description="",
        benchmark=benchmark,
        instance="",
        family=boards[0].family,
        scales=(scale,),
        machines=("*",),
        metric=metric.name,
        direction=metric.direction.value,
        top=max(board.top for board in boards),
        per_user=min(board.per_user for board in boards),
        minimum_sessions=1,
        gates=tuple(sorted({gate for board in boards for gate in board.gates})),
        jail_level=max((board.jail_level for board in boards), key=JAIL_LEVELS.index),
        strict=all(board.strict for board in boards),
    )
    return asdict(rules)


def board_of(hidden: HiddenInstance) -> Board:
    """Return the board that ranks the runs on a hidden instance. Executes no SQL."""
    stored: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in hidden.rules.items()
    }
    own = {"slug": hidden.slug, "title": hidden.title, "instance": hidden.name}
    return Board(**{**stored, **own})


def shown_version(counted: Collection[Run], judged: Collection[Run]) -> int:
    """Return the benchmark version that the board of a hidden instance shows; 0 if it counts no run.

    A newer version is shown only after every submission that counts at an older version has been judged with it. A
    submission that failed with the newer version counts as judged, so one bad library does not keep the board at the
    old version. A run that was cancelled, or failed because of the site, does not count as judged: the officials must
    repeat it first.
    """
    done = {(run.submission_id, run.benchmark_version) for run in judged}
    versions = sorted({run.benchmark_version for run in counted}, reverse=True)
    for version in versions:
        older = {run.submission_id for run in counted if run.benchmark_version < version}
        if all((submission, version) in done for submission in older):
            return version
    return 0
