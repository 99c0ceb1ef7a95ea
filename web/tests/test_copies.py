"""Tests of the copies of public pages: who receives a copy, and for how long (web/copies.py)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.test import Client
from django.urls import clear_script_prefix, get_script_prefix, set_script_prefix
from django.utils import timezone

from leaderboard.models import Announcement
from web import copies
from web.copies import CACHE, copied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_django.fixtures import Settings

    from web.tests.world import World

pytestmark = pytest.mark.django_db
HOME = "/"


@pytest.fixture(autouse=True)
def _five_seconds(settings: Settings) -> None:
    settings.KEYDROME_COPY_SECONDS = 5
    caches[CACHE].clear()


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that stands still until a test moves it."""
    with time_machine.travel("2026-11-29 12:00:00", tick=False) as traveller:
        yield traveller


class _NoThread:
    """Renders pages at once, because another thread has no access to the test's database transaction."""

    def submit(self, work: Callable[..., object], *arguments: object) -> None:
        work(*arguments)


@pytest.fixture
def no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the request itself render the page again, before it receives the old copy."""
    monkeypatch.setattr(copies, "_renderer", _NoThread())
    monkeypatch.setattr(copies, "close_old_connections", lambda: None)  # the test needs its own


def announce(title: str) -> None:
    Announcement.objects.create(title=title, body="text", published_at=timezone.now())


def sees(client: Client, title: str) -> bool:
    return title in client.get(HOME).text


@pytest.mark.usefixtures("no_thread")
def test_strangers_share_a_page_for_five_seconds(clock: time_machine.Traveller) -> None:
    assert not sees(Client(), "Finals")
    announce("Finals")
    clock.shift(4)
    assert not sees(Client(), "Finals")
    clock.shift(2)
    assert not sees(Client(), "Finals")  # the old copy, while the page is rendered again
    assert sees(Client(), "Finals")


def test_no_copy_is_used_after_ten_seconds(clock: time_machine.Traveller) -> None:
    assert not sees(Client(), "Finals")
    announce("Finals")
    clock.shift(11)
    assert sees(Client(), "Finals")


def test_a_user_and_a_visitor_with_any_cookie_receive_no_copies(alice: Client) -> None:
    sees(Client(), "Finals")
    announce("Finals")
    assert sees(alice, "Finals")
    guest = Client()
    guest.cookies["csrftoken"] = "x" * 32
    assert sees(guest, "Finals")
    assert not sees(Client(), "Finals")


def test_the_page_of_a_user_is_never_copied(alice: Client, world: World) -> None:
    assert world.alice.username in alice.get(HOME).text
    assert world.alice.username not in Client().get(HOME).text


def test_another_host_and_another_query_have_other_copies() -> None:
    sees(Client(), "Finals")
    announce("Finals")
    assert sees(Client(headers={"host": "localhost"}), "Finals")
    assert "Finals" in Client().get(HOME, {"page": 1}).text


def any_request() -> HttpRequest:
    """Return a stranger's request. The page does not exist, so the request itself leaves no copy."""
    request: HttpRequest = Client().get("/boards/none/").wsgi_request
    return request


def test_one_request_renders_a_page_and_the_others_receive_a_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(copies, "_WAIT_SECONDS", 60)
    request = any_request()
    began, may_end = threading.Event(), threading.Event()
    rendered: list[int] = []

    @copied
    def slow(_request: HttpRequest) -> HttpResponse:
        rendered.append(len(rendered))
        began.set()
        assert may_end.wait(60)
        return HttpResponse(f"page {rendered[-1]}")

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(slow, request)
        assert began.wait(60)
        second = threads.submit(slow, request)  # there is no copy, so it waits for the first one
        may_end.set()
        assert (first.result().text, second.result().text) == ("page 0", "page 0")


def test_no_visitor_waits_while_a_page_is_rendered_again(clock: time_machine.Traveller) -> None:
    with ThreadPoolExecutor(1) as renderer, pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "_renderer", renderer)
        request = any_request()
        may_end = threading.Event()
        may_end.set()
        rendered: list[HttpRequest] = []

        @copied
        def slow(visitor: HttpRequest) -> HttpResponse:
            rendered.append(visitor)
            assert may_end.wait(60)
            return HttpResponse(f"page {len(rendered)}, prefix {get_script_prefix()}")

        set_script_prefix("/keydrome/")
        try:
            assert slow(request).text == "page 1, prefix /keydrome/"
            clock.shift(6)
            may_end.clear()
            assert slow(request).text == "page 1, prefix /keydrome/"
            assert slow(request).text == "page 1, prefix /keydrome/"
        finally:
            clear_script_prefix()
            may_end.set()
        renderer.submit(str).result(60)  # the thread has rendered the page
        assert slow(request).text == "page 2, prefix /keydrome/"
        assert rendered[0] is request
        assert rendered[1] is not request
        assert rendered[1].META is not request.META


@pytest.mark.usefixtures("no_thread")
def test_a_page_that_is_hidden_or_broken_loses_its_copy(
    clock: time_machine.Traveller, caplog: pytest.LogCaptureFixture
) -> None:
    request = any_request()
    answers: list[HttpResponse | Exception] = []

    @copied
    def changing(_request: HttpRequest) -> HttpResponse:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    answers[:] = [HttpResponse("old"), missing(request), HttpResponse("new")]
    assert changing(request).text == "old"
    clock.shift(6)
    assert changing(request).text == "old"
    assert changing(request).text == "new"
    answers[:] = [ValueError("broken"), ValueError("broken")]
    clock.shift(6)
    assert changing(request).text == "new"
    assert "cannot render /boards/none/ again" in caplog.text
    clock.shift(5)
    with pytest.raises(ValueError, match="broken"):
        changing(request)


def form(request: HttpRequest) -> HttpResponse:
    return HttpResponse(get_token(request))


def session(request: HttpRequest) -> HttpResponse:
    request.session["own"] = True
    return HttpResponse("own")


def own_cookie(_request: HttpRequest) -> HttpResponse:
    response = HttpResponse("own")
    response.set_cookie("own", "1")
    return response


def missing(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("missing", status=404)


def plain_text(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("text", content_type="text/plain")


def private(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("private", headers={"Cache-Control": "private"})


def page(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("page")


@pytest.mark.parametrize(
    ("view", "renders"),
    [
        (form, 2),
        (session, 2),
        (own_cookie, 2),
        (missing, 2),
        (plain_text, 2),
        (private, 2),
        (page, 1),
    ],
)
def test_only_pages_that_are_the_same_for_all_are_copied(
    view: Callable[[HttpRequest], HttpResponse], renders: int
) -> None:
    calls = []

    @copied
    def counted(request: HttpRequest) -> HttpResponse:
        calls.append(request)
        return view(request)

    for _ in range(2):
        counted(any_request())
    assert len(calls) == renders
