"""Compares the program of a worker, which executes runs, with the site: database migrations and benchmark versions.

If the migrations differ, the worker does not start. If benchmark versions differ, the worker claims only the runs that
it can execute. In both cases a message says what to update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Q

from leaderboard import catalogue
from leaderboard.queue import claims

if TYPE_CHECKING:
    from collections.abc import Mapping


APPLICATIONS = ("leaderboard", "contests")
"""The labels of the applications whose tables a worker reads."""


class SchemaSkewError(Exception):
    """The tables in the database differ from the tables that this worker expects."""


def require_own_schema() -> None:
    """Check that the database has exactly the migrations of APPLICATIONS that this program has.

    Otherwise raise SchemaSkewError, whose message says what to update.
    """
    recorded = MigrationRecorder(connection).applied_migrations()
    applied = {f"{app}.{name}" for app, name in recorded if app in APPLICATIONS}
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    own = {f"{app}.{name}" for app, name in loader.disk_migrations if app in APPLICATIONS}
    if newer := sorted(applied - own):
        raise SchemaSkewError(
            f"the database has migration {newer[-1]}, which this worker does not have: update and restart the worker"
        )
    if older := sorted(own - applied):
        raise SchemaSkewError(
            f"the database lacks migration {older[0]}: update the site (python -m web.manage migrate), "
            "then restart the worker"
        )


def own_versions() -> dict[str, int]:
    """Return the version of each benchmark that this worker has, by benchmark name."""
    return {name: benchmark.version for name, benchmark in catalogue.benchmarks().items()}


def refusal(versions: Mapping[str, int], machine_class: str) -> str:
    """Return why a worker with these benchmark versions and this machine class leaves some runs waiting.

    A machine class is the processor model, the number of processors and the size of memory.
    Returns an empty text if the worker can execute every waiting run. The status page shows the text, so the text does
    not name the benchmark of a contest's hidden instance (one with secret parameters). 1 SQL statement.
    """
    waiting = claims.claimable().order_by().annotate(secret=Q(hidden__isnull=False))
    wanted_by_runs = waiting.values_list(
        "benchmark", "benchmark_version", "wanted_class", "secret"
    ).distinct()
    reasons = set()
    for name, version, wanted, secret in wanted_by_runs:
        if versions.get(name) != version and secret:
            reasons.add(
                "some waiting runs on a contest's hidden instance need a version of the benchmark that this worker "
                "does not have: an organiser must update the site and this worker to the same version of Keydrome, and "
                "restart both"
            )
        elif versions.get(name) != version:
            reasons.add(_other_version(name, version, versions.get(name)))
        elif wanted not in {"", machine_class}:
            reasons.add(
                f"some waiting runs need a machine of class {wanted}, and this machine is of class {machine_class}: "
                f"an organiser must start a worker on a machine of class {wanted}"
            )
    return "; ".join(sorted(reasons))


def _other_version(name: str, wanted: int, own: int | None) -> str:
    """Return why a worker with the version `own` of a benchmark leaves runs of the version `wanted`, and what to do.

    Runs of an older version may still wait after an update of the site. The command rerun_stale replaces them.
    """
    need = f"some waiting runs need version {wanted} of the benchmark {name}, and this worker has"
    if own is None:
        return (
            f"{need} no benchmark of this name: an organiser must update and restart this worker, "
            "or cancel the runs if Keydrome no longer has the benchmark"
        )
    if own < wanted:
        return f"{need} version {own}: an organiser must update and restart this worker"
    return (
        f"{need} version {own}: an organiser must update and restart the site if it is older than this worker, "
        f"then queue the runs with version {own} (python -m web.manage rerun_stale)"
    )
