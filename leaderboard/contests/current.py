"""Finds the contests that the front page announces."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from leaderboard.contests.models import Contest

# The front page announces the results of a contest for this long.
RESULTS_SHOWN = timedelta(days=14)


def current_contests(count_max: int) -> list[Contest]:
    """Return the published contests that have not ended, or ended recently. 1 SQL statement.

    The contests are sorted by their opening, earliest first. So contests that teams can enter already come before
    contests that open later.
    """
    shown = Contest.objects.filter(published=True, results_at__gt=timezone.now() - RESULTS_SHOWN)
    return list(shown.order_by("opens_at", "pk")[:count_max])
