"""Implements `keydrome score`: combines results of `keydrome compare` on several instances into one score per library.

An instance is a benchmark with a named set of parameter values. results/suite_score.py computes the scores.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, TextIO

from cli.input.read_result import read_result
from cli.input.values import UsageError
from cli.output.files import stream_for_people, write_json
from results.counts import counted
from results.result_files import COMPARE_SCHEMA
from runner.settings import load_settings
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from results.suite_score import SuiteScore


def run(options: argparse.Namespace) -> int:
    """Run the command. Return 0 if all instances count, 1 if some were left out; raise UsageError if there is no score.

    An instance is left out if not every library passed on it.
    """
    from results.suite_score import (  # noqa: PLC0415 - numpy is slow to import
        InstanceSpeeds,
        MixedResultsError,
        combine,
    )

    schemas = load_settings().root / "harness" / "schema"
    results = []
    for path in options.reports:
        result = read_result(path, schemas)
        if result["schema"] != COMPARE_SCHEMA:
            raise UsageError(
                f"{display_name(path.name)}: a result of bench has no other libraries to score against; give a file "
                "that compare wrote with --json"
            )
        results.append(InstanceSpeeds.from_json(result))
    try:
        score = combine(results)
    except MixedResultsError as error:
        raise UsageError(str(error)) from error
    _show(score, stream_for_people(options.json))
    if options.json is not None:
        write_json(options.json, score.to_json())
    return 1 if score.left_out else 0


def _show(score: SuiteScore, stream: TextIO) -> None:
    from rich.table import Table  # noqa: PLC0415 - slow to import
    from rich.text import Text  # noqa: PLC0415

    from cli.output import compare_text, table  # noqa: PLC0415

    conditions = ", ".join(f"{what}: {value}" for what, value in score.counted[0].conditions)
    scores = Table(
        title=f"Score over {counted(len(score.counted), 'instance')} ({conditions})",
        title_justify="left",
    )
    scores.add_column("rank")
    scores.add_column("library", overflow="fold")
    for name in ("score", "from", "to"):
        scores.add_column(name, justify="right")
    for one in score.scores:
        scores.add_row(
            compare_text.rank_text(one.rank),
            Text(printable(one.library)),
            *(f"{value:.3f}" for value in (one.score, one.low, one.high)),
        )
    speeds = Table(
        title="Speed on each instance, divided by the speed of the control library",
        title_justify="left",
    )
    speeds.add_column("instance", overflow="fold")
    speeds.add_column("blocks", justify="right")
    for one in score.scores:
        speeds.add_column(Text(printable(one.library)), justify="right", overflow="fold")
    for instance in score.counted:
        speeds.add_row(
            f"{instance.instance.benchmark}/{instance.instance.instance}",
            str(instance.blocks),
            *(f"{median(instance.speeds[one.library]):.3f}" for one in score.scores),
        )
    out = table.console(stream)
    out.print(scores)
    out.print(speeds)
    for line in _notes(score):
        out.print(Text(printable(line)), soft_wrap=True)


def _notes(score: SuiteScore) -> Iterator[str]:
    yield (
        "The score is the geometric mean of a library's speeds. From and to are the ends of its 95 % interval. "
        "Libraries whose ranks overlap may be equally fast."
    )
    for instance, reason in score.left_out.items():
        yield f"{instance} is left out: {reason}; to count it, repeat the comparison on it with libraries that all pass"
    if score.provisional:
        yield (
            "An instance in the table has fewer than 11 blocks, so the intervals are rough: "
            "repeat the comparison on this instance with --sessions 11 or more."
        )
