"""Two small middlewares: a header that Django does not send, and an early no to absurdly large requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from web.pages import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    GetResponse = Callable[[HttpRequest], HttpResponseBase]

# An upload that is only somewhat too large is read, thrown away and answered inside its form; what is larger than
# this many times the limit is not read at all.
REFUSED_AT_ONCE = 8


def permissions_policy(get_response: GetResponse) -> GetResponse:
    """Tell browsers that no page needs a camera, a microphone, a position or another device."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.setdefault(
            "Permissions-Policy",
            "camera=(), geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()",
        )
        return response

    return middleware


def limit_request_size(get_response: GetResponse) -> GetResponse:
    """Answer 413 without reading the body when its announced length is far beyond any upload we accept."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        limit = REFUSED_AT_ONCE * settings.KEYDROME_UPLOAD_BYTES
        if not announced.isdigit() or int(announced) > limit:
            response = errors.too_large(request)
            response["Connection"] = "close"
            return response
        return get_response(request)

    return middleware
