"""Parses arguments and writes results for the programs in tools/bench; `./dev bench` collects the results."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from runner.output_file import output_path, write_file

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One measured figure: its title, its value with the unit, and the target value (empty: no target).

    If `measured` and one of the limits are given, docs/reference/figures.md says by how much the figure misses its
    target.
    """

    figure: str
    value: str
    target: str = ""
    measured: float | None = None
    at_most: float | None = None
    at_least: float | None = None


def parse_arguments(
    description: str | None, repetitions: int, sizes: tuple[int, ...] = ()
) -> argparse.Namespace:
    """Return the command line: `--repetitions N`, `--json FILE` and, if there are default sizes, `--sizes N ...`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--repetitions",
        type=int,
        default=repetitions,
        help=f"how often to measure; default: {repetitions}",
    )
    if sizes:
        parser.add_argument(
            "--sizes",
            type=int,
            nargs="+",
            default=list(sizes),
            help=f"numbers of runs in the database, ascending; default: {' '.join(map(str, sizes))}",
        )
    parser.add_argument("--json", type=output_path, help="also write the figures to this file")
    return parser.parse_args()


def publish(title: str, rows: list[Row], path: Path | None) -> None:
    """Print the figures, and write them to the file of `--json`."""
    for row in rows:
        sys.stdout.write(
            f"{row.figure}: {row.value}" + (f" (target: {row.target})" if row.target else "") + "\n"
        )
    if path is not None:
        rows_json = [asdict(row) for row in rows]
        write_file(path, json.dumps({"title": title, "rows": rows_json}, indent=1) + "\n")
