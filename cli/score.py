"""Implements `keydrome score`: combines results of `keydrome compare` on several instances into one score per library.

An instance is a benchmark with a named set of parameter values. results/suite_score.py computes the scores.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from cli.input.read_result import read_result
from cli.input.values import UsageError
from cli.output.files import check_streams, stream_for_people, write_json
from results.result_files import COMPARE_SCHEMA
from runner.output_file import write_file
from runner.settings import load_settings
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse

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

    check_streams(options)
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
    _show(score, stream_for_people(options.json, options.markdown))
    if options.json is not None:
        write_json(options.json, score.to_json())
    if options.markdown is not None:
        from cli.output.score_text import markdown  # noqa: PLC0415 - only for this option

        write_file(options.markdown, markdown(score))
    return 1 if score.left_out else 0


def _show(score: SuiteScore, stream: TextIO) -> None:
    from rich.text import Text  # noqa: PLC0415 - slow to import

    from cli.output import compare_table, score_text, table  # noqa: PLC0415 - slow to import

    out = table.console(stream)
    for rows in (score_text.scores(score), score_text.speeds(score)):
        # As the title of a narrow table, this line would be divided into several.
        out.print(Text(printable(rows.title)), soft_wrap=True)
        out.print(compare_table.bordered(replace(rows, title="")))
    for line in score_text.notes(score):
        out.print(Text(printable(line)), soft_wrap=True)
