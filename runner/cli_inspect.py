"""`keydrome inspect`: look at a library without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.cli_common import UsageError, is_trusted, write_json
from runner.elf import inspect_library
from runner.settings import load_settings
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse

    from runner.elf import LibraryFacts


def run(options: argparse.Namespace) -> int:
    """Run the command; 0 when the library would be run, 2 when it would be refused."""
    settings = load_settings()
    if not options.library.exists():
        raise UsageError(f"{options.library}: there is no such file")
    trusted = is_trusted(options.library, settings)
    facts = inspect_library(options.library, settings, trusted=trusted)
    if options.json is not None:
        write_json(options.json, facts.to_json())
    for line in _lines(display_name(options.library.name), facts):
        print(printable(line))
    return 2 if facts.refusals else 0


def _lines(name: str, facts: LibraryFacts) -> list[str]:
    lines = [f"{name}: {facts.kind.value}, {facts.size_bytes:,} bytes"]
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
        ("calls", list(facts.calls)),
        ("optional", list(facts.extensions)),
    ]
