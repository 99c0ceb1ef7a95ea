"""Makes the JSON export of a run: the request, the verdict, each session, the curves, and facts about the machine.

The export contains what the run's page shows to the same visitor. So it has seeds only for the owner and organisers,
and only after the run has ended. A contest may have hidden instances, i.e. benchmark instances whose parameters it
chooses and keeps secret at first. For a run of such an instance, `parameters` has these values; otherwise it is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse

from web import jinja

if TYPE_CHECKING:
    from datetime import datetime

    from leaderboard.models import RunDetail
    from leaderboard.queries import RunPage

SCHEMA = "keydrome.run.v1"
_RESULTS = (
    "verdict",
    "reason",
    "jail_level",
    "score",
    "score_low",
    "score_high",
    "total_ms",
    "deadlocks",
    "transactions_failed",
    "transactions_completed",
    "transactions_planned",
    "provisional",
)


def run_json(page: RunPage) -> dict[str, Any]:
    """Return the export of a run for the visitor of this page. Executes no SQL."""
    run, submission, detail = page.run, page.run.submission, page.detail
    return {
        "schema": SCHEMA,
        "run": reverse("submissions:run", args=[run.pk]),
        "state": run.state,
        "request": {
            "benchmark": run.benchmark,
            "benchmark_version": run.benchmark_version,
            "instance": run.hidden.instance if run.hidden else run.instance,
            "parameters": run.hidden.parameters if run.hidden else {},
            "scale": run.scale,
            "sessions": run.sessions,
            "verified": run.verified,
        },
        "library": {
            "file": jinja.printable(submission.file_name),
            "description": jinja.printable(submission.description),
            "user": jinja.printable(submission.owner.get_username()),
            "sha256": submission.blob_sha256,
            "size_bytes": submission.size_bytes,
            "kind": submission.kind,
            "configuration": submission.configuration,
            "facts": detail.library_facts if detail else {},
        },
        "result": {name: getattr(run, name) for name in _RESULTS},
        "findings": detail.findings if detail else [],
        "sessions": _sessions(detail),
        "curves": detail.series if detail else {},
        "seeds": list(page.private.seeds) if page.private else [],
        "machine": {
            "name": run.machine.name if run.machine else None,
            "class": run.machine.machine_class if run.machine else None,
            "facts": detail.machine_facts if detail else {},
        },
        "created": _time(run.created_at),
        "started": _time(run.started_at),
        "finished": _time(run.finished_at),
    }


def _sessions(detail: RunDetail | None) -> list[dict[str, Any]]:
    """Return the stored sessions without their seeds. Only the field `seeds` of the export has the seeds."""
    stored = detail.sessions if detail else []
    return [{name: value for name, value in row.items() if name != "seed"} for row in stored]


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat(timespec="seconds")
