"""Shows the site's error pages. Each page says what happened and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.shortcuts import render
from django.template import engines

from web import jinja

if TYPE_CHECKING:
    from django.http import HttpRequest


def _page(request: HttpRequest, status: int, title: str, advice: str) -> HttpResponse:
    context = {"status": status, "title": title, "advice": advice}
    return render(request, "errors/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Respond 400, for example because the request is for a host name that the site does not accept.

    The page uses neither session nor user, because the middlewares that provide them may not have run.
    """
    return _bare(
        400,
        "Bad request",
        "The host name, the address or the content of the request is not valid. Check the address in your browser. "
        "Organisers: the site's log says which; the environment variable KEYDROME_HOSTS lists the host names that the "
        "site accepts.",
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Respond 403, because the page belongs to another user or is for organisers only."""
    return _page(
        request,
        403,
        "Access denied",
        "This page belongs to another account or is for organisers only. Log in with an account that may see it.",
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Respond 403, because the form's CSRF token is missing or has expired.

    `reason` is Django's explanation for developers. The page does not show it.
    """
    return _page(
        request,
        403,
        "The form has expired",
        "The secret token of the form is missing or too old, so the site changed nothing. Go back, reload the page and "
        "send the form again. Your browser must allow cookies for this site.",
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Respond 404, because the page does not exist or the visitor must not learn that it exists."""
    return _page(
        request,
        404,
        "Page not found",
        "The page does not exist, was deleted, or belongs to another account. If the page belongs to "
        "your account, log in first.",
    )


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Respond 429, because an account form was sent more often than a rate limit allows (ACCOUNT_RATE_LIMITS)."""
    return _page(
        request,
        429,
        "Too many requests",
        "Your account or your IP address has sent this form too often within one minute, so the site did not process "
        "it. Wait a minute, then send the form again.",
    )


def too_large(request: HttpRequest) -> HttpResponse:
    """Respond 413 to a request that is far above the upload limit.

    The page uses neither session nor user, because the middlewares that provide them have not run yet.
    """
    limit = jinja.upload_limit()
    return _bare(
        413,
        "Too large",
        f"The file is larger than {limit}, the upload limit. Shrink a library with strip --strip-unneeded, "
        "leave compiled files out of an archive, and try again.",
    )


def invalid_size() -> HttpResponse:
    """Respond 400 to a request whose Content-Length is not a number. Like too_large(), the page needs no session."""
    return _bare(
        400,
        "Bad request",
        "The Content-Length header of the request is not a number. Send the form from its page; if you use a program, "
        "set the header to the length of the body in bytes.",
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Respond 500 after an exception. The page does not use the database, because the database may be the cause."""
    return _bare(
        500,
        "Internal error",
        "The cause is a fault of the site, and the site has logged it. Try again later. If the error happens again, "
        "tell an organiser the time and the address of the page.",
    )


def _bare(status: int, title: str, advice: str) -> HttpResponse:
    context = {"status": status, "title": title, "advice": advice}
    template = engines["jinja2"].get_template("errors/bare.html")
    return HttpResponse(template.render(context), status=status)
