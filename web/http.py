"""Small things that views share: a request whose user is logged in, fragments that answer 304, private files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

    from django.contrib.auth.models import User

# htmx stops polling when an answer has this status.
STOP_POLLING = 286
# A file from outside may not run anything, even when somebody opens it as a page. Plots style themselves inline.
FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class UserRequest(HttpRequest):
    """A request behind login_required."""

    user: User


def fragment(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, tag: str, final: bool
) -> HttpResponse:
    """Return a part of a page for htmx: 304 when the browser has this `tag` already, 286 when nothing will follow."""
    etag = f'"{tag}"'
    if request.headers.get("If-None-Match") == etag:
        response: HttpResponse = HttpResponseNotModified()
    else:
        response = render(request, template, dict(context))
        response.status_code = STOP_POLLING if final else 200
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


def private_file(file: IO[bytes], name: str, content_type: str) -> FileResponse:
    """Return a file that was checked for this visitor: always as attachment, never sniffed, never cached by others."""
    response = FileResponse(file, as_attachment=True, filename=name, content_type=content_type)
    response["Content-Security-Policy"] = FILE_POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-cache"
    return response
