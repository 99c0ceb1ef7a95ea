"""What the speed programs share: arguments and the file of figures that `./dev bench` collects."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One figure: what was measured, its value with its unit, and what was to be reached."""

    figure: str
    value: str
    target: str = ""


def parse_arguments(description: str | None, repetitions: int) -> argparse.Namespace:
    """Return the command line: `--repetitions N` and `--json FILE`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--repetitions", type=int, default=repetitions, help=f"{repetitions}")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    return parser.parse_args()


def publish(title: str, rows: list[Row], path: Path | None) -> None:
    """Print the figures, and write them where `./dev bench` wants them."""
    for row in rows:
        sys.stdout.write(
            f"{row.figure}: {row.value}"
            + (f" (to reach: {row.target})" if row.target else "")
            + "\n"
        )
    if path is not None:
        path.write_text(
            json.dumps({"title": title, "rows": [asdict(row) for row in rows]}, indent=1)
        )
