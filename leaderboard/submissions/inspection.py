"""Decides whether the site refuses an uploaded file, from the facts that the inspection found.

Some refusals depend on the machine, for example because the machine lacks a shared library. The worker, the process
that executes the runs of the file, decides these refusals: it inspects the file again on its own machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaderboard import catalogue
from runner.inspection.library import UNFINISHED, LibraryKind, Refusal

if TYPE_CHECKING:
    from runner.inspection.library import LibraryFacts

# Refusals that depend on the machine or its load. The worker inspects the file again and decides these.
BENCH_DECIDES = frozenset({"newer_library", "missing_library", "inspection_limit", UNFINISHED})


def reasons_against_file(facts: LibraryFacts, configuration: str) -> list[Refusal]:
    """Return why a file with these facts is refused with this configuration; an empty list if the file is accepted.

    A bare structure (a library without transactions and locks) needs a configuration; a whole library must have none.
    """
    found = [refusal for refusal in facts.refusals if refusal.name not in BENCH_DECIDES]
    if not found and facts.kind is LibraryKind.STRUCTURE and not configuration:
        known = ", ".join(catalogue.configurations())
        problem = "the file is a bare structure, and a structure needs a configuration to run under"
        found.append(
            Refusal("no_configuration", problem, f"choose one of the configurations {known}")
        )
    if not found and facts.kind is LibraryKind.INDEX and configuration:
        problem = "the file is a library with its own transactions, and only bare structures take a configuration"
        found.append(Refusal("configuration", problem, "submit the file without a configuration"))
    return found
