"""Limits how many files a user uploads per hour. Refused files count too, because the check of a file takes time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import cache

from results.counts import counted

if TYPE_CHECKING:
    from django.contrib.auth.models import User

HOUR = 3600


def count_upload(user: User) -> int:
    """Count one more upload of a user. Return 0 if the upload is allowed.

    If the upload is not allowed, return the seconds until the next full hour, when the count restarts. Organisers are
    not limited. Several web processes share the count only if they share a cache (KEYDROME_CACHE_URL).
    """
    if user.is_staff:
        return 0
    hour, past = divmod(int(time.time()), HOUR)
    key = f"uploads:{user.pk}:{hour}"
    cache.add(key, 0, timeout=HOUR)
    try:
        count = cache.incr(key)
    except ValueError:  # the entry expired between the two calls
        return 0
    return 0 if count <= settings.KEYDROME_UPLOADS_PER_HOUR else HOUR - past


def too_many_uploads(wait: int) -> str:
    """Return the message for an upload that is not allowed. `wait` is the number of seconds from count_upload."""
    if settings.KEYDROME_UPLOADS_PER_HOUR < 1:
        return (
            "The site takes no uploads now, because its organisers have set the limit of uploads per hour to 0. "
            "Ask an organiser when the site takes uploads again."
        )
    limit = counted(settings.KEYDROME_UPLOADS_PER_HOUR, "upload")
    minutes = counted(wait // 60 + 1, "minute")
    return f"You have used up the limit of {limit} per hour. Try again in {minutes}."
