"""Finds the suites that `keydrome check` runs, and the scale of each instance. A suite is a correctness benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.input.values import UsageError
from runner.manifest import CLONE_AGAIN, Kind, load_benchmarks
from runner.terms import Scale

if TYPE_CHECKING:
    from runner.manifest import Benchmark
    from runner.settings import Settings

_FIRST = ("differential", "unit", "phantom", "scenarios", "isolation")
_LARGEST_FIRST = (Scale.PAPER, Scale.LAPTOP, Scale.SMOKE)


def chosen_suites(names: list[str], settings: Settings) -> list[Benchmark]:
    """Return the suites with these names, or all suites if there are no names, in the order in which they run.

    Raises UsageError if a name is unknown.
    """
    benchmarks = load_benchmarks(settings.root)
    known = {n: b for n, b in benchmarks.items() if b.kind is Kind.CORRECTNESS}
    if not known:
        raise UsageError(
            f"{settings.root / 'benchmarks'} contains no correctness benchmark: {CLONE_AGAIN}"
        )
    for name in names:
        if name not in known:
            raise UsageError(
                f"--suite: there is no suite {name!r}; choose one of: {', '.join(known)}"
            )
    return [known[name] for name in sorted(known, key=_rank) if not names or name in names]


def _rank(name: str) -> tuple[int, str]:
    """Return the sort key of a suite.

    The suite with one thread comes first, so that the sentence about a later crash can say whether one thread is enough
    for a fault. Short suites with simple findings follow.
    """
    return _FIRST.index(name) if name in _FIRST else len(_FIRST), name


def scale_of(suite: Benchmark, instance: str, wanted: Scale) -> Scale:
    """Return the wanted scale if the instance has it, or else the largest scale that the instance has."""
    scales = suite.instance(instance).scales
    return wanted if wanted in scales else next(s for s in _LARGEST_FIRST if s in scales)
