"""Draws throughput and latency of finished runs as SVG and PNG pictures, and stores the pictures.

The results worker, a background process of the site, calls this module. The same curve always gives the same bytes.
results/plots/style.py defines the style of the pictures. Matplotlib is imported inside the functions, because the
import takes a second. If Matplotlib must first build its font cache, the import takes half a minute.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Artefact, RunDetail
from runner.report import LatencyClass, Throughput, latency_from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.figure import Figure

    from results.plots.style import Look

_log = logging.getLogger(__name__)
THROUGHPUT = "throughput.svg"
LATENCY = "latency.svg"
# One call of draw_missing draws at most this many runs, because the results worker must soon look for lost runs again.
BATCH = 20


def draw_throughput(throughput: Throughput, kind: str = "svg") -> bytes:
    """Return committed transactions per second over time as a picture of this kind, svg or png."""
    from results.plots.lines import draw_throughput as figure  # noqa: PLC0415 - slow import, see above

    return _draw(lambda look: figure([("", throughput)], look), kind)


def draw_latency(latency: Iterable[LatencyClass], kind: str = "svg") -> bytes:
    """Return latency by percentile as a picture, with one line for each transaction class that has samples."""
    from results.plots.lines import LatencyPanel  # noqa: PLC0415 - slow import, see above
    from results.plots.lines import draw_latency as figure  # noqa: PLC0415

    lines = tuple((entry.transaction_class, entry) for entry in latency if entry.buckets)
    return _draw(lambda look: figure([LatencyPanel("", lines)], look), kind)


def _draw(figure: Callable[[Look], Figure], kind: str) -> bytes:
    """Draw a figure. An SVG adapts to light and dark pages. A PNG cannot, so it is drawn for light ones."""
    from results.plots.style import ADAPTING, LIGHT, png, stable, svg  # noqa: PLC0415 - slow import, see above

    with stable():
        return png(figure(LIGHT)) if kind == "png" else svg(figure(ADAPTING))


_DRAWERS: dict[str, tuple[str, Callable[[Any], bytes]]] = {
    THROUGHPUT: ("throughput", lambda stored: draw_throughput(Throughput.from_json(stored))),
    LATENCY: ("latency", lambda stored: draw_latency(latency_from_json(stored))),
    # The pages show the SVGs. The PNGs are for bundles, the downloadable files with the results of a run.
    "throughput.png": (
        "throughput",
        lambda stored: draw_throughput(Throughput.from_json(stored), "png"),
    ),
    "latency.png": ("latency", lambda stored: draw_latency(latency_from_json(stored), "png")),
}


def draw_missing() -> int:
    """Draw the curves of at most BATCH runs that have no pictures yet, oldest first; return the number of runs."""
    details = list(RunDetail.objects.filter(drawn_at__isnull=True).order_by("run_id")[:BATCH])
    for detail in details:
        for name, (series, draw) in _DRAWERS.items():
            if series in detail.series:
                _draw_one(detail, name, draw, detail.series[series])
        RunDetail.objects.filter(pk=detail.pk).update(drawn_at=timezone.now())
    return len(details)


def _draw_one(detail: RunDetail, name: str, draw: Callable[[Any], bytes], series: object) -> None:
    """Draw one picture and store it. If the curve is not valid, log the error; no later call tries again."""
    try:
        picture = draw(series)
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        _log.exception(
            "run %d: cannot draw %s from the curve in its report: report the following traceback to the developers",
            detail.pk,
            name,
        )
        return
    with transaction.atomic():
        Artefact.objects.filter(run_id=detail.pk, name=name).delete()
        artefact = Artefact(run_id=detail.pk, name=name)
        artefact.file.save(f"runs/{detail.pk}/{name}", ContentFile(picture), save=False)
        artefact.save(force_insert=True)
