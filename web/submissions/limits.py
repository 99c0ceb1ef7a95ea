"""How often one user may upload: a count per hour, refused uploads included, since inspecting a file costs time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import cache

if TYPE_CHECKING:
    from django.contrib.auth.models import User

HOUR = 3600


def count_upload(user: User) -> int:
    """Count one more attempt; return 0 if it is allowed, else after how many seconds the next one is.

    Several web processes count together only with a shared cache (KEYDROME_CACHE_URL). Organisers are not limited.
    """
    if user.is_staff:
        return 0
    hour, past = divmod(int(time.time()), HOUR)
    key = f"uploads:{user.pk}:{hour}"
    cache.add(key, 0, timeout=HOUR)
    try:
        count = cache.incr(key)
    except ValueError:  # the entry ended between the two calls
        return 0
    return 0 if count <= settings.KEYDROME_UPLOADS_PER_HOUR else HOUR - past
