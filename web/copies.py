"""Keeps copies of public pages for a few seconds, so that a busy site renders a popular page once for many visitors.

Use `@copied` on a view whose page is the same for all visitors without a cookie. Only these visitors receive copies.
Visitors who have logged in or seen a form have a cookie, and always receive a new page. So a copy never contains
private text.

A copy is used for `settings.KEYDROME_COPY_SECONDS`. The next request after that receives the old copy, and lets another
thread render the page again. So no visitor waits for the new page. A copy that is older than twice this time is not
used. Each process of the web server has its own copies, and one thread that renders them.

Thread safety: any number of threads may request pages. A lock protects the table of the pages that are being rendered.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import wraps
from hashlib import sha256
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from django.conf import settings
from django.core.cache import caches
from django.db import close_old_connections
from django.http import HttpResponse
from django.urls import get_script_prefix, set_script_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

logger = logging.getLogger(__name__)
_Arguments = ParamSpec("_Arguments")
CACHE = "copies"
_OK = 200
_HTML = "text/html; charset=utf-8"
# If there is no copy yet, a request waits at most this long for another one that renders the page.
_WAIT_SECONDS = 2

_lock = threading.Lock()
_rendering: dict[
    str, threading.Event
] = {}  # by key; an event is set when its page has been rendered
# The executor's thread starts when the first page is rendered again, and the web server has forked by then.
_renderer = ThreadPoolExecutor(1, "copies")


def copied(
    view: Callable[Concatenate[HttpRequest, _Arguments], HttpResponse],
) -> Callable[Concatenate[HttpRequest, _Arguments], HttpResponse]:
    """Let visitors without a cookie share the pages of this view for some seconds.

    Each address, with its host name and its query, has a copy of its own. Only HTML pages with status 200 are copied,
    and only if they have no Cache-Control header, no form and no session.
    """

    @wraps(view)
    def answer(
        request: HttpRequest, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> HttpResponse:
        seconds = settings.KEYDROME_COPY_SECONDS
        if seconds <= 0 or request.method != "GET" or request.COOKIES:
            return view(request, *args, **kwargs)
        key = _key(request)

        def render(visitor: HttpRequest) -> HttpResponse:
            return _render(key, seconds, visitor, lambda: view(visitor, *args, **kwargs))

        new = _copy(key, seconds)
        if new is not None:
            return new
        others = _begin(key)
        old = _copy(key, 2 * seconds)
        if old is not None:
            if others is None:
                _render_later(request, render)
            return old
        if others is None:
            return render(request)
        others.wait(_WAIT_SECONDS)
        return _copy(key, 2 * seconds) or view(request, *args, **kwargs)

    return answer


def _begin(key: str) -> threading.Event | None:
    """Return None and reserve this page for the caller, who must then call _render.

    If another thread renders the page already, return the event that is set when it has finished.
    """
    with _lock:
        others = _rendering.get(key)
        if others is None:
            _rendering[key] = threading.Event()
        return others


def _render(
    key: str, seconds: float, request: HttpRequest, view: Callable[[], HttpResponse]
) -> HttpResponse:
    """Call the view, and keep a copy of its page. If the page is not for all visitors, delete its old copy."""
    try:
        response = view()
        if _is_for_all(request, response):
            caches[CACHE].set(key, (time.time(), response.content), timeout=2 * seconds)
        else:
            caches[CACHE].delete(key)
        return response
    finally:
        with _lock:
            _rendering.pop(key).set()


def _render_later(request: HttpRequest, render: Callable[[HttpRequest], HttpResponse]) -> None:
    """Let the thread of `_renderer` render the page again, while this visitor already receives the old copy.

    This request ends before the thread has rendered the page, so the thread works with a copy of the request. Django
    stores the prefix of the site's addresses in each thread, so this function passes the prefix to the thread.
    """
    visitor = copy(request)
    visitor.META = dict(request.META)
    _renderer.submit(_render_again, visitor, render, get_script_prefix())


def _render_again(
    visitor: HttpRequest, render: Callable[[HttpRequest], HttpResponse], prefix: str
) -> None:
    set_script_prefix(prefix)
    close_old_connections()  # as Django does before and after each request
    try:
        render(visitor)
    except Exception:
        # Visitors receive the old copy until it expires. Then a request renders the page itself, and shows the error.
        logger.exception(
            "cannot render %s again, so visitors get an old copy until it expires: see the following traceback",
            visitor.path,
        )
    finally:
        close_old_connections()


def _key(request: HttpRequest) -> str:
    address = f"{request.scheme}://{request.get_host()}{request.get_full_path()}"
    return sha256(address.encode()).hexdigest()


def _copy(key: str, seconds: float) -> HttpResponse | None:
    """Return the stored page if it was rendered less than `seconds` ago, or else None."""
    found: tuple[float, bytes] | None = caches[CACHE].get(key)
    if found is None:
        return None
    rendered_at, page = found
    is_new = 0 <= time.time() - rendered_at < seconds
    return HttpResponse(page, content_type=_HTML) if is_new else None


def _is_for_all(request: HttpRequest, response: HttpResponse) -> bool:
    """Return True if the page contains nothing that belongs to this visitor.

    Django sets the cookies of forms and sessions after the view, so the response does not have them yet.
    """
    has_form = "CSRF_COOKIE" in request.META
    return (
        response.status_code == _OK
        and response.headers.get("Content-Type") == _HTML
        and not response.has_header("Cache-Control")
        and not (response.streaming or response.cookies or has_form or request.session.modified)
    )
