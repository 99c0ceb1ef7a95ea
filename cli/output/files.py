"""Writes results as JSON, and chooses the stream for text that people read."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any, TextIO

from cli.input.values import UsageError
from runner.output_file import is_standard_output, write_file

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a result as JSON, by the rules of runner/output_file.py."""
    write_file(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def terminal_width(stream: TextIO) -> int:
    """Return the number of columns of a terminal, or a large number if `stream` is not a terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else sys.maxsize


def stream_for_people(*files: Path | None) -> TextIO:
    """Return the stream for text: standard output, or standard error if one of `files` goes to standard output."""
    to_output = any(path is not None and is_standard_output(path) for path in files)
    return sys.stderr if to_output else sys.stdout


def check_streams(options: argparse.Namespace) -> None:
    """Raise UsageError if the files of --json and --markdown are both standard output."""
    if all(path and is_standard_output(path) for path in (options.json, options.markdown)):
        raise UsageError(
            "--json and --markdown both go to standard output: name a file for one of them"
        )
