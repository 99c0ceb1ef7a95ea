"""`keydrome plot`: results as pictures, each as SVG and as PNG for light and dark ground, with its numbers as CSV."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

from runner.cli_common import UsageError
from runner.settings import load_settings
from runner.strict import StrictError, parse_object
from runner.text import display_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from runner.plots.pictures import Picture

_SCHEMAS = {
    "keydrome.bench.v1": "bench.v1.schema.json",
    "keydrome.compare.v1": "compare.v1.schema.json",
}


def run(options: argparse.Namespace) -> int:
    """Run the command; 0 when something was drawn, 2 when there was nothing to draw."""
    schemas = load_settings().root / "harness" / "schema"
    results = [read_result(path, schemas) for path in options.reports]
    from runner.plots.pictures import pictures  # noqa: PLC0415 - matplotlib is slow to import

    drawn = 0
    options.out.mkdir(parents=True, exist_ok=True)
    for picture in pictures(results):
        for path in save(picture, options.out):
            print(path)
        drawn += 1
    if not drawn:
        print("keydrome: no session in these results has anything to draw", file=sys.stderr)
    return 0 if drawn else 2


def read_result(path: Path, schemas: Path) -> dict[str, Any]:
    """Return what bench or compare wrote; UsageError when the file is something else or damaged."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import

    name = display_name(path.name)
    try:
        result = parse_object(path.read_bytes(), name)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except StrictError as error:
        raise UsageError(f"{error}: give a file that bench or compare wrote with --json") from error
    schema = _SCHEMAS.get(str(result.get("schema")))
    if schema is None:
        raise UsageError(f"{name}: neither a result of bench nor of compare (--json writes them)")
    rules = parse_object((schemas / schema).read_bytes(), schema)
    fault = next(Draft202012Validator(rules).iter_errors(result), None)
    if fault is not None:
        place = "/".join(map(str, fault.path)) or "the result"
        raise UsageError(
            f"{name}: {place}: {fault.message[:200]}; made by another version? Run it again"
        )
    return result


def save(picture: Picture, folder: Path) -> Iterator[Path]:
    """Write a picture's files and give their paths."""
    from runner.plots.style import ADAPTING, DARK, LIGHT, png, stable, svg  # noqa: PLC0415 - ditto

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
