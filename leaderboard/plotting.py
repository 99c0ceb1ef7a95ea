"""Drawing what finished runs showed into private storage; the results worker's part of the work."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Artefact, RunDetail

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
THROUGHPUT = "throughput.svg"
LATENCY = "latency.svg"
# Bounds one call, so that a sweep is never far away.
BATCH = 20


def draw_missing() -> int:
    """Draw the curves of runs that have none yet, oldest first; return how many runs were looked at.

    Matplotlib is imported here and not at the top: half a minute for the font cache the first time, a second later.
    """
    from leaderboard import plots  # noqa: PLC0415 - see above

    drawers: dict[str, tuple[str, Callable[[Any], bytes]]] = {
        THROUGHPUT: ("throughput", plots.draw_throughput),
        LATENCY: ("latency", plots.draw_latency),
    }
    details = list(RunDetail.objects.filter(drawn_at__isnull=True).order_by("run_id")[:BATCH])
    for detail in details:
        for name, (series, draw) in drawers.items():
            if series in detail.series:
                _draw_one(detail, name, draw, detail.series[series])
        RunDetail.objects.filter(pk=detail.pk).update(drawn_at=timezone.now())
    return len(details)


def _draw_one(detail: RunDetail, name: str, draw: Callable[[Any], bytes], series: object) -> None:
    """Draw one picture and keep it. A series that cannot be drawn is logged and left out for good."""
    try:
        picture = draw(series)
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        _log.exception("run %d: %s cannot be drawn", detail.pk, name)
        return
    with transaction.atomic():
        Artefact.objects.filter(run_id=detail.pk, name=name).delete()
        artefact = Artefact(run_id=detail.pk, name=name)
        artefact.file.save(f"runs/{detail.pk}/{name}", ContentFile(picture), save=False)
        artefact.save(force_insert=True)
