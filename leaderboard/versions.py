"""What happens when site and worker are not of one version: the older one says so and touches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from leaderboard import catalogue, claims

if TYPE_CHECKING:
    from collections.abc import Mapping


class SchemaSkewError(Exception):
    """The tables in the database are not those that this program knows."""


def require_own_schema() -> None:
    """Raise SchemaSkewError, saying who is to be updated, unless the tables are those of this program."""
    recorded = MigrationRecorder(connection).applied_migrations()
    applied = {name for app, name in recorded if app == "leaderboard"}
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    own = {name for app, name in loader.disk_migrations if app == "leaderboard"}
    if newer := sorted(applied - own):
        raise SchemaSkewError(
            f"the database has {newer[-1]}, which this worker does not know: update the worker and start it again"
        )
    if older := sorted(own - applied):
        raise SchemaSkewError(
            f"the database lacks {older[0]}: update the site (python -m web.manage migrate), then restart the worker"
        )


def own_versions() -> dict[str, int]:
    """Return the benchmarks that this worker has, with their versions."""
    return {name: benchmark.version for name, benchmark in catalogue.benchmarks().items()}


def refusal(versions: Mapping[str, int], machine_class: str) -> str:
    """Return which waiting runs a worker with these versions leaves, and what to do, or "". 1 SQL statement."""
    waiting = claims.claimable().order_by()
    asked = waiting.values_list("benchmark", "benchmark_version", "wanted_class").distinct()
    reasons = set()
    for name, version, wanted in asked:
        if versions.get(name) != version:
            own = f"version {versions[name]}" if name in versions else "no such benchmark"
            reasons.add(
                f"runs wait for {name} version {version}, this worker has {own}: update and restart whichever is older"
            )
        elif wanted not in {"", machine_class}:
            reasons.add(f"runs wait for a machine of class {wanted}")
    return "; ".join(sorted(reasons))
