"""Error pages in the style of the house. Each says what happened and what to do."""

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


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: somebody else's, or for organisers only."""
    return _page(
        request, 403, "Not for this account", "Log in with an account that may see this page."
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form's secret is missing or old; `reason` is for developers and not shown."""
    return _page(
        request,
        403,
        "The form has expired",
        "Go back, reload the page and send the form again. Cookies must be allowed for this site.",
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: also for what exists but is not this visitor's business."""
    return _page(
        request,
        404,
        "Nothing here",
        "The page does not exist, has been deleted, or belongs to an account that you are not "
        "logged in with.",
    )


def too_large(request: HttpRequest) -> HttpResponse:
    """413: a request far beyond any upload; drawn without session or user, whose middlewares have not run."""
    limit = jinja.upload_limit()
    return _bare(
        413, "Too large", f"A library may have at most {limit}. Strip it (strip -s) and try again."
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500: drawn without the database, which may be what failed."""
    return _bare(
        500, "Our fault", "Something broke on our side and was written to the log. Try again later."
    )


def _bare(status: int, title: str, advice: str) -> HttpResponse:
    context = {"status": status, "title": title, "advice": advice}
    template = engines["jinja2"].get_template("errors/bare.html")
    return HttpResponse(template.render(context), status=status)
