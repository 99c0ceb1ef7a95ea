"""Implements `keydrome plot`: draws the results of bench and compare.

Each plot is written as SVG, as PNG for light pages, and as PNG for dark pages. The numbers of the plot are written as
CSV.
"""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

from cli.common import UsageError, output_folder
from results.result_files import BENCH_SCHEMA, COMPARE_SCHEMA
from runner.settings import load_settings
from runner.strict import StrictError, parse_object
from runner.text import display_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from results.plots.pictures import Picture

_SCHEMAS = {
    BENCH_SCHEMA: "bench.v1.schema.json",
    COMPARE_SCHEMA: "compare.v1.schema.json",
}


def run(options: argparse.Namespace) -> int:
    """Run the command; return 0 if a plot was drawn, 2 if the results contain nothing to draw."""
    output_folder(options.out, "--out")
    schemas = load_settings().root / "harness" / "schema"
    results = [read_result(path, schemas) for path in options.reports]
    from results.plots.pictures import pictures  # noqa: PLC0415 - matplotlib is slow to import

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


def read_result(path: Path, schemas: Path) -> dict[str, Any]:
    """Return a result that bench or compare has written. Raises UsageError for any other file."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import

    name = display_name(path.name)
    try:
        result = parse_object(path.read_bytes(), name)
    except OSError as error:
        raise UsageError(f"{path}: cannot read the file ({error.strerror})") from error
    except StrictError as error:
        raise UsageError(f"{error}: give a file that bench or compare wrote with --json") from error
    schema = _SCHEMAS.get(str(result.get("schema")))
    if schema is None:
        raise UsageError(
            f"{name}: not a result of bench or compare; give a file that they wrote with --json"
        )
    rules = parse_object((schemas / schema).read_bytes(), schema)
    fault = next(Draft202012Validator(rules).iter_errors(result), None)
    if fault is not None:
        place = "/".join(map(str, fault.path)) or "the result"
        raise UsageError(
            f"{name}: {place}: {fault.message[:200]}; perhaps another version wrote it: run bench or compare again"
        )
    return result


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
