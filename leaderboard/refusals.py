"""Why an uploaded file is not run, as far as that can be said without the bench machine. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaderboard import catalogue
from runner.elf import LibraryKind, Refusal

if TYPE_CHECKING:
    from runner.elf import LibraryFacts

# Faults that another machine, or a less busy one, might not find: whether they are there is left to the worker.
BENCH_DECIDES = frozenset({"newer_library", "missing_library", "inspection_limit"})


def reasons_against_file(facts: LibraryFacts, configuration: str) -> list[Refusal]:
    """Return why a file with these facts is not run under this configuration; empty when it is."""
    found = [refusal for refusal in facts.refusals if refusal.name not in BENCH_DECIDES]
    if not found and facts.kind is LibraryKind.STRUCTURE and not configuration:
        known = ", ".join(catalogue.configurations())
        problem = "the file is a bare structure, which runs under a configuration only"
        found.append(Refusal("no_configuration", problem, f"submit it with one of {known}"))
    if not found and facts.kind is LibraryKind.INDEX and configuration:
        problem = "the file is a whole library, and configurations are for bare structures only"
        found.append(Refusal("configuration", problem, "submit it without a configuration"))
    return found
