"""Implements `keydrome plot`: draws the results of bench and compare.

Each plot is written as SVG, as PNG for light pages, and as PNG for dark pages. The numbers of the plot are written as
CSV.
"""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

from cli.common import output_folder
from cli.read_result import read_result
from runner.settings import load_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from results.plots.pictures import Picture


def run(options: argparse.Namespace) -> int:
    """Run the command; return 0 if a plot was drawn, 2 if the results contain nothing to draw."""
    output_folder(options.out, "--out")
    schemas = load_settings().root / "harness" / "schema"
    results = [read_result(path, schemas) for path in options.reports]
    from results.plots.pictures import (  # noqa: PLC0415 - matplotlib is slow to import
        mixed_versions,
        pictures,
    )

    for benchmark, versions in mixed_versions(results).items():
        print(
            f"keydrome: the results come from versions {', '.join(map(str, versions))} of {benchmark}, which play "
            "different operations, so each version gets pictures of its own: to compare the results, repeat those of "
            "the older versions",
            file=sys.stderr,
        )
    drawn = 0
    for picture in pictures(results):
        for path in save(picture, options.out):
            print(path)
        drawn += 1
    if not drawn:
        print(
            "keydrome: these results contain nothing to draw, because no session measured a time; "
            "give results of sessions that passed",
            file=sys.stderr,
        )
    return 0 if drawn else 2


def save(picture: Picture, folder: Path) -> Iterator[Path]:
    """Write the files of a plot and yield their paths."""
    from results.plots.style import ADAPTING, DARK, LIGHT, png, stable, svg  # noqa: PLC0415 - slow

    stem = folder / picture.name
    with stable():
        files = {
            ".svg": svg(picture.draw(ADAPTING)),
            ".png": png(picture.draw(LIGHT)),
            "-dark.png": png(picture.draw(DARK)),
        }
    for suffix, content in files.items():
        path = stem.with_name(stem.name + suffix)
        path.write_bytes(content)
        yield path
    table = stem.with_name(stem.name + ".csv")
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(picture.columns)
        writer.writerows(picture.rows)
    yield table
