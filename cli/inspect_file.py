"""Implements `keydrome inspect`: prints facts about a library file, or why it is refused, without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.input.libraries import find_library, is_trusted
from cli.output.files import stream_for_people, write_json
from runner.inspection.library import LibraryKind, inspect_library
from runner.settings import load_settings
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse

    from runner.inspection.library import LibraryFacts

INSPECT_SCHEMA = "keydrome.inspect.v1"


def run(options: argparse.Namespace) -> int:
    """Run the command; return 0 if the library is accepted, 2 if it is refused."""
    settings = load_settings()
    library = find_library(options.library, settings).path
    facts = inspect_library(library, settings, trusted=is_trusted(library, settings))
    # The path "." has no name.
    for line in _lines(display_name(library.name or str(library)), facts):
        print(printable(line), file=stream_for_people(options.json))
    if options.json is not None:
        write_json(options.json, {"schema": INSPECT_SCHEMA, **facts.to_json()})
    return 2 if facts.refusals else 0


def _lines(name: str, facts: LibraryFacts) -> list[str]:
    kind = "unknown kind" if facts.kind is LibraryKind.UNKNOWN else facts.kind.value
    lines = [f"{name}: {kind}, {facts.size_bytes:,} bytes"]
    lines += [f"  {label}: {', '.join(values)}" for label, values in _lists(facts) if values]
    lines += [f"  note: {flag}" for flag in facts.risk_flags]
    for refusal in facts.refusals:
        lines += [f"  refused ({refusal.name}): {refusal.problem}", f"    {refusal.remedy}"]
    if not facts.refusals:
        lines.append("  accepted")
    return lines


def _lists(facts: LibraryFacts) -> list[tuple[str, list[str]]]:
    return [
        ("needs", list(facts.needed)),
        ("newest versions needed", [f"{version} of {lib}" for lib, version in facts.versions]),
        ("exported calls of the API", list(facts.calls)),
        ("exported names with keydrome_", list(facts.extensions)),
    ]
