"""Defines middlewares, which Django calls for every request.

They forbid pages to use devices such as the camera, reject requests that are too large, and keep private pages out of
caches.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.cache import add_never_cache_headers

from web.pages import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    GetResponse = Callable[[HttpRequest], HttpResponseBase]

# A request larger than this many times the upload limit is rejected before its body is read. A smaller request is read,
# even if its file is above the upload limit, so that the upload form can report the problem.
REJECTION_FACTOR = 8
# A regular expression checks the size, because int() rejects some characters that isdigit() accepts.
_SIZE = re.compile(r"[0-9]+")
# A size with more digits is above every limit, so it is not passed to int(), which rejects more than 4,300 digits.
_SIZE_DIGITS_MAX = 18


def permissions_policy(get_response: GetResponse) -> GetResponse:
    """Forbid all pages to use camera, microphone, location and other devices."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.setdefault(
            "Permissions-Policy",
            "camera=(), geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()",
        )
        return response

    return middleware


def private_pages(get_response: GetResponse) -> GetResponse:
    """Forbid caches to keep the pages of a logged-in user, so that the Back button shows none after the log-out."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        user = request.user  # kept, because a log-out replaces request.user
        response = get_response(request)
        if user.is_authenticated and not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response

    return middleware


def limit_request_size(get_response: GetResponse) -> GetResponse:
    """Respond 400 if Content-Length is not a number, and 413 if it is far above the limit. The body is not read."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        limit = REJECTION_FACTOR * settings.KEYDROME_UPLOAD_BYTES
        if not _SIZE.fullmatch(announced):
            response = errors.invalid_size()
        elif len(announced) > _SIZE_DIGITS_MAX or int(announced) > limit:
            response = errors.too_large(request)
        else:
            return get_response(request)
        response["Connection"] = "close"
        return response

    return middleware
