"""Sends the pages of the documentation, which Sphinx made from docs/ before the site started (docs/site/conf.py)."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpResponse
from django.utils._os import safe_join
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from django.http import HttpRequest

FRONT = "README.html"


@require_safe
@cache_control(public=True, max_age=300)
def documentation(_request: HttpRequest, path: str) -> HttpResponse:
    """Send a file below KEYDROME_DOCS_ROOT, or the front page if `path` is empty. Respond 404 if there is no file."""
    try:
        file = Path(safe_join(settings.KEYDROME_DOCS_ROOT, path or FRONT))
        content = file.read_bytes()
    except (SuspiciousFileOperation, OSError, ValueError):
        raise Http404 from None
    kind, _encoding = mimetypes.guess_type(file.name)
    text = kind is not None and (kind.startswith("text/") or kind.endswith("javascript"))
    return HttpResponse(content, content_type=f"{kind}; charset=utf-8" if text else kind)
