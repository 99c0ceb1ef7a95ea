"""Contains what views share: the type of requests with a logged-in user, page fragments, private files, CSV cells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

    from django.contrib.auth.models import User

# htmx, the JavaScript library that reloads parts of pages, stops polling when a response has this status.
STOP_POLLING = 286
# A stored file must not run scripts, even if a browser shows it as a page. Inline styles are allowed, because plots
# contain them.
FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

# Spreadsheets treat a cell that begins with one of these characters as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[0-9]{1,18}")


class UserRequest(HttpRequest):
    """A request to a view with @login_required. Its user is always logged in."""

    user: User


def number(request: HttpRequest, name: str) -> int | None:
    """Return the value of `name` in the URL's query as a number, or None if it is missing or not a number."""
    # A regular expression checks the text, because isdigit() accepts characters that int() rejects, and because int()
    # raises an exception for very long numbers.
    text = request.GET.get(name, "")
    return int(text) if _NUMBER.fullmatch(text) else None


def fragment(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, tag: str, final: bool
) -> HttpResponse:
    """Return a part of a page for htmx, the JavaScript library that requests this part every two seconds.

    `tag` identifies the content. If the browser already has this content, the status of the response is 304, and the
    response has no body. Otherwise the status is 286 if the content is `final`, and 200 if not. After a response with
    status 286, htmx sends no further requests.
    """
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
    """Return a file as an attachment that proxies do not cache.

    The caller must have checked that the visitor may read the file.
    """
    response = FileResponse(file, as_attachment=True, filename=name, content_type=content_type)
    response["Content-Security-Policy"] = FILE_POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-cache"
    return response


def spreadsheet_cell(value: object) -> object:
    """Return a value that is safe in a spreadsheet: text that looks like a formula gets an apostrophe in front."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
